// SPDX-License-Identifier: Apache-2.0
#include "audit/files/likeness.hpp"

#include <algorithm>
#include <utility>

#include "secrets/restore.hpp"

namespace agentforge::kernel {

bool Likeness::of_text(std::string_view recorded, std::string_view given) {
    if (recorded == given) { return true; }
    const bool is_alike = equals_but_for_secrets(recorded, given);
    hides_ = hides_ || is_alike;
    return is_alike;
}

bool Likeness::of_value(const json::value& recorded, const json::value& given) {
    if (recorded.is_string() && given.is_string()) { return of_text(recorded.get_string(), given.get_string()); }
    if (recorded.is_array() && given.is_array()) {
        return std::ranges::equal(recorded.get_array(), given.get_array(),
                                  [this](const auto& left, const auto& right) { return of_value(left, right); });
    }
    if (!recorded.is_object() || !given.is_object()) { return recorded == given; }
    return recorded.get_object().size() == given.get_object().size() &&
           std::ranges::all_of(recorded.get_object(), [&](const auto& wanted) {
               return std::ranges::any_of(given.get_object(), [&](const auto& field) {
                   return of_text(wanted.key(), field.key()) && of_value(wanted.value(), field.value());
               });
           });
}

bool Likeness::of_decision(const records::ApprovalDecided& recorded, const std::string& decision, const Feedback& feedback) {
    if (decision != records::decision_of(recorded)) { return false; }
    if (decision != "revise") { return feedback.issues.empty() && of_text(*recorded.feedback, feedback.overall); }
    // The record has the reasons as one text, and the issues by themselves. Older records lack these.
    return of_text(*recorded.feedback, in_words(feedback)) &&
           (recorded.decision->empty() ||
            std::ranges::equal(*recorded.issues, feedback.issues,
                               [this](const auto& left, const auto& right) { return of_issue(left, right); }));
}

bool Likeness::take_hidden() { return std::exchange(hides_, false); }

bool Likeness::of_issue(const records::FeedbackIssue& recorded, const FeedbackIssue& given) {
    return of_text(recorded.issue, given.issue) && of_text(recorded.location.value_or(""), given.location) &&
           of_text(recorded.suggestion.value_or(""), given.suggestion) &&
           *recorded.priority == (given.must_address ? "must_address" : "should_consider");
}

}  // namespace agentforge::kernel
