// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/changed_text.hpp"

#include <algorithm>

#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {

bool adds_no_code(const std::vector<ChangedText>& files, const CodeRules& rules) {
    return std::ranges::all_of(files, [&](const ChangedText& file) {
        if (file.now.empty()) { return true; }
        if (file.before.empty()) { return false; }
        return file.is_source
                   ? adds_no_words(without_idle_lines(without_comments(file.now, rules)), without_comments(file.before, rules))
                   : adds_no_words(file.now, file.before);
    });
}

}  // namespace agentforge::kernel
