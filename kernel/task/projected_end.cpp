// SPDX-License-Identifier: Apache-2.0
#include "task/projected_end.hpp"

#include <utility>

#include "task/projected_state.hpp"

namespace agentforge::kernel {

ProjectedEnd::ProjectedEnd(const TaskPaths& place) : place_(place) {
    auto projected = read_summary(place.state());
    if (!projected.ok() || projected->summary.task_id != place.root.filename()) { return; }
    seq_ = projected->seq;
    hash_ = std::move(projected->hash);
}

Result<void> ProjectedEnd::check(const JournalHead& end, std::string_view owner) const {
    if (end.seq == 0 || seq_ <= end.seq || hash_ == end.hash) { return {}; }
    if (!owner.empty() && owner != place_.root.filename().string()) { return {}; }
    return Error{"AF-TASK-019",
                 "The end of the journal is missing: `state.yaml` was written after record " + std::to_string(seq_) +
                     ", but the journal ends with record " + std::to_string(end.seq),
                 place_.journal().string(),
                 "Restore the journal from a backup. To continue from its last record instead, remove `state.yaml`.",
                 ErrorKind::corrupt};
}

}  // namespace agentforge::kernel
