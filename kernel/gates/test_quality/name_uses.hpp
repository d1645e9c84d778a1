// SPDX-License-Identifier: Apache-2.0
// Whether a text still needs a name that it no longer defines or imports. Plain functions over texts.
#pragma once

#include <string>
#include <vector>

namespace agentforge::kernel {

/// A text by its lines, all vectors of one length.
struct NamedCode {
    const std::vector<std::string>& code;      ///< Without comments and docstrings.
    const std::vector<std::string>& blanked;   ///< Also without texts; its columns are those of the text.
    const std::vector<bool>& imports;          ///< Lines of imports, which are not read.
    const std::vector<bool>* among = nullptr;  ///< Reads these lines only. Null: all.
    bool is_indented = false;                  ///< Blocks by indentation (Python).
    bool is_go = false;
    bool is_c = false;  ///< C or C++: a parameter may have no name.
};

/// What the name stood for.
struct FormerName {
    std::string name;
    bool is_member = false;   ///< Of a type: `self.name` may mean it.
    bool is_fixture = false;  ///< A parameter of a test may mean it.
    bool in_texts = false;    ///< A text with this word may mean it (`getattr(module, "name")`).
};

/// True if some place may mean this name. These do not, for a function, constant or type of the file:
///   - a member of something else (`parsed.name`);
///   - the name of an argument (`f(name=1)`), or a key of an object in JavaScript (`{ name: 1 }`);
///   - a parameter, or a variable that the same function declared before.
/// A declaration outside functions may mean it: a new definition takes the old one's place.
[[nodiscard]] bool may_mean(const NamedCode& text, const FormerName& former);

}  // namespace agentforge::kernel
