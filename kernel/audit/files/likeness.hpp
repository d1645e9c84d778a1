// SPDX-License-Identifier: Apache-2.0
// Compares what a record says with what a file says. The file may have secrets where the record has placeholders.
#pragma once

#include <string>
#include <string_view>

#include <agentforge/json.hpp>

#include "escalation/feedback.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

class Likeness {
public:
    bool of_text(std::string_view recorded, std::string_view given);
    bool of_value(const json::value& recorded, const json::value& given);
    bool of_decision(const records::ApprovalDecided& recorded, const std::string& decision, const Feedback& feedback);

    /// True if something was alike only because of placeholders since the last call.
    [[nodiscard]] bool take_hidden();

private:
    bool of_issue(const records::FeedbackIssue& recorded, const FeedbackIssue& given);

    bool hides_ = false;
};

}  // namespace agentforge::kernel
