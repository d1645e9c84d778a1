// SPDX-License-Identifier: Apache-2.0
// What a person says of an artifact that is to be revised: a text, or places with an issue each (North Star 13.6).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/yaml.hpp"

namespace agentforge::kernel {

struct FeedbackIssue {
    std::string location;  ///< A place in the artifact: `requirements.REQ-003`; empty: none is named.
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

/// What a file's feedback must be about, as far as the file says; empty and 0: not known.
struct FeedbackPlace {
    std::string task_id;
    std::string stage;
    unsigned iteration = 0;  ///< The version that it is about.
};

/// A feedback file: a map, or one under `feedback:`, with `overall_comments`, `specific_issues`, `must_address` and
/// `should_consider`; the place and `decision: revise` may stand beside them. Errors: `invalid` AF-ESC-064 with file, line and
/// field: an unknown key, a wrong value, another task, stage or version, nothing said; AF-ESC-065 it is too long for a context.
[[nodiscard]] Result<Feedback> read_feedback(const YamlDocument& document, const FeedbackPlace& about);

/// `location`, `issue`, `suggestion`, `priority` of each, as records and files have them.
[[nodiscard]] json::array to_json(const std::vector<FeedbackIssue>& issues);
/// Errors: AF-ESC-064, placed by `where`, which is given the JSON pointer of what is wrong below the list.
[[nodiscard]] Result<std::vector<FeedbackIssue>> issues_from(const json::value& list,
                                                             const std::function<std::string(const std::string&)>& where);

/// `requirements.REQ-003: Missing acceptance criteria (Add measurable ones)`
[[nodiscard]] std::string in_words(const FeedbackIssue& issue);
/// All of it as one text, for whoever knows only texts: what must be addressed first.
[[nodiscard]] std::string in_words(const Feedback& feedback);

/// What a context has room for beside the work itself. Errors: AF-ESC-065.
[[nodiscard]] Result<void> check_size(const Feedback& feedback);

}  // namespace agentforge::kernel
