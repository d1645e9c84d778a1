// SPDX-License-Identifier: Apache-2.0
// The paths that a role may write, as gitignore-style globs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "base/glob.hpp"
#include "tools/acting_links.hpp"

namespace agentforge::kernel {

/// The meaning of a rule's symbols in one repository: `@tests` and `@sources` by its languages (kernel/gates/engine/scopes.hpp),
/// `@created` in one task. A file may contain tests beside other code (Rust). Then `@tests` allows it, `!@tests` does not forbid
/// it, and the gates compare its parts.
struct PathSymbols {
    struct Symbol {
        std::function<bool(std::string_view)> allowed;    ///< What `@name` allows.
        std::function<bool(std::string_view)> forbidden;  ///< What `!@name` forbids.
        std::string meaning;                              ///< For messages: the language's globs.
    };
    Symbol tests;
    Symbol sources;
    Symbol created;      ///< Files that are not in the task's base: those that the task created or may create.
    ActingLinks acting;  ///< Files that act later through the links of the task's base.
};

/// One rule: comma-separated globs and symbols (`@tests`, `@sources`, `@created`; `\@tests` is a file of that name). A path is
/// allowed if it matches a positive glob (or there is none) and no `!` glob; the order does not matter. base/glob.hpp says what a
/// glob matches. Spaces around a comma are ignored; an escaped comma, or one inside `[…]`, belongs to its glob.
///
/// A glob that matches a folder covers its contents, as in gitignore. One exception, for safety: a positive glob whose last
/// component has a wildcard (`*.md`) allows no file inside a folder of such a name (`x.md/run.py`).
class PathRule {
public:
    /// Without `symbols`, a symbol allows nothing and forbids everything. Errors: `invalid` AF-TOOL-020 for a malformed glob
    /// (empty, open `[`, `\` at the end, `{a,b}`, `!!`, quotation marks, control characters) and for an unknown symbol.
    [[nodiscard]] static Result<PathRule> parse(std::string_view text, std::shared_ptr<const PathSymbols> symbols = nullptr);
    [[nodiscard]] bool allows(std::string_view path) const;
    [[nodiscard]] bool matches_any(std::string_view path) const;  ///< True if a positive glob matches. Ignores `!`.
    /// True if the rule applies only to its own tool: `@created` limits the files that this tool may be used on, not where the
    /// role may write.
    [[nodiscard]] bool binds_one_tool() const noexcept {
        return entries_.size() == 1 && entries_.front().symbol && entries_.front().pattern == "@created";
    }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Returns the rule as written, with the meaning of its symbols: `!@tests (@tests: *_test.go)`.
    [[nodiscard]] std::string explained() const;

private:
    struct Entry {
        std::string pattern;
        Glob glob{""};  ///< Of a pattern that is no symbol.
        bool negated = false;
        bool symbol = false;
    };
    [[nodiscard]] const PathSymbols::Symbol* meaning_of(const Entry& entry) const;
    [[nodiscard]] bool allowed_by(const Entry& entry, std::string_view path, const std::vector<std::string_view>& parts) const;
    std::string text_;
    std::vector<Entry> entries_;
    std::shared_ptr<const PathSymbols> symbols_;
};

/// True if `path`, or a folder that contains it, matches one gitignore-style glob (as `git check-ignore` decides for a tracked
/// path). A malformed glob matches nothing. Cost: at most |pattern| · |path| steps for each of these.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view path);

/// Normalises a path from a model: removes `.` components and doubled or trailing `/`; the workspace itself is `.`. Expands
/// nothing: `$VAR` and glob characters are ordinary names. Errors: `denied` AF-TOOL-010 leaves the workspace (absolute, `..`,
/// `~`); `denied` AF-TOOL-011 protected (`.git`, `.agentforge`, any case, any depth, and the spellings that other file systems
/// read as these); `invalid` AF-TOOL-012 empty, NUL, control character, invalid UTF-8, longer than 4096 bytes (a component: 255),
/// backslash.
[[nodiscard]] Result<std::string> normalize_path(std::string_view path);
/// Returns a name as the most lenient file systems read it: in lower case, without invisible characters, and without the ending
/// that they cut off.
[[nodiscard]] std::string plain_component(std::string_view component);
/// True if a file or folder of this name is closed to every role.
[[nodiscard]] bool is_protected_name(std::string_view component);

/// All rules of a role: every rule must allow a path, whichever tool it was written for (except `binds_one_tool`). Errors of
/// `check_write`: `denied` AF-TOOL-013 naming role, path and rule; `denied` AF-TOOL-015 for a locked file, AF-TOOL-016 for one
/// that acts later (acting_files.hpp).
class RolePaths {
public:
    /// `locked_files`: paths as from `normalize_path`. `specified`: files that act later but that the task may write, because its
    /// specification names them. Errors: AF-TOOL-020 naming the role and the tool.
    [[nodiscard]] static Result<RolePaths> make(std::string role,
                                                const std::map<std::string, std::string, std::less<>>& constraints,
                                                const std::vector<std::string>& locked_files = {},
                                                std::shared_ptr<const PathSymbols> symbols = nullptr,
                                                std::vector<std::string> specified = {});
    [[nodiscard]] Result<void> check_write(std::string_view normalized_path) const;
    /// True if the path is not in the task's base. False if the base is unknown.
    [[nodiscard]] bool created(std::string_view normalized_path) const;
    [[nodiscard]] bool unrestricted() const noexcept { return rules_.empty() && locked_.empty(); }
    [[nodiscard]] const std::string& role() const noexcept { return role_; }
    [[nodiscard]] const std::shared_ptr<const PathSymbols>& symbols() const noexcept { return symbols_; }

private:
    std::string role_;
    std::vector<PathRule> rules_;
    std::shared_ptr<const PathSymbols> symbols_;
    std::vector<std::string> locked_;     ///< Exact paths that may not be written: the tests, from RED to the commit.
    std::vector<std::string> specified_;  ///< Exact paths that may be written although they act later.
};

/// Returns AF-TOOL-013.
[[nodiscard]] Error path_not_allowed(std::string_view path, std::string_view role, std::string_view constraint);

}  // namespace agentforge::kernel
