// SPDX-License-Identifier: Apache-2.0
// What the kernel measured about a change whose request asks to remove something.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gates/removal/removed_piece.hpp"

namespace agentforge::kernel {

/// See above. The defaults are those of a change without a fault.
struct RemovalEvidence {
    bool asked_to_remove = true;          ///< Otherwise only `unnoticed`, `dropped_errors` and `tried` are measured.
    bool only_removes = false;            ///< It adds nothing to the code, and the request asks for nothing new.
    bool changes_no_code = false;         ///< Only tests, documentation and comments changed, and the request is about code.
    std::string made_nothing;             ///< What the request asks to make as well, if the change adds nothing of it.
    std::string left_out;                 ///< The function of function_left_out.
    bool removed_nothing = false;         ///< The request also asks to make something, and the change only does that.
    bool shows_what_was_asked = true;     ///< Something that has to do with the request, or that a test notices, was removed.
    std::vector<RemovedLines> unnoticed;  ///< Lines that nothing accounts for, and that no test notices when they are put back.
    /// Lines that still use the name of what the request asks to remove. No test fails if another name stands there. `now`: the
    /// name.
    std::vector<RemovedLines> left_behind;
    std::vector<RemovedLines> dropped_errors;  ///< Branches that do nothing with an error, and that no test reaches.
    bool removed_by_name = false;              ///< RemovalReview::removed_by_name
    std::int64_t tried = 0;                    ///< How often lines were put back.
};

}  // namespace agentforge::kernel
