// SPDX-License-Identifier: Apache-2.0
#include "aggregate/followed_task.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>

#include "aggregate/figures.hpp"
#include "base/clock.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "records/records.hpp"
#include "task/bytes_io.hpp"
#include "task/projected_end.hpp"
#include "task/snapshot_file.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t records_apart = 64;
constexpr std::size_t most_decisions = 100;
constexpr std::size_t most_usage_points = 256;
constexpr std::size_t most_touched_files = 500;
constexpr std::size_t most_checks = 256;

std::string time_of(const Record& record) { return records::envelope_in(record).timestamp; }

bool is_about_an_error(const Record& record) {
    constexpr std::array<std::string_view, 4> types{records::StageFailed::type, records::ArtifactRejected::type,
                                                    records::AttemptFailed::type, records::CallLost::type};
    return std::ranges::find(types, record.type()) != types.end();
}

std::filesystem::path snapshot_file(const TaskPaths& paths) { return paths.root / ".followed"; }

}  // namespace

FollowedTask::FollowedTask(TaskPaths paths, std::string task_id)
    : paths_(std::move(paths)),
      task_id_(std::move(task_id)),
      blobs_(paths_.blobs()),
      tail_(paths_.journal()),
      index_(paths_.journal()) {}

bool FollowedTask::from_transcript() const {
    if (!from_transcript_) { from_transcript_ = answered_from_transcript(paths_); }
    return *from_transcript_;
}

void FollowedTask::restart() {
    seen_ = {};
    snapshot_at_ = 0;
    is_whole_ = false;
    tail_ = JournalTail(paths_.journal());
}

void FollowedTask::begin_at_snapshot() {
    auto file = SnapshotFile::read(snapshot_file(paths_));
    if (!file) { return; }
    const auto then = std::make_shared<Findings>();
    BytesIn in(file->bytes);
    if (!in.read(*then) || !in.at_end() || then->state.seq != file->mark.head.seq) { return; }
    tail_ = JournalTail(paths_.journal(), std::move(file->mark), [this, then] {
        seen_ = std::move(*then);
        snapshot_at_ = seen_.state.seq;
    });
}

void FollowedTask::keep_snapshot_when_due() {
    if (seen_.state.seq < snapshot_at_ + records_between_snapshots) { return; }
    BytesOut out;
    out.add(seen_);
    SnapshotFile{tail_.mark(), out.release()}.write(snapshot_file(paths_));
    snapshot_at_ = seen_.state.seq;
}

Result<void> FollowedTask::refresh(const Seen& seen) {
    if (!std::exchange(began_, true) && !seen) { begin_at_snapshot(); }
    const auto take_each = [&](const Record& record, JournalOffset at) -> Result<void> {
        AF_CHECK(take(record, at));
        if (seen) { seen(record); }
        return {};
    };
    auto read = read_tail(take_each);
    if (!read.ok() && read.error().kind == ErrorKind::conflict) {
        restart();
        read = read_tail(take_each);
    }
    AF_CHECK(read);
    keep_snapshot_when_due();
    return {};
}

/// Reads the records that were appended. Looks for a missing end until there is none: from then on, a shorter journal is a
/// conflict.
Result<void> FollowedTask::read_tail(const JournalTail::Take& take) {
    std::optional<ProjectedEnd> projected;
    if (!is_whole_) { projected.emplace(paths_); }
    AF_CHECK(tail_.read(take));
    if (projected) { AF_CHECK(projected->check(tail_.head(), text_of(tail_.header(), "task_id"))); }
    is_whole_ = true;
    return {};
}

Result<void> FollowedTask::take(const Record& record, JournalOffset at) {
    AF_CHECK(fold(seen_.state, record.body));
    // A fork begins with records of its parent task (offset 0). Its own first record names the fork.
    if (at != 0 && !seen_.named) {
        AF_CHECK(check_names(task_id_, seen_.state.task_id, paths_.journal()));
        seen_.named = true;
    }
    if ((record.seq - 1) % records_apart == 0) { seen_.places.push_back(at); }
    seen_.activity.take(record);
    take_decision(record);
    if (is_about_an_error(record)) { ++seen_.recent_errors; }
    if (record.type() == records::StageCompleted::type) { seen_.recent_errors = 0; }
    if (const auto gate = records::as<records::Gate>(record)) {
        seen_.gates[gate->gate] = at;
        take_checks();
    }
    if (record.type() == records::Step::type) { take_step(record); }
    return {};
}

void FollowedTask::take_step(const Record& record) {
    const auto step = records::as<records::Step>(record);
    ++seen_.steps;
    take_usage(record);
    if (seen_.ranges.empty() || seen_.ranges.back().stage != step->phase) {
        seen_.ranges.push_back({step->phase, seen_.steps, 0});
    }
    seen_.ranges.back().last = seen_.steps;
    auto& touched = seen_.touched[step->phase];
    for (const records::FileChange& change : step->changes.value_or(std::vector<records::FileChange>())) {
        if (touched.size() >= most_touched_files && !touched.contains(*change.path)) { continue; }
        TouchedFile& file = touched[*change.path];
        file.lines_added += *change.lines_added;
        file.lines_removed += *change.lines_removed;
        file.created = file.created || *change.created;
        file.last_modified = time_of(record);
    }
}

