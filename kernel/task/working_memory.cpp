// SPDX-License-Identifier: Apache-2.0
#include "task/working_memory.hpp"

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_items = 20;

bool is_item(std::string_view type) {
    return type == "step" || type == "gate" || type == "stage_started" || type == "stage_completed" || type == "stage_failed" ||
           type == "artifact_rejected" || type == "review_finished" || type == "escalation_raised" || type == "escalation_resolved";
}

std::string item_line(const json::object& record) {
    json::object item;
    for (const std::string_view key : {"seq", "step", "timestamp", "type", "phase", "stage", "gate", "passed", "summary"}) {
        if (const json::value* value = record.if_contains(key)) { item[key] = *value; }
    }
    return to_json_line(item);
}

}  // namespace

void WorkingMemory::add(const Record& record) {
    if (!is_item(record.type())) { return; }
    items_.push_back(item_line(record.body));
    if (items_.size() > most_items) { items_.pop_front(); }
    changed_ = true;
}

std::string WorkingMemory::text() const {
    std::string text = "{\n  \"items\": [";
    for (const std::string& item : items_) { text += (&item == &items_.front() ? "\n    " : ",\n    ") + item; }
    return text + "\n  ]\n}\n";
}

}  // namespace agentforge::kernel
