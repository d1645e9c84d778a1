// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/measured_files.hpp"

#include <algorithm>

namespace agentforge::kernel {

Result<std::vector<TreeChange>> measured_files(TreeCheckout& checkout, const GateCall& call) {
    std::vector<TreeChange> changes;
    if (call.baseline != nullptr && !call.baseline->base_tree.empty()) {
        AF_TRY(changes, checkout.changes(call.baseline->base_tree, call.tree));
    } else {
        AF_TRY(const auto files, checkout.files(call.tree));
        for (const auto& file : files) { changes.push_back({file, "", 'A', 0, 0}); }
    }
    std::erase_if(changes, [&](const TreeChange& change) {
        if (change.status == 'D') { return true; }
        if (call.request.paths.empty()) { return false; }
        return std::none_of(call.request.paths.begin(), call.request.paths.end(), [&](const std::string& path) {
            const auto folder = path.empty() || path.back() == '/' ? path : path + "/";
            return path == "." || change.path == path || change.path.compare(0, folder.size(), folder) == 0;
        });
    });
    return changes;
}

}  // namespace agentforge::kernel