const std::map<std::string, TouchedFile>& FollowedTask::touched(const std::string& stage) const {
    static const std::map<std::string, TouchedFile> none;
    const auto found = seen_.touched.find(stage);
    return found == seen_.touched.end() ? none : found->second;
}

void FollowedTask::take_decision(const Record& record) {
    const auto decided = records::as<records::ApprovalDecided>(record);
    if (!decided) { return; }
    const auto same_stage = [&](const IterationDecision& each) { return each.stage == *decided->stage; };
    const auto earlier = static_cast<unsigned>(std::ranges::count_if(seen_.decisions, same_stage));
    seen_.decisions.push_back({*decided->stage, earlier + 1, records::decision_of(*decided), time_of(record),
                               *decided->decided_by, *decided->feedback});
    if (seen_.decisions.size() > most_decisions) { seen_.decisions.erase(seen_.decisions.begin()); }
}

void FollowedTask::take_usage(const Record& record) {
    if (seen_.steps % seen_.usage_every != 0) { return; }
    const Spend spend = seen_.state.ledger.total();
    seen_.usage.push_back({time_of(record), seen_.state.steps, spend.tokens(), spend.cost_microusd});
    if (seen_.usage.size() < most_usage_points) { return; }
    for (std::size_t index = 0; index < seen_.usage.size() / 2; ++index) {
        seen_.usage[index] = std::move(seen_.usage[2 * index + 1]);
    }
    seen_.usage.resize(seen_.usage.size() / 2);
    seen_.usage_every *= 2;
}

void FollowedTask::take_checks() {
    const LastActivity& newest = seen_.activity;
    const CheckPoint now{seen_.steps, newest.tests, newest.tests_passed, newest.conformance, newest.checks, newest.checks_passed};
    const auto results = [](const CheckPoint& point) {
        return std::tie(point.tests, point.tests_passed, point.conformance, point.checks, point.checks_passed);
    };
    if (!seen_.checks.empty() && results(seen_.checks.back()) == results(now)) { return; }
    if (!seen_.checks.empty() && seen_.checks.back().step == now.step) { seen_.checks.pop_back(); }
    seen_.checks.push_back(now);
    if (seen_.checks.size() > most_checks) { seen_.checks.erase(seen_.checks.begin()); }
}

std::optional<CheckPoint> FollowedTask::checks_after(std::uint64_t number) const {
    const auto later = std::ranges::upper_bound(seen_.checks, number, {}, &CheckPoint::step);
    return later == seen_.checks.begin() ? std::nullopt : std::optional(*std::prev(later));
}

Error FollowedTask::no_step(std::string_view asked) const {
    return {"AF-DASH-015", "there is no step " + ellipsis(sanitize_utf8(asked), 40), task_id_,
            "the task has " + std::to_string(seen_.steps) + " steps: choose one of them", ErrorKind::not_found};
}

Result<std::vector<Record>> FollowedTask::steps(std::uint64_t number, std::size_t count) const {
    if (number == 0 || number > seen_.steps) { return no_step(std::to_string(number)); }
    std::vector<Record> taken;
    for (std::uint64_t next = number; next <= seen_.steps && taken.size() < count; ++next) {
        AF_TRY(std::optional<Record> record, index_.find(next));
        if (!record) { return no_step(std::to_string(next)); }
        taken.push_back(std::move(*record));
    }
    return taken;
}

std::string FollowedTask::target_of(const Record& step) const {
    LastActivity activity;
    activity.take(step);
    if (!activity.target.empty()) { return activity.target; }
    const auto taken = records::as<records::Step>(step);
    const auto text = taken ? blobs_.get(*taken->action->arguments_blob) : Result<std::string>(Error{});
    const auto arguments = text.ok() ? parse_json(*text, "arguments") : Result<json::value>(Error{});
    return arguments.ok() && arguments->is_object() ? records::target_in(arguments->get_object()) : std::string();
}

Result<std::vector<Record>> FollowedTask::records(Sequence after, std::size_t count) const {
    std::vector<Record> taken;
    if (after >= seen_.state.seq || count == 0) { return taken; }
    AF_CHECK(JournalTail::read_from(paths_.journal(), seen_.places.at(after / records_apart), [&](const Record& record) {
        if (record.seq > after) { taken.push_back(record); }
        return taken.size() < count && record.seq < seen_.state.seq;
    }));
    return taken;
}

Result<std::optional<Record>> FollowedTask::newest_gate(const std::string& name) const {
    std::optional<Record> newest;
    const auto found = seen_.gates.find(name);
    if (found == seen_.gates.end()) { return newest; }
    // Offset 0 stands for all records of the parent task: the newest gate must be searched for among them.
    const bool shared = found->second == 0;
    AF_CHECK(JournalTail::read_from(paths_.journal(), found->second, [&](const Record& record) {
        const auto gate = records::as<records::Gate>(record);
        if (!shared || (gate && gate->gate == name)) { newest = record; }
        return shared && record.seq < seen_.state.seq;
    }));
    return newest;
}

}  // namespace agentforge::kernel
