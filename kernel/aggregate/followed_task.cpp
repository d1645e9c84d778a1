// SPDX-License-Identifier: Apache-2.0
#include "aggregate/followed_task.hpp"

#include <algorithm>
#include <array>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t records_apart = 64;
constexpr std::size_t most_decisions = 100;
constexpr std::size_t most_usage_points = 256;
constexpr std::size_t most_touched_files = 500;
constexpr std::size_t most_checks = 256;

std::string time_of(const Record& record) {
    return records::envelope_in(record).timestamp.value_or("");
}

bool tells_of_an_error(const Record& record) {
    constexpr std::array<std::string_view, 4> types{records::StageFailed::type, records::ArtifactRejected::type, records::AttemptFailed::type, records::CallLost::type};
    return std::ranges::find(types, record.type()) != types.end();
}

std::uint64_t number_in(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_int64() && value->get_int64() > 0 ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

}  // namespace

FollowedTask::FollowedTask(TaskPaths paths, std::string task_id) : paths_(std::move(paths)), task_id_(std::move(task_id)), tail_(paths_.journal()), blobs_(paths_.blobs()) {}

void FollowedTask::start_anew() { *this = FollowedTask(std::move(paths_), std::move(task_id_)); }

Result<void> FollowedTask::refresh(const Seen& seen) {
    const auto take_each = [&](const Record& record, JournalOffset at) -> Result<void> {
        AF_CHECK(take(record, at));
        if (seen) { seen(record); }
        return {};
    };
    auto count = tail_.read(take_each);
    if (!count.ok() && count.error().code == "AF-JRNL-006") {
        start_anew();
        count = tail_.read(take_each);
    }
    if (!count.ok()) { return count.error(); }
    return {};
}

Result<void> FollowedTask::take(const Record& record, JournalOffset at) {
    AF_CHECK(fold(state_, record.body));
    // A fork begins with records of the task that it goes on from (at 0), and its own first one says whose it is.
    if (at != 0 && !named_) {
        AF_CHECK(check_names(task_id_, state_.task_id, paths_.journal()));
        named_ = true;
    }
    if ((record.seq - 1) % records_apart == 0) { places_.push_back(at); }
    acts_.take(record);
    take_decision(record);
    if (tells_of_an_error(record)) { ++recent_errors_; }
    if (record.type() == records::StageCompleted::type) { recent_errors_ = 0; }
    if (const auto gate = records::as<records::Gate>(record)) {
        gates_[gate->gate] = at;
        take_checks();
    }
    if (record.type() == records::Step::type) { take_step(record, at); }
    return {};
}

void FollowedTask::take_step(const Record& record, JournalOffset at) {
    const auto step = records::as<records::Step>(record);
    steps_.push_back(at);
    take_usage(record);
    if (ranges_.empty() || ranges_.back().stage != step->phase) { ranges_.push_back({step->phase, steps_.size(), 0}); }
    ranges_.back().last = steps_.size();
    auto& touched = touched_[step->phase];
    for (const json::value& change : step->changes.value_or(json::array())) {
        if (!change.is_object()) { continue; }
        const std::string path = text_of(change.get_object(), "path");
        if (touched.size() >= most_touched_files && !touched.contains(path)) { continue; }
        TouchedFile& file = touched[path];
        file.lines_added += number_in(change.get_object(), "lines_added");
        file.lines_removed += number_in(change.get_object(), "lines_removed");
        const json::value* created = change.get_object().if_contains("created");
        file.created = file.created || (created != nullptr && *created == json::value(true));
        file.last_modified = time_of(record);
    }
}

const std::map<std::string, TouchedFile>& FollowedTask::touched(const std::string& stage) const {
    static const std::map<std::string, TouchedFile> none;
    const auto found = touched_.find(stage);
    return found == touched_.end() ? none : found->second;
}

