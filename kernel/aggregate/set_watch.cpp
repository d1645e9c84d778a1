// SPDX-License-Identifier: Apache-2.0
#include "aggregate/set_watch.hpp"

#include <utility>

#include "task/task_set.hpp"

namespace agentforge::kernel {

std::vector<TaskChange> SetWatch::refresh() {
    std::vector<TaskChange> changes;
    std::error_code error;
    const auto changed = [&](const std::string& id, std::string_view state) {
        if (began_) { changes.push_back({.task_id = id, .type = "set", .state = std::string(state)}); }
    };
    std::map<std::string, std::filesystem::file_time_type> before = std::exchange(seen_, {});
    for (const std::filesystem::directory_entry& each : std::filesystem::directory_iterator(folder_, error)) {
        const std::filesystem::path file = set_file(each.path());
        std::error_code none;
        const auto written = std::filesystem::last_write_time(file, none);
        const std::string id = each.path().filename().string();
        if (none) { continue; }
        seen_[id] = written;
        const auto known = before.extract(id);
        if (!began_ || (!known.empty() && known.mapped() == written)) { continue; }
        const auto set = load_set(file);
        changed(id, set.ok() ? to_string(set->phase) : "unknown");
    }
    for (const auto& [id, unused] : before) { changed(id, "removed"); }
    began_ = true;
    return changes;
}

}  // namespace agentforge::kernel
