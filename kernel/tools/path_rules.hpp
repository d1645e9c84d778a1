// SPDX-License-Identifier: Apache-2.0
// Which paths a role may write: gitignore-style globs (North Star 12.8).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// One rule: comma-separated globs. A path is allowed when it matches a positive glob (or there is none)
/// and no `!` glob. `*` and `?` do not cross `/`, `**` does; a glob without `/` matches at any depth;
/// `tests/**/*` matches `tests/a.py` too. Case counts.
class PathRule {
public:
    /// Errors: `invalid` AF-TOOL-020 for a malformed glob.
    [[nodiscard]] static Result<PathRule> parse(std::string_view text);
    [[nodiscard]] bool allows(std::string_view path) const;
    [[nodiscard]] bool matches_any(std::string_view path) const;    ///< Ignores `!`; for `glob` parameters.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }

private:
    struct Glob { std::string pattern; bool negated = false; bool anchored = false; };
    std::string text_;
    std::vector<Glob> globs_;
};

/// Whether `path` matches one gitignore-style glob.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view path);

/// Normalises a path that a model wrote. Errors: `denied` AF-TOOL-010 leaves the workspace (absolute, `..`);
/// `denied` AF-TOOL-011 protected (`.git`, `.agentforge`, any case, any depth); `invalid` AF-TOOL-012 empty, NUL,
/// control character, invalid UTF-8, longer than 4096 bytes, backslash.
[[nodiscard]] Result<std::string> normalize_path(std::string_view path);

/// All rules of a role together: every one must allow. Errors of `check_write`: `denied` AF-TOOL-013 naming role, path and rule.
class RolePaths {
public:
    [[nodiscard]] static Result<RolePaths> make(std::string role, const std::map<std::string, std::string, std::less<>>& constraints,
                                                const std::vector<std::string>& locked_files = {});
    [[nodiscard]] Result<void> check_write(std::string_view normalized_path) const;
    [[nodiscard]] bool unrestricted() const noexcept { return rules_.empty() && locked_.empty(); }

private:
    std::string role_;
    std::vector<PathRule> rules_;
    std::vector<std::string> locked_;       ///< Exact paths nobody may write: the tests, from RED to the commit.
};

}  // namespace agentforge::kernel
