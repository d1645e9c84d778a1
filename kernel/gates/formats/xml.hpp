// SPDX-License-Identifier: Apache-2.0
// XML reports as a small tree. No DTD, no entities but XML's own five, no files or addresses opened.
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
    std::string text;  ///< Of this element itself, CDATA included, without that of its children.
    std::vector<XmlElement> children;

    [[nodiscard]] std::string attribute(std::string_view key) const;    ///< Empty where it has none.
    [[nodiscard]] const XmlElement* child(std::string_view key) const;  ///< The first of that name.
};

/// The root element. Bytes that no XML may have (control characters, invalid UTF-8) are replaced first: test output has them.
/// Errors: AF-GATE-041 not well-formed, cut off, a DTD, nested deeper than 100, more than 1,000,000 elements.
[[nodiscard]] Result<XmlElement> parse_xml(std::string_view text);

}  // namespace agentforge::kernel
