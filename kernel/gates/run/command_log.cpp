// SPDX-License-Identifier: Apache-2.0
#include "gates/run/command_log.hpp"

#include <algorithm>

#include "base/json_fields.hpp"

namespace agentforge::kernel {
namespace {

/// Rounded to a tenth.
std::string seconds(std::chrono::milliseconds time) {
    const auto tenths = (time.count() + 50) / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

}  // namespace

GateTime time_of(const std::vector<GateCommand>& commands) {
    GateTime time;
    std::string last;
    for (const auto& each : commands) {
        time.total += each.duration;
        if (each.purpose == purpose_mutants) { time.mutants += each.duration; }
        if (each.purpose.empty() && each.command == "tests") { last = each.tree; }
    }
    std::chrono::milliseconds build{0};
    std::chrono::milliseconds tests{0};
    for (const auto& each : commands) {
        if (!each.purpose.empty() || each.tree != last) { continue; }
        if (each.command == "build") { build = std::max(build, each.duration); }
        if (each.command == "tests") { tests = std::max(tests, each.duration); }
    }
    time.floor = build + tests;
    return time;
}

json::array to_json(const std::vector<GateCommand>& commands) {
    json::array list;
    for (const auto& each : commands) {
        json::object entry{{"command", each.command}, {"tree", each.tree}, {"duration_ms", each.duration.count()}};
        if (!each.purpose.empty()) { entry["purpose"] = each.purpose; }
        list.push_back(std::move(entry));
    }
    return list;
}

std::vector<GateCommand> gate_commands_from_json(const json::value& value) {
    std::vector<GateCommand> commands;
    if (!value.is_array()) { return commands; }
    for (const auto& item : value.get_array()) {
        const auto* entry = item.if_object();
        if (entry == nullptr) { continue; }
        const auto* duration = entry->if_contains("duration_ms");
        const std::chrono::milliseconds time{duration != nullptr && duration->is_number() ? duration->to_number<std::int64_t>()
                                                                                          : 0};
        commands.push_back({text_of(*entry, "command"), text_of(*entry, "purpose"), text_of(*entry, "tree"), time});
    }
    return commands;
}

std::string in_words(const GateTime& time) {
    if (time.total.count() == 0) { return {}; }
    auto text = seconds(time.without_mutants()) + " without mutants, " + seconds(time.mutants) + " for mutants";
    if (time.floor.count() > 0) { text += "; one clean build and one run of the suite: " + seconds(time.floor); }
    return text;
}

json::object to_json(const GateTime& time) {
    return {{"total_ms", time.total.count()}, {"mutants_ms", time.mutants.count()}, {"floor_ms", time.floor.count()}};
}

}  // namespace agentforge::kernel
