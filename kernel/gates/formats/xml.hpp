// SPDX-License-Identifier: Apache-2.0
// Parses XML reports into a small tree. Accepts no DTD and no entities except XML's own five; opens no files or addresses.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct XmlElement {
    std::string name;
    std::map<std::string, std::string, std::less<>> attributes;
    std::string text;  ///< Text of this element itself, including CDATA, without that of its children.
    std::vector<XmlElement> children;

    [[nodiscard]] std::string attribute(std::string_view key) const;    ///< Empty if it has none.
    [[nodiscard]] const XmlElement* child(std::string_view key) const;  ///< The first child of that name.
};

/// Returns the root element. Replaces bytes that XML forbids (control characters, invalid UTF-8) first, because test output
/// contains them. Errors: AF-GATE-041 not well-formed, truncated, a DTD, nested deeper than 100, more than 1,000,000 elements.
[[nodiscard]] Result<XmlElement> parse_xml(std::string_view text);

}  // namespace agentforge::kernel
