// SPDX-License-Identifier: Apache-2.0
#include "pipeline/people/iteration.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "task/artifact_files.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view result_changed = "changed";
constexpr std::string_view result_unchanged = "unchanged";
constexpr std::string_view result_unmeasured = "unmeasured";

constexpr std::string_view must_address = "must_address";
constexpr std::string_view should_consider = "should_consider";

const json::value* element_of(const json::array& list, const std::string& name) {
    const bool number =
        !name.empty() && name.size() < 7 && std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    if (number && std::stoul(name) < list.size()) { return &list[std::stoul(name)]; }
    for (const json::value& element : list) {
        if (element.is_string() && element.get_string() == name) { return &element; }
        if (!element.is_object()) { continue; }
        const bool named = std::ranges::any_of(element.get_object(), [&](const auto& field) {
            return field.value().is_string() && field.value().get_string() == name;
        });
        if (named) { return &element; }
    }
    return nullptr;
}

/// `a.b[2]` → a, b, 2.
std::vector<std::string> parts_of(std::string_view location) {
    std::vector<std::string> parts(1);
    for (const char c : location) {
        if (c == '.' || c == '/' || c == '[' || c == ']') {
            if (!parts.back().empty()) { parts.emplace_back(); }
        } else {
            parts.back() += c;
        }
    }
    if (parts.back().empty()) { parts.pop_back(); }
    return parts;
}

/// A name may contain a dot (`files.src/a.py`), so this tries to join as many parts as match.
const json::value* find_at(const json::value& in, const std::vector<std::string>& parts, std::size_t at,
                           std::string_view location) {
    if (at == parts.size()) { return &in; }
    if (const json::object* object = in.if_object()) {
        const json::value* field = object->if_contains(parts[at]);
        return field == nullptr ? nullptr : find_at(*field, parts, at + 1, location);
    }
    const json::array* list = in.if_array();
    if (list == nullptr) { return nullptr; }
    const std::size_t begin = location.find(parts[at]);
    if (begin != std::string_view::npos && at > 0) {
        if (const json::value* whole = element_of(*list, std::string(location.substr(begin)))) { return whole; }
    }
    const json::value* element = element_of(*list, parts[at]);
    return element == nullptr ? nullptr : find_at(*element, parts, at + 1, location);
}

/// Null: that version does not have the place.
std::string_view result_at_place(const json::value* was, const json::value* is) {
    const bool same = was != nullptr && is != nullptr ? *was == *is : was == is;
    return same ? result_unchanged : result_changed;
}

std::string_view result_without_place(const json::object& before, const json::object& after) {
    return before == after ? result_unchanged : result_unmeasured;
}

std::vector<std::string> with_result(const std::vector<records::IssueAnswer>& answers, std::string_view result) {
    std::vector<std::string> lines;
    for (const records::IssueAnswer& answer : answers) {
        if (*answer.result == result) { lines.push_back(in_words(FeedbackIssue{*answer.location, *answer.issue, "", true})); }
    }
    return lines;
}

}  // namespace

std::vector<records::FeedbackIssue> recorded(const std::vector<FeedbackIssue>& issues) {
    std::vector<records::FeedbackIssue> list;
    for (const FeedbackIssue& issue : issues) {
        records::FeedbackIssue entry{.issue = issue.issue,
                                     .priority = std::string(issue.must_address ? must_address : should_consider)};
        if (!issue.location.empty()) { entry.location = issue.location; }
        if (!issue.suggestion.empty()) { entry.suggestion = issue.suggestion; }
        list.push_back(std::move(entry));
    }
    return list;
}

std::vector<FeedbackIssue> issues_of(const std::vector<records::FeedbackIssue>& issues) {
    std::vector<FeedbackIssue> list;
    for (const records::FeedbackIssue& entry : issues) {
        list.push_back(
            {entry.location.value_or(""), entry.issue, entry.suggestion.value_or(""), *entry.priority != should_consider});
    }
    return list;
}

