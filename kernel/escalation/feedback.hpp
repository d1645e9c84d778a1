// SPDX-License-Identifier: Apache-2.0
// A person's feedback on an artifact to revise: a text, or a list of places with an issue each.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/yaml.hpp"

namespace agentforge::kernel {

struct FeedbackIssue {
    std::string location;  ///< A place in the artifact: `requirements.REQ-003`. Empty: none.
    std::string issue;
    std::string suggestion;    ///< May be empty.
    bool must_address = true;  ///< False: it should be considered.
    bool operator==(const FeedbackIssue&) const = default;
};

struct Feedback {
    std::string overall;
    std::vector<FeedbackIssue> issues;
    [[nodiscard]] bool empty() const noexcept { return overall.empty() && issues.empty(); }
    bool operator==(const Feedback&) const = default;
};

/// What a feedback file must refer to, as far as it says. Empty and 0: unknown.
struct FeedbackPlace {
    std::string task_id;
    std::string stage;
    unsigned iteration = 0;  ///< The version that it refers to.
};

/// Reads a feedback file: a map, or one under `feedback:`, with `overall_comments`, `specific_issues`, `must_address` and
/// `should_consider`, and optionally the place and `decision: revise`. Errors: `invalid` AF-ESC-064 with file, line and field: an
/// unknown key, a wrong value, another task, stage or version, an empty feedback; AF-ESC-065 it is too long for a context.
[[nodiscard]] Result<Feedback> read_feedback(const YamlDocument& document, const FeedbackPlace& about);

/// Returns `location`, `issue`, `suggestion`, `priority` of each, as in records and files.
[[nodiscard]] json::array to_json(const std::vector<FeedbackIssue>& issues);
/// Errors: AF-ESC-064, with the place that `where` returns for the JSON pointer of the fault below the list.
[[nodiscard]] Result<std::vector<FeedbackIssue>> issues_from(const json::value& list,
                                                             const std::function<std::string(const std::string&)>& where);

/// Returns, for instance, `requirements.REQ-003: Missing acceptance criteria (Add measurable ones)`.
[[nodiscard]] std::string in_words(const FeedbackIssue& issue);
/// Returns everything as one text, for readers that know only texts: what must be addressed first.
[[nodiscard]] std::string in_words(const Feedback& feedback);

/// Checks that the feedback fits a context beside the work itself. Errors: AF-ESC-065.
[[nodiscard]] Result<void> check_size(const Feedback& feedback);

}  // namespace agentforge::kernel
