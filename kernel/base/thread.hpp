// SPDX-License-Identifier: Apache-2.0
// Starts threads, even on a machine that may have none left.
#pragma once

#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace agentforge::kernel {

/// Starts a thread that runs `work`. Returns nothing if the machine has no process or memory left for one. `work` is copied, so
/// the caller can still run it itself.
template <class Work>
[[nodiscard]] std::optional<std::thread> try_thread(const Work& work) {
    try {
        return std::thread(work);
    } catch (const std::system_error&) { return std::nullopt; }
}

}  // namespace agentforge::kernel
