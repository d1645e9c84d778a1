// SPDX-License-Identifier: Apache-2.0
#include "aggregate/statistics.hpp"

#include <algorithm>
#include <set>

#include "aggregate/followed_task.hpp"
#include "base/clock.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace {

/// Adds up how long a task waited for people: from each request to its decision.
class Waiting {
public:
    void take(const Record& record) {
        const std::string at = records::envelope_in(record).timestamp.value_or("");
        if (const auto asked = records::as<records::EscalationRaised>(record)) { open_[asked->escalation_id] = at; }
        if (const auto asked = records::as<records::ApprovalRequested>(record)) { open_[asked->approval_id] = at; }
        if (const auto asked = records::as<records::ActionAsked>(record)) { open_[asked->approval_id] = at; }
        if (const auto decided = records::as<records::EscalationResolved>(record)) { close(decided->escalation_id, at); }
        if (const auto decided = records::as<records::ApprovalDecided>(record)) { close(decided->approval_id, at); }
        if (const auto decided = records::as<records::ActionDecided>(record)) { close(decided->approval_id, at); }
    }
    [[nodiscard]] std::uint64_t ms() const { return ms_; }

private:
    void close(const std::string& id, const std::string& at) {
        const auto found = open_.find(id);
        if (found == open_.end()) { return; }
        const auto begin = parse_time(found->second);
        const auto end = parse_time(at);
        if (begin.ok() && end.ok() && *end > *begin) {
            ms_ += static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(*end - *begin).count());
        }
        open_.erase(found);
    }

    std::map<std::string, std::string> open_;  ///< The time of each request.
    std::uint64_t ms_ = 0;
};

std::string main_model(const Ledger& ledger) {
    const auto models = ledger.by(&LedgerEntry::model);
    const auto most = std::ranges::max_element(models, {}, [](const auto& model) { return model.second.tokens(); });
    return most == models.end() ? std::string() : most->first;
}

}  // namespace

Result<TaskCase> case_of(const TaskPaths& paths, const std::string& task_id) {
    TaskCase found;
    Waiting waiting;
    std::vector<std::pair<std::string, bool>> gates;  // Complete gates, and whether each passed.
    FollowedTask task(paths, task_id);
    AF_CHECK(task.refresh([&](const Record& record) {
        waiting.take(record);
        found.escalated = found.escalated || record.type() == records::EscalationRaised::type;
        if (const auto gate = records::as<records::Gate>(record); gate && !*gate->partial) {
            gates.emplace_back(gate->gate, gate->passed);
        }
    }));
    const TaskState& state = task.state();
    found.task_id = state.task_id;
    found.pipeline = state.pipeline.name;
    found.model = main_model(state.ledger);
    found.created_at = state.created_at;
    found.base_tree = state.base_tree;
    found.commit = state.commit;
    found.delivered = state.status == TaskStatus::completed && (!state.commit.empty() || !state.delivery.empty());
    found.completed = state.status == TaskStatus::completed;
    found.ended = is_terminal(state.status);
    found.steps = state.steps;
    found.spend = state.ledger.total();
    std::set<std::string> judging;
    for (const StageTemplate& stage : state.pipeline.stages) { judging.insert(closing_gate(stage)); }
    for (const auto& [gate, passed] : gates) {
        if (!judging.contains(gate)) { continue; }
        found.gates += 1;
        found.gates_passed += passed ? 1 : 0;
    }
    found.people_ms = waiting.ms();
    return found;
}

void Statistics::add(const TaskCase& task) {
    tasks += 1;
    delivered += task.delivered ? 1 : 0;
    completed += task.completed ? 1 : 0;
    ended += task.ended ? 1 : 0;
    if (task.ended) { people.push_back(task.people_ms); }
    escalated += task.escalated ? 1 : 0;
    gates += task.gates;
    gates_passed += task.gates_passed;
    people_ms += task.people_ms;
    spend.add(task.spend);
    if (const auto created = parse_time(task.created_at); created.ok() && (!first || *created < *first)) { first = *created; }
    if (!task.delivered) { return; }
    steps.push_back(task.steps);
    tokens.push_back(task.spend.tokens());
}

std::optional<std::uint64_t> median(std::vector<std::uint64_t> values) {
    if (values.empty()) { return std::nullopt; }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

std::optional<double> share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace agentforge::kernel
