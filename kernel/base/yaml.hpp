// SPDX-License-Identifier: Apache-2.0
// The typed YAML codec. yaml-cpp reads; what it lets pass and we do not, is refused here.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct SourcePosition { unsigned line = 0; unsigned column = 0; };    ///< From 1.

/// A document and where each of its values stands.
struct YamlDocument {
    json::value value;
    std::string source;                                 ///< File name, for messages.
    std::map<std::string, SourcePosition, std::less<>> positions;   ///< By JSON pointer (`/stages/0/name`).
    /// `file:line:column` of the value, or of the nearest one around it.
    [[nodiscard]] std::string where(std::string_view pointer) const;
};

struct YamlLimits {
    std::size_t max_bytes = 1UL << 20U;
    std::size_t max_nodes = 200'000;        ///< Counted after aliases are expanded.
    std::size_t max_depth = 100;
};

/// Reads one document by these rules: `true`/`false` are the only booleans; `null`, `~` and nothing
/// are null; plain decimal integers and floats are numbers; all else, and whatever is quoted, is a
/// string. Refused, with line and column: duplicate keys, merge keys, keys that are not strings, a
/// second document, a tag that is not of the core schema, a cycle, the limits above, invalid UTF-8.
/// Errors: `invalid` AF-CONF-001…009.
[[nodiscard]] Result<YamlDocument> parse_yaml(std::string_view text, std::string_view source, const YamlLimits& limits = {});
[[nodiscard]] Result<YamlDocument> load_yaml(const std::string& path, const YamlLimits& limits = {});

/// Block YAML for people that every reader reads to the same values: every string is quoted or,
/// where it has several printable lines, a literal block. Ends in a newline.
[[nodiscard]] std::string to_yaml(const json::value& value);

}  // namespace agentforge::kernel
