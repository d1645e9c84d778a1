// SPDX-License-Identifier: Apache-2.0
#include "task/working_memory.hpp"

#include <utility>

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_items = 20;

template <class... T>
bool is_one_of(const records::Body& body) {
    return (std::holds_alternative<T>(body) || ...);
}

bool is_item(const records::Body& body) {
    return is_one_of<records::Step, records::Gate, records::StageStarted, records::StageCompleted, records::StageFailed,
                     records::ArtifactRejected, records::ReviewFinished, records::EscalationRaised, records::EscalationResolved>(
        body);
}

std::string item_line(const records::AnyRecord& record) {
    json::object item;
    const records::Envelope& all = record.envelope;
    records::write_field(item, "seq", all.seq);
    records::write_field(item, "step", all.step);
    records::write_field(item, "timestamp", all.timestamp);
    records::write_field(item, "type", all.type);
    std::visit(
        [&item](const auto& body) {
            if constexpr (requires { body.phase; }) { records::write_field(item, "phase", body.phase); }
            if constexpr (requires { body.stage; }) { records::write_field(item, "stage", body.stage); }
            if constexpr (requires { body.gate; }) { records::write_field(item, "gate", body.gate); }
            if constexpr (requires { body.passed; }) { records::write_field(item, "passed", body.passed); }
            if constexpr (requires { body.summary; }) { records::write_field(item, "summary", body.summary); }
        },
        record.body);
    return to_json_line(item);
}

}  // namespace

void WorkingMemory::add(records::AnyRecord record) {
    if (!is_item(record.body)) { return; }
    unwritten_.push_back(std::move(record));
    if (unwritten_.size() > most_items) { unwritten_.pop_front(); }
    changed_ = true;
}

const std::deque<std::string>& WorkingMemory::items() const {
    for (const records::AnyRecord& record : unwritten_) { items_.push_back(item_line(record)); }
    unwritten_.clear();
    while (items_.size() > most_items) { items_.pop_front(); }
    return items_;
}

std::string WorkingMemory::text() const {
    std::string text = "{\n  \"items\": [";
    for (const std::string& item : items()) { text += (&item == &items_.front() ? "\n    " : ",\n    ") + item; }
    return text + "\n  ]\n}\n";
}

}  // namespace agentforge::kernel
