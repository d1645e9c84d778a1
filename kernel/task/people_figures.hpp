// SPDX-License-Identifier: Apache-2.0
// Counts a task's questions to people, and the time it waited for answers. Folded record by record.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace agentforge::kernel {

struct PeopleFigures {
    std::map<std::string, std::string> open;  ///< The time of each open question, approval or action, by its id.
    std::uint64_t waited_ms = 0;              ///< From each request to its decision.
    bool escalated = false;                   ///< The task asked a question.

    /// Times are RFC 3339. Ignores ids that are not open and invalid times.
    void asked(const std::string& id, const std::string& at);
    void decided(const std::string& id, const std::string& at);
    bool operator==(const PeopleFigures&) const = default;
};

}  // namespace agentforge::kernel
