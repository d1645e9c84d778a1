// SPDX-License-Identifier: Apache-2.0
#include "task/task_paths.hpp"

namespace agentforge::kernel {

std::string safe_file_name(std::string_view name) {
    std::string safe;
    for (const char c : name) {
        const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                          (c == '.' && !safe.empty());
        safe += word ? c : '_';
    }
    return safe.empty() ? "_" : safe;
}

std::filesystem::path TaskPaths::artifact(std::string_view stage, std::string_view name) const {
    return artifacts() / "phases" / safe_file_name(stage) / (safe_file_name(name) + ".yaml");
}

}  // namespace agentforge::kernel
