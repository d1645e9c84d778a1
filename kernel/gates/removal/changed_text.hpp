// SPDX-License-Identifier: Apache-2.0
// A file that a change touches, by its texts.
#pragma once

#include <string>
#include <vector>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// A file that a change touches. Tests within the file are emptied in `before` and `now`, with their lines kept.
struct ChangedText {
    std::string path;
    std::string before;  ///< Empty: the file is new.
    std::string now;     ///< Empty: the file is gone.
    std::string whole;   ///< `now` with its tests.
    bool is_source = true;
};

/// True if the change adds no name, number or mark to the code of these files. Comments do not count.
[[nodiscard]] bool adds_no_code(const std::vector<ChangedText>& files, const CodeRules& rules);

}  // namespace agentforge::kernel
