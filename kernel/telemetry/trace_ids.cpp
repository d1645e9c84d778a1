// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace_ids.hpp"

#include "base/hash.hpp"

namespace agentforge::kernel {
namespace {

std::string hex_of(const std::string& seed, std::size_t digits) { return sha256("agentforge " + seed).substr(0, digits); }

}  // namespace

std::string trace_id_of(std::string_view task_id) { return hex_of("trace " + std::string(task_id), 32); }

std::string span_id_of(std::string_view task_id, std::string_view stage, std::uint64_t visit) {
    return hex_of(
        "span " + std::string(task_id) + (stage.empty() ? std::string() : " " + std::string(stage) + " " + std::to_string(visit)),
        16);
}

std::string part_span_id_of(std::string_view task_id, std::string_view part) {
    return hex_of("part " + std::string(task_id) + " " + std::string(part), 16);
}

}  // namespace agentforge::kernel
