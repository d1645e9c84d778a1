// SPDX-License-Identifier: Apache-2.0
// Matches paths against gitignore-style patterns. The only glob engine of the kernel: path rules (tools/path_rules.hpp) and the
// globs of languages (gates/language/globs.hpp) add only their own rules about negation and folders.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// One pattern. Its grammar:
///
///     pattern    = ["./"]... ["/"] component {"/" component} ["/"]
///     component  = "**" | {item}
///     item       = "*"                    any number of bytes, also none
///                | "?"                    one byte
///                | "[" ["!" | "^"] {member} "]"   one byte that is a member, or with `!` or `^` none
///                | "\" byte               that byte, literally
///                | byte                   that byte
///     member     = byte | byte "-" byte | "[:" name ":]"    `]` may come first; `\` takes the next byte literally
///     name       = alpha | digit | alnum | upper | lower | space | xdigit | punct    (ASCII; any other name is an empty class)
///
/// - `*`, `?` and `[…]` do not cross `/`. `**` as a whole component stands for any number of folders, also none; at the end for
///   one component or more. Inside a component (`a**b`) it is `*`.
/// - A pattern with a `/` before its end is anchored at the root; a leading `/` does nothing else. Any other pattern matches at
///   any depth.
/// - A `/` at the end means that the pattern names folders (`names_folder`). What follows from that is up to the caller.
/// - A doubled `/` counts as one, in patterns and in paths. `./` alone is the whole tree.
/// - Matching is case-sensitive, byte by byte, in every locale. A leading `.` is an ordinary character. Braces are, too.
/// - A pattern that is malformed (an open `[`, a `\` at the end) or empty matches nothing; it is never read as plain text.
///
/// Cost: at most |pattern| · |path| steps. A mismatch returns only to the last `*` of a component and to the last `**` of a
/// pattern, which is enough: an earlier one could only match more of the text, and leave less to the rest.
///
/// Immutable; any thread may use it.
class Glob {
public:
    explicit Glob(std::string_view pattern);
    /// True if the pattern matches the whole path. Ignores the `/` at the pattern's end.
    [[nodiscard]] bool matches(std::string_view path) const;
    /// As above, for the first `count` components of a path. With 0 components nothing matches.
    [[nodiscard]] bool matches(const std::vector<std::string_view>& components, std::size_t count) const;
    /// True if the pattern ends in `/`.
    [[nodiscard]] bool names_folder() const noexcept { return names_folder_; }
    /// True if the last component has `*`, `?` or `[`, even an escaped one.
    [[nodiscard]] bool ends_in_wildcard() const noexcept;

private:
    std::vector<std::string> components_;  ///< Of a pattern that is not anchored, the first is `**`. Empty: nothing matches.
    bool names_folder_ = false;
};

/// The names in a path, without empty ones. They point into `path`.
[[nodiscard]] std::vector<std::string_view> path_components(std::string_view path);

/// Returns the position after the `]` of the bracket expression that begins at `pattern[at]`; npos if it is not closed.
[[nodiscard]] std::size_t bracket_end(std::string_view pattern, std::size_t at) noexcept;

}  // namespace agentforge::kernel
