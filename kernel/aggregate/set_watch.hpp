// SPDX-License-Identifier: Apache-2.0
// Detects changes of sets of tasks (docs/repositories.md).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "aggregate/aggregator.hpp"

namespace agentforge::kernel {

/// Detects changes of sets' files. One thread.
class SetWatch {
public:
    explicit SetWatch(std::filesystem::path folder) : folder_(std::move(folder)) {}

    /// Returns a change of type `set` for each file that is new, was written or was removed since the last call. Its task_id is
    /// the set's id, its state the phase or `removed`. The first call returns none. Cost: one stat for each set.
    [[nodiscard]] std::vector<TaskChange> refresh();

private:
    std::filesystem::path folder_;
    std::map<std::string, std::filesystem::file_time_type> seen_;
    bool began_ = false;
};

}  // namespace agentforge::kernel
