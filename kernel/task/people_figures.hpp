// SPDX-License-Identifier: Apache-2.0
// What a task asked of people, and how long it waited for them. Folded record by record.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace agentforge::kernel {

struct PeopleFigures {
    std::map<std::string, std::string> open;  ///< When each open question, approval or action was asked, by its id.
    std::uint64_t waited_ms = 0;              ///< From each request to its decision.
    bool escalated = false;                   ///< The task asked a question.

    /// Times are RFC 3339. An id that is not open, or a time that is invalid, counts nothing.
    void asked(const std::string& id, const std::string& at);
    void decided(const std::string& id, const std::string& at);
    bool operator==(const PeopleFigures&) const = default;
};

}  // namespace agentforge::kernel