json::object iteration_context(const TaskState& state) {
    const StageState& stage = state.stage();
    if (!state.feedback) { return {}; }
    json::array must;
    json::array should;
    const std::vector<FeedbackIssue> issues = issues_of(state.feedback_issues);
    for (const FeedbackIssue& issue : issues) { (issue.must_address ? must : should).emplace_back(in_words(issue)); }
    json::object feedback;
    if (!must.empty()) { feedback["must_address"] = must; }
    // The text ends with the lists too, for stages that know only text. Does not repeat them.
    const std::string lists = in_words(Feedback{"", issues});
    std::string overall = *state.feedback;
    if (overall.ends_with(lists)) { overall.resize(overall.size() - lists.size()); }
    if (const std::size_t end = overall.find_last_not_of(" \n"); end != std::string::npos) {
        feedback["overall"] = overall.substr(0, end + 1);
    }
    if (!should.empty()) { feedback["should_consider"] = should; }
    const unsigned version = stage.history.empty() ? stage.versions : stage.history.back().version;
    const std::string next = std::to_string(version + 1);
    return {{"iteration", version + 1},
            {"max_iterations", state.stage_template().max_iterations},
            {"feedback", std::move(feedback)},
            {"previous_artifact", artifact_version_file(stage.artifact, "v" + std::to_string(version))},
            {"instruction",
             must.empty() ? "Revise the artifact as the feedback says, and hand in version " + next + " whole."
                          : "Address each item of must_address, consider those of should_consider, and hand in version " + next +
                                " whole. The person sees each item of must_address whose place in the artifact did not change."}};
}

const json::value* place_in(const json::object& artifact, std::string_view location) {
    const std::vector<std::string> parts = parts_of(location);
    if (parts.empty()) { return nullptr; }
    const json::value* field = artifact.if_contains(parts.front());
    if (field != nullptr) { return find_at(*field, parts, 1, location); }
    // Searches every list for a bare name such as `REQ-003`.
    for (const auto& [key, value] : artifact) {
        const json::array* list = value.if_array();
        const json::value* element = list == nullptr ? nullptr : element_of(*list, parts.front());
        if (element != nullptr) { return find_at(*element, parts, 1, location); }
    }
    return nullptr;
}

std::vector<records::IssueAnswer> answers_to(const std::vector<records::FeedbackIssue>& issues, const json::object& before,
                                             const json::object& after) {
    std::vector<records::IssueAnswer> answers;
    for (const FeedbackIssue& issue : issues_of(issues)) {
        if (!issue.must_address) { continue; }
        const json::value* was = issue.location.empty() ? nullptr : place_in(before, issue.location);
        const json::value* is = issue.location.empty() ? nullptr : place_in(after, issue.location);
        // If neither version has the place, all that is known is whether anything changed.
        const std::string_view result =
            was != nullptr || is != nullptr ? result_at_place(was, is) : result_without_place(before, after);
        answers.push_back({.location = issue.location, .issue = issue.issue, .result = std::string(result)});
    }
    return answers;
}

std::vector<std::string> unanswered(const std::vector<records::IssueAnswer>& answers) {
    return with_result(answers, result_unchanged);
}
std::vector<std::string> unmeasured(const std::vector<records::IssueAnswer>& answers) {
    return with_result(answers, result_unmeasured);
}

std::vector<std::string> remarks_on_answers(const std::vector<records::IssueAnswer>& answers) {
    std::vector<std::string> lines;
    for (const std::string& line : unanswered(answers)) { lines.push_back("NOT addressed, unchanged: " + line); }
    for (const records::IssueAnswer& answer : answers) {
        if (*answer.result != result_unmeasured) { continue; }
        const std::string why = answer.location->empty() ? "it names no place in the artifact"
                                                         : "neither version has `" + ellipsis(*answer.location, 120) + "`";
        lines.push_back("check it yourself, because " + why + ": " + *answer.issue);
    }
    return lines;
}

std::vector<std::string> words_before_decision(const TaskState& state) {
    const StageState& stage = state.stage();
    std::vector<std::string> lines;
    if (iterates(state)) {
        const unsigned version = stage.history.empty() ? artifact_version(stage) : stage.history.back().version;
        lines.push_back("version " + std::to_string(version) + " of " + stage.artifact + ", revised " +
                        std::to_string(stage.iterations) + " of " + std::to_string(state.stage_template().max_iterations) +
                        " times");
        if (!state.stage_template().iterate_prompt.empty()) { lines.push_back(state.stage_template().iterate_prompt); }
    }
    for (std::string& line : remarks_on_answers(state.feedback_answers)) { lines.push_back(std::move(line)); }
    if (!iterates(state)) { return lines; }
    if (const auto before = stage_before_rejected(state)) {
        lines.push_back("rejecting it goes back to stage " + state.stages[*before].name);
    } else {
        lines.emplace_back("rejecting it ends the task");
    }
    return lines;
}

}  // namespace agentforge::kernel
