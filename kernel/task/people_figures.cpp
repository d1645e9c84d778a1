// SPDX-License-Identifier: Apache-2.0
#include "task/people_figures.hpp"

#include <chrono>

#include "base/clock.hpp"

namespace agentforge::kernel {

void PeopleFigures::asked(const std::string& id, const std::string& at) { open[id] = at; }

void PeopleFigures::decided(const std::string& id, const std::string& at) {
    const auto request = open.find(id);
    if (request == open.end()) { return; }
    const auto begin = parse_time(request->second);
    const auto end = parse_time(at);
    if (begin.ok() && end.ok() && *end > *begin) {
        waited_ms += static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(*end - *begin).count());
    }
    open.erase(request);
}

}  // namespace agentforge::kernel
