// SPDX-License-Identifier: Apache-2.0
// The typed YAML codec. yaml-cpp reads; what it lets pass and we do not, is refused here.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct SourcePosition {
    unsigned line = 0;
    unsigned column = 0;
};  ///< From 1.

struct YamlPlace {
    SourcePosition value;
    SourcePosition key;  ///< Of a map's member; of all else the same as `value`.
};

/// A document and where each of its values stands.
struct YamlDocument {
    json::value value;
    std::string source;                                    ///< File name, for messages.
    std::map<std::string, YamlPlace, std::less<>> places;  ///< By JSON pointer (`/stages/0/name`).
    /// `file:line:column` of the value, or of the nearest one around it; of its key where the pointer ends in `#`
    /// (`/stages/0/nmae#`). Inside an alias and under pointers of more than 1,000 bytes only what is around is known.
    [[nodiscard]] std::string where(std::string_view pointer) const;
};

struct YamlLimits {
    std::size_t max_bytes = 1UL << 20U;
    std::size_t max_nodes = 200'000;  ///< Counted after aliases are expanded; texts may then take 4 × max_bytes.
    std::size_t max_depth = 100;      ///< At most 400.
    bool operator==(const YamlLimits&) const = default;
};

/// Reads one document by these rules: `true`/`false` are the only booleans; `null`, `Null`, `NULL`, `~`
/// and nothing are null; plain numbers in JSON's grammar are numbers; all else (`yes`, `012`, `0x1f`,
/// `1_000`, `2024-01-01`), and whatever is quoted, is a string. A leading byte order mark is skipped;
/// CR and CR LF are line ends; nothing at all is null. A plain key is a string, `yes` and `on` too, but
/// for what any reader takes for a number, a date, `true`, `false` or null: that must be quoted.
/// Errors, all `invalid`, with file, line and column (in characters, from 1):
///   AF-CONF-001 not YAML · 002 a key twice · 003 a merge key · 004 a key that is not a string ·
///   005 a second document · 006 a tag outside the core schema or that does not fit, a number beyond
///   int64 or double · 007 an alias that is unknown or inside its own value · 008 the limits above ·
///   009 invalid UTF-8 or a control character.
[[nodiscard]] Result<YamlDocument> parse_yaml(std::string_view text, std::string_view source, const YamlLimits& limits = {});
[[nodiscard]] Result<YamlDocument> load_yaml(const std::string& path, const YamlLimits& limits = {});

/// Block YAML for people that every reader reads to the same values: every string is quoted or,
/// where it has several printable lines, a literal block. A key that takes more than 1,000 bytes has
/// the explicit form (`? "key"`, then `: value`), because a plain one ends at 1,024. Doubles, invalid
/// UTF-8, NaN as in to_json_line. Ends in a newline.
[[nodiscard]] std::string to_yaml(const json::value& value);

}  // namespace agentforge::kernel
