// SPDX-License-Identifier: Apache-2.0
// The typed YAML codec. yaml-cpp parses; this refuses what yaml-cpp accepts and we do not.
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
    SourcePosition key;  ///< Position of the key for a member of a map. Otherwise the same as `value`.
};

/// A document and the position of each of its values.
struct YamlDocument {
    json::value value;
    std::string source;                                    ///< File name, for messages.
    std::map<std::string, YamlPlace, std::less<>> places;  ///< By JSON pointer (`/stages/0/name`).
    /// Returns `file:line:column` of the value, or of the nearest value around it. If the pointer ends in `#`
    /// (`/stages/0/nmae#`), returns the position of its key. Inside an alias and for pointers of more than 1,000 bytes only the
    /// position of a surrounding value is known.
    [[nodiscard]] std::string where(std::string_view pointer) const;
};

struct YamlLimits {
    std::size_t max_bytes = 1UL << 20U;
    std::size_t max_nodes = 200'000;  ///< Counted after aliases are expanded. Texts may then take 4 × max_bytes.
    std::size_t max_depth = 100;      ///< At most 400.
    bool operator==(const YamlLimits&) const = default;
};

/// Parses one document by these rules: `true`/`false` are the only booleans; `null`, `Null`, `NULL`, `~` and empty text are null;
/// plain numbers in JSON's grammar are numbers. Everything else (`yes`, `012`, `0x1f`, `1_000`, `2024-01-01`) and everything
/// quoted is a string. Skips a leading byte order mark. CR and CR LF are line ends. An empty document is null. A plain key is a
/// string, even `yes` and `on`. Keys that some reader takes for a number, a date, `true`, `false` or null must be quoted.
/// Errors, all `invalid`, with file, line and column (in characters, from 1):
///   AF-CONF-001 not YAML · 002 duplicate key · 003 a merge key · 004 a key that is not a string ·
///   005 a second document · 006 a tag outside the core schema or one that does not fit, a number beyond
///   int64 or double · 007 an alias that is unknown or inside its own value · 008 the limits above ·
///   009 invalid UTF-8 or a control character.
[[nodiscard]] Result<YamlDocument> parse_yaml(std::string_view text, std::string_view source, const YamlLimits& limits = {});
[[nodiscard]] Result<YamlDocument> load_yaml(const std::string& path, const YamlLimits& limits = {});

/// Writes block YAML for people, which every reader reads as the same values. Every string is quoted or, if it has several
/// printable lines, a literal block. A key longer than 1,000 bytes has the explicit form (`? "key"`, then `: value`), because a
/// plain one ends at 1,024. Doubles, invalid UTF-8 and NaN as in to_json_line. Ends in a newline.
[[nodiscard]] std::string to_yaml(const json::value& value);

}  // namespace agentforge::kernel
