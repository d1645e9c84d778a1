// SPDX-License-Identifier: Apache-2.0
// Finds where a change catches an error and continues as if there were none. Only reads sources; runs nothing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/removal/changed_text.hpp"
#include "gates/removal/removed_piece.hpp"

namespace agentforge::kernel {

/// A branch that is only taken on an error, and does nothing with it.
struct DroppedError {
    RemovedLines lines;                        ///< Its first line, in the changed tree.
    std::map<std::string, std::string> files;  ///< Path → text of the file in which this branch ends every test that reaches it.
};

/// Returns the new or changed branches of this kind: `except`, `catch`, `if err != nil`, `Err(_) =>`. Their code has no word for
/// an error: it raises, returns, logs and names none. Branches around a call that only cleans up (`close`, `unlink`) do not
/// count.
[[nodiscard]] std::vector<DroppedError> dropped_errors(const std::vector<ChangedText>& files, const CodeRules& rules);

}  // namespace agentforge::kernel
