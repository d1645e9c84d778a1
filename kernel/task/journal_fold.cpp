// SPDX-License-Identifier: Apache-2.0
#include "task/journal_fold.hpp"

#include <deque>
#include <memory>
#include <utility>

#include "base/json_fields.hpp"
#include "task/bytes_io.hpp"

namespace agentforge::kernel {

std::filesystem::path fold_snapshot_file(const std::filesystem::path& journal) { return journal.parent_path() / ".fold"; }

JournalFold::JournalFold(std::filesystem::path journal)
    : journal_(std::move(journal)),
      projected_(TaskPaths{journal_.parent_path()}),
      snapshot_(SnapshotFile::read(fold_snapshot_file(journal_))) {
    if (!snapshot_) { return; }
    BytesIn in(snapshot_->bytes);
    std::deque<std::string> items;
    const bool whole = in.read(at_snapshot_) && in.read(items) && in.at_end() && at_snapshot_.seq == snapshot_->mark.head.seq;
    if (!whole) { snapshot_.reset(); }
    memory_at_snapshot_ = WorkingMemory(std::move(items));
}

JournalVisitor JournalFold::visitor(std::function<Result<void>(const json::object& fields)> check) {
    JournalVisitor visitor;
    const auto named =
        std::make_shared<bool>(false);  // A fork's first record names the task that it continues. Its header names the fork.
    visitor.header = [this, named, check](const json::object& header) -> Result<void> {
        *named = header.contains("task_id");
        owner_ = text_of(header, "task_id");
        return check ? check(header) : Result<void>();
    };
    visitor.after = snapshot_ ? &snapshot_->mark : nullptr;
    visitor.skipped = [this, named, check]() -> Result<void> {
        state = std::move(at_snapshot_);
        memory = std::move(memory_at_snapshot_);
        snapshot_at_ = state.seq;
        return check && !*named ? check(json::object{{"task_id", state.task_id}}) : Result<void>();
    };
    visitor.record = [this, named, check](const Record& record) -> Result<void> {
        if (check && record.seq == 1 && !*named) { AF_CHECK(check(record.body)); }
        AF_TRY(records::AnyRecord typed, fold_and_read(state, record.body));
        memory.add(std::move(typed));
        return {};
    };
    visitor.end = [this](const JournalHead& end) { return projected_.check(end, owner_); };
    return visitor;
}

Result<void> JournalFold::read() {
    JournalMark end;
    AF_CHECK(Journal::read(journal_, visitor(), &end));
    keep(end);
    return {};
}

void JournalFold::keep(const JournalMark& mark) {
    if (state.seq != mark.head.seq || state.seq < snapshot_at_ + records_between_snapshots) { return; }
    keep_fold(journal_, mark, state, memory);
    snapshot_at_ = state.seq;
}

void keep_fold(const std::filesystem::path& journal, const JournalMark& mark, const TaskState& state,
               const WorkingMemory& memory) {
    BytesOut out;
    out.add(state);
    out.add(memory.items());
    SnapshotFile{mark, out.release()}.write(fold_snapshot_file(journal));
}

}  // namespace agentforge::kernel