void FollowedTask::take_decision(const Record& record) {
    const auto decided = records::as<records::ApprovalDecided>(record);
    if (!decided) { return; }
    const auto same_stage = [&](const IterationDecision& each) { return each.stage == *decided->stage; };
    const auto earlier = static_cast<unsigned>(std::ranges::count_if(decisions_, same_stage));
    decisions_.push_back({*decided->stage, earlier + 1, records::decision_of(*decided), time_of(record), *decided->decided_by, *decided->feedback});
    if (decisions_.size() > most_decisions) { decisions_.erase(decisions_.begin()); }
}

void FollowedTask::take_usage(const Record& record) {
    if (steps_.size() % usage_every_ != 0) { return; }
    const Spend spend = state_.ledger.total();
    usage_.push_back({time_of(record), state_.steps, spend.tokens(), spend.cost_microusd});
    if (usage_.size() < most_usage_points) { return; }
    for (std::size_t index = 0; index < usage_.size() / 2; ++index) { usage_[index] = std::move(usage_[2 * index + 1]); }
    usage_.resize(usage_.size() / 2);
    usage_every_ *= 2;
}

void FollowedTask::take_checks() {
    const CheckPoint now{steps_.size(), acts_.tests, acts_.tests_passed, acts_.conformance};
    const auto same = [&now](const CheckPoint& other) { return other.tests == now.tests && other.tests_passed == now.tests_passed && other.conformance == now.conformance; };
    if (!checks_.empty() && same(checks_.back())) { return; }
    if (!checks_.empty() && checks_.back().step == now.step) { checks_.pop_back(); }
    checks_.push_back(now);
    if (checks_.size() > most_checks) { checks_.erase(checks_.begin()); }
}

std::optional<CheckPoint> FollowedTask::checks_after(std::uint64_t number) const {
    const auto later = std::ranges::upper_bound(checks_, number, {}, &CheckPoint::step);
    return later == checks_.begin() ? std::nullopt : std::optional(*std::prev(later));
}

Error FollowedTask::no_step(std::string_view asked) const {
    return {"AF-DASH-015", "there is no step " + ellipsis(sanitize_utf8(asked), 40), task_id_, "the task has " + std::to_string(steps_.size()) + " steps: choose one of them", ErrorKind::not_found};
}

Result<std::vector<Record>> FollowedTask::steps(std::uint64_t number, std::size_t count) const {
    if (number == 0 || number > steps_.size()) { return no_step(std::to_string(number)); }
    std::vector<Record> taken;
    AF_CHECK(JournalTail::read_from(paths_.journal(), steps_[number - 1], [&](const Record& record) {
        if (record.type() == records::Step::type && records::envelope_in(record).step.value_or(0) >= number) { taken.push_back(record); }
        return taken.size() < count && record.seq < state_.seq;
    }));
    return taken;
}

Result<std::vector<Record>> FollowedTask::records(Sequence after, std::size_t count) const {
    std::vector<Record> taken;
    if (after >= state_.seq || count == 0) { return taken; }
    AF_CHECK(JournalTail::read_from(paths_.journal(), places_.at(after / records_apart), [&](const Record& record) {
        if (record.seq > after) { taken.push_back(record); }
        return taken.size() < count && record.seq < state_.seq;
    }));
    return taken;
}

Result<std::optional<Record>> FollowedTask::newest_gate(const std::string& name) const {
    std::optional<Record> newest;
    const auto found = gates_.find(name);
    if (found == gates_.end()) { return newest; }
    const bool shared = found->second == 0;     // By the task that this one was forked from: looked for among its records.
    AF_CHECK(JournalTail::read_from(paths_.journal(), found->second, [&](const Record& record) {
        const auto gate = records::as<records::Gate>(record);
        if (!shared || (gate && gate->gate == name)) { newest = record; }
        return shared && record.seq < state_.seq;
    }));
    return newest;
}

}  // namespace agentforge::kernel
