// SPDX-License-Identifier: Apache-2.0
// Which paths a role may write: gitignore-style globs (North Star 12.8).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "tools/acting_files.hpp"

namespace agentforge::kernel {

/// What the symbols of a rule mean in one repository: `@tests` and `@sources` as its languages say
/// (kernel/gates/engine/scopes.hpp), `@created` in one task. A file may hold tests beside other code (Rust): then `@tests` allows
/// it and `!@tests` does not forbid it, and the gates hold its parts against each other.
struct PathSymbols {
    struct Symbol {
        std::function<bool(std::string_view)> allowed;    ///< What `@name` allows.
        std::function<bool(std::string_view)> forbidden;  ///< What `!@name` forbids.
        std::string meaning;                              ///< For messages: the globs as the language has them.
    };
    Symbol tests;
    Symbol sources;
    Symbol created;      ///< What the task's base has not: files that this task created, and those it may create.
    ActingLinks acting;  ///< What acts later through the links of the task's base.
};

/// One rule: comma-separated globs and symbols (`@tests`, `@sources`, `@created`; `\@tests` is a file of that name). A path is
/// allowed when it matches a positive glob (or there is none) and no `!` glob; their order does not matter. `*`, `?` and `[…]` do
/// not cross `/`, `**` as a whole component does; a glob without `/` matches at any depth; `tests/**/*` matches `tests/a.py` too;
/// a leading `/` anchors; a trailing
/// `/` means a folder. Case counts; one byte is one character, as in git. Spaces around a comma do not count; `\`
/// takes the next character as it is.
///
/// A glob that matches a folder covers what is in it, as in gitignore; with one exception for the sake of safety: a positive
/// glob whose last component has a wildcard (`*.md`) allows no file inside a folder of such a name (`x.md/run.py`).
class PathRule {
public:
    /// Without `symbols` a symbol allows nothing, and forbids everything.
    /// Errors: `invalid` AF-TOOL-020 for a malformed glob (empty, open `[`, `\` at the end, `{a,b}`, control characters) and for
    /// a symbol that there is not.
    [[nodiscard]] static Result<PathRule> parse(std::string_view text, std::shared_ptr<const PathSymbols> symbols = nullptr);
    [[nodiscard]] bool allows(std::string_view path) const;
    [[nodiscard]] bool matches_any(std::string_view path) const;  ///< A positive glob matches; ignores `!`.
    /// Whether it binds only the tool that it is written for: a rule `@created` says what that tool may be used on, not where the
    /// role may write.
    [[nodiscard]] bool binds_one_tool() const noexcept {
        return globs_.size() == 1 && globs_.front().symbol && globs_.front().pattern == "@created";
    }
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// The rule as written, and what its symbols mean: `!@tests (@tests: *_test.go)`.
    [[nodiscard]] std::string explained() const;

private:
    struct Glob {
        std::string pattern;
        bool negated = false;
        bool symbol = false;
    };
    [[nodiscard]] const PathSymbols::Symbol* meaning_of(const Glob& glob) const;
    [[nodiscard]] bool allowed_by(const Glob& glob, std::string_view path, const std::vector<std::string_view>& parts) const;
    std::string text_;
    std::vector<Glob> globs_;
    std::shared_ptr<const PathSymbols> symbols_;
};

/// Whether `path` matches one gitignore-style glob, itself or by one of the folders it is in (what `git check-ignore`
/// says of a tracked path). A malformed glob matches nothing. Cost: at most |pattern| · |path| steps.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view path);

/// Normalises a path that a model wrote: no `.` components, no doubled or trailing `/`; the workspace itself is `.`.
/// Nothing is expanded: `$VAR` and glob characters are ordinary names. Errors: `denied` AF-TOOL-010 leaves the workspace
/// (absolute, `..`, `~`); `denied` AF-TOOL-011 protected (`.git`, `.agentforge`, any case, any depth, and the spellings that
/// other file systems take for them); `invalid` AF-TOOL-012 empty, NUL, control character, invalid UTF-8, longer than
/// 4096 bytes (a component: 255), backslash.
[[nodiscard]] Result<std::string> normalize_path(std::string_view path);
/// A name as the least particular file systems take it: in lower case, without characters that nobody sees, without what they cut
/// off its end.
[[nodiscard]] std::string plain_component(std::string_view component);
/// Whether a file or folder of this name is closed to every role.
[[nodiscard]] bool is_protected_name(std::string_view component);

/// All rules of a role together: every one must allow, whichever tool it was written for (but for `binds_one_tool`). Errors of
/// `check_write`: `denied` AF-TOOL-013 naming role, path and rule; `denied` AF-TOOL-015 for a locked file, AF-TOOL-016 for one
/// that acts later (acting_files.hpp).
class RolePaths {
public:
    /// `locked_files`: paths as `normalize_path` gives them. `specified`: the files that act later and that the task is about.
    /// Errors: AF-TOOL-020 naming the role and the tool.
    [[nodiscard]] static Result<RolePaths> make(std::string role,
                                                const std::map<std::string, std::string, std::less<>>& constraints,
                                                const std::vector<std::string>& locked_files = {},
                                                std::shared_ptr<const PathSymbols> symbols = nullptr,
                                                std::vector<std::string> specified = {});
    [[nodiscard]] Result<void> check_write(std::string_view normalized_path) const;
    /// Whether the path is none of the task's base; false where nobody said.
    [[nodiscard]] bool created(std::string_view normalized_path) const;
    [[nodiscard]] bool unrestricted() const noexcept { return rules_.empty() && locked_.empty(); }
    [[nodiscard]] const std::string& role() const noexcept { return role_; }
    [[nodiscard]] const std::shared_ptr<const PathSymbols>& symbols() const noexcept { return symbols_; }

private:
    std::string role_;
    std::vector<PathRule> rules_;
    std::shared_ptr<const PathSymbols> symbols_;
    std::vector<std::string> locked_;     ///< Exact paths nobody may write: the tests, from RED to the commit.
    std::vector<std::string> specified_;  ///< Exact paths that may be written although they act later.
};

/// AF-TOOL-013 in the words of North Star 12.8.
[[nodiscard]] Error path_not_allowed(std::string_view path, std::string_view role, std::string_view constraint);

}  // namespace agentforge::kernel
