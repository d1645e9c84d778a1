// SPDX-License-Identifier: Apache-2.0
#include "base/requirement_text.hpp"

#include <re2/re2.h>

namespace agentforge::kernel {

bool says_that_something_stays(std::string_view description) {
    static const RE2 staying(
        R"((?i)\b(?:stays?|remains?|unchanged|still|keeps?|kept|continues?|as before|the same|(?:does|do|must|may) not change)\b)");
    return RE2::PartialMatch(re2::StringPiece(description.data(), description.size()), staying);
}

}  // namespace agentforge::kernel
