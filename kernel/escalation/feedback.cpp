// SPDX-License-Identifier: Apache-2.0
#include "escalation/feedback.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_issues = 50;
constexpr std::size_t most_must_bytes = 4000;
constexpr std::size_t most_feedback_bytes = 16'000;
constexpr std::string_view must_word = "must_address";
constexpr std::string_view should_word = "should_consider";

class FeedbackReader {
public:
    FeedbackReader(const json::object& object, std::string pointer, const std::function<std::string(const std::string&)>& where)
        : object_(object), pointer_(std::move(pointer)), where_(where) {}

    [[nodiscard]] Error wrong(std::string_view key, const std::string& why,
                              std::string remedy = "see docs/iteration.md for the fields of a feedback file") const {
        return Error{"AF-ESC-064", "`" + ellipsis(key, 80) + "` " + why, where_(pointer_ + "/" + std::string(key)),
                     std::move(remedy), ErrorKind::invalid};
    }
    [[nodiscard]] Result<void> only(const std::vector<std::string>& known) const {
        for (const auto& [key, value] : object_) {
            const std::string name(key.data(), key.size());
            if (std::ranges::find(known, name) != known.end()) { continue; }
            const std::string near = nearest(name, known);
            return wrong(name, "is not a field of feedback here", near.empty() ? "remove it" : "did you mean `" + near + "`?");
        }
        return {};
    }
    [[nodiscard]] Result<std::string> text(std::string_view key) const {
        const json::value* value = object_.if_contains(key);
        if (value == nullptr || value->is_null()) { return std::string(); }
        if (!value->is_string()) { return wrong(key, "must be a string (put it in quotes)"); }
        std::string_view said = value->get_string();
        const std::size_t begin = said.find_first_not_of(" \t\r\n");
        return begin == std::string_view::npos ? std::string()
                                               : std::string(said.substr(begin, said.find_last_not_of(" \t\r\n") - begin + 1));
    }
    [[nodiscard]] Result<void> about(std::string_view key, const std::string& expected) const {
        AF_TRY(const std::string said, text(key));
        if (said.empty() || expected.empty() || said == expected) { return {}; }
        return wrong(key, "is `" + ellipsis(said, 100) + "`, but the pending artifact is of `" + expected + "`",
                     "give the feedback on the artifact that it is about");
    }
    [[nodiscard]] const json::object& object() const noexcept { return object_; }
    [[nodiscard]] const std::string& pointer() const noexcept { return pointer_; }
    [[nodiscard]] const std::function<std::string(const std::string&)>& where() const noexcept { return where_; }

private:
    const json::object& object_;
    std::string pointer_;
    const std::function<std::string(const std::string&)>& where_;
};

/// `specification_v2.yaml` → 2. Nothing if the name has no version.
std::optional<std::string> version_in(std::string_view file) {
    constexpr std::string_view ending = ".yaml";
    if (!file.ends_with(ending)) { return std::nullopt; }
    file.remove_suffix(ending.size());
    const auto mark = file.rfind("_v");
    if (mark == std::string_view::npos) { return std::nullopt; }
    const std::string_view digits = file.substr(mark + 2);
    const bool number = !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    return number ? std::optional(std::string(digits)) : std::nullopt;
}

/// False for control characters and for a part without a name, such as in `requirements..REQ-003`. Any other text may be a place.
bool is_place(std::string_view location) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::ranges::any_of(location, is_control)) { return false; }
    const bool is_path = location.find(' ') == std::string_view::npos;
    const bool has_gap = location.find("..") != std::string_view::npos || location.find("//") != std::string_view::npos ||
                         location.find("[]") != std::string_view::npos;
    return !is_path || location.empty() || (!has_gap && location.front() != '.' && location.back() != '.');
}

/// `REQ-003: Add criteria`: the text before the colon is the place, if it is one word.
FeedbackIssue issue_of_text(const std::string& text, bool must) {
    const std::size_t colon = text.find(": ");
    const bool placed = colon != std::string::npos && colon > 0 && text.find_first_of(" \t\n") > colon;
    return placed ? FeedbackIssue{text.substr(0, colon), text.substr(colon + 2), "", must} : FeedbackIssue{"", text, "", must};
}

Result<FeedbackIssue> read_issue(const json::value& value, const std::string& pointer, std::optional<bool> must,
                                 const std::function<std::string(const std::string&)>& where) {
    if (value.is_string() && must) {
        FeedbackIssue issue = issue_of_text(std::string(value.get_string()), *must);
        if (issue.issue.find_first_not_of(" \t\r\n") != std::string::npos) { return issue; }
    }
    static const json::object none;
    const FeedbackReader reader(value.is_object() ? value.get_object() : none, pointer, where);
    if (!value.is_object()) {
        return Error{"AF-ESC-064",
                     must ? "an issue is a string, or a map with `location`, `issue` and `suggestion`"
                          : "an issue is a map with `location`, `issue`, `suggestion` and `priority`",
                     where(pointer), "write `- {location: requirements.REQ-003, issue: \"…\"}`", ErrorKind::invalid};
    }
    AF_CHECK(reader.only(must ? std::vector<std::string>{"location", "issue", "suggestion"}
                              : std::vector<std::string>{"location", "issue", "suggestion", "priority"}));
    FeedbackIssue issue;
    AF_TRY(issue.location, reader.text("location"));
    AF_TRY(issue.issue, reader.text("issue"));
    AF_TRY(issue.suggestion, reader.text("suggestion"));
    if (!is_place(issue.location)) {
        return reader.wrong("location", "is `" + ellipsis(issue.location, 80) + "`, which names no place",
                            "write the field's name, and the parts of a place with one dot between: requirements.REQ-003");
    }
    if (issue.issue.empty()) { return reader.wrong("issue", "is missing or empty"); }
    AF_TRY(const std::string priority, reader.text("priority"));
    if (!priority.empty() && priority != must_word && priority != should_word) {
        return reader.wrong("priority", "is `" + ellipsis(priority, 40) + "`; it is must_address or should_consider");
    }
    issue.must_address = must.value_or(priority != should_word);
    return issue;
}

Result<void> read_list(const FeedbackReader& reader, std::string_view key, std::optional<bool> must,
                       std::vector<FeedbackIssue>& into) {
    const json::value* list = reader.object().if_contains(key);
    if (list == nullptr || list->is_null()) { return {}; }
    if (!list->is_array()) { return reader.wrong(key, "must be a list"); }
    for (std::size_t index = 0; index < list->get_array().size(); ++index) {
        AF_TRY(FeedbackIssue issue,
               read_issue(list->get_array()[index], reader.pointer() + "/" + std::string(key) + "/" + std::to_string(index), must,
                          reader.where()));
        into.push_back(std::move(issue));
    }
    return {};
}

Result<void> check_decision(const FeedbackReader& reader) {
    AF_TRY(const std::string decision, reader.text("decision"));
    if (decision.empty() || decision == "revise") { return {}; }
    return reader.wrong("decision", "is `" + ellipsis(decision, 40) + "`, but feedback asks for changes (`revise`)",
                        "remove it, or use the command of that decision, such as agentforge approve");
}

/// `waiting`: the version that waits for feedback. 0: unknown.
Result<void> check_version(const FeedbackReader& reader, unsigned waiting) {
    const std::string other = ", and version " + std::to_string(waiting) + " waits";
    const std::string remedy = "look at that version, then say what to change in it";
    AF_TRY(const std::string previous, reader.text("previous_version"));
    const auto version = version_in(previous);
    if (version && waiting != 0 && *version != std::to_string(waiting)) {
        return reader.wrong("previous_version", "names version " + *version + other, remedy);
    }
    // `iteration` may be the version that waits or, with `previous_version`, the one that the feedback asks for.
    const auto is_version = [waiting](const json::value& value, unsigned behind) {
        return value == json::value(static_cast<std::int64_t>(waiting + behind));
    };
    const json::value* const iteration = reader.object().if_contains("iteration");
    if (iteration == nullptr || waiting == 0 || is_version(*iteration, 0) || (version && is_version(*iteration, 1))) {
        return {};
    }
    return reader.wrong("iteration", "is " + ellipsis(json::serialize(*iteration), 40) + other, remedy);
}

}  // namespace

Result<Feedback> read_feedback(const YamlDocument& document, const FeedbackPlace& about) {
    const std::function<std::string(const std::string&)> where = [&document](const std::string& pointer) {
        return document.where(pointer);
    };
    const json::object* object = document.value.if_object();
    std::string pointer;
    if (object != nullptr && object->size() == 1 && object->begin()->key() == "feedback") {
        object = object->begin()->value().if_object();
        pointer = "/feedback";
    }
    if (object == nullptr) {
        return Error{"AF-ESC-064", "the feedback is not a map", document.where(pointer),
                     "write `overall_comments`, `specific_issues`, `must_address` or `should_consider`", ErrorKind::invalid};
    }
    const FeedbackReader reader(*object, pointer, where);
    AF_CHECK(reader.only({"overall_comments", "specific_issues", "must_address", "should_consider", "task_id", "stage",
                          "iteration", "previous_version", "decision", "timestamp", "decided_by"}));
    AF_CHECK(reader.about("task_id", about.task_id));
    AF_CHECK(reader.about("stage", about.stage));
    AF_CHECK(check_decision(reader));
    AF_CHECK(check_version(reader, about.iteration));
    Feedback feedback;
    AF_TRY(feedback.overall, reader.text("overall_comments"));
    AF_CHECK(read_list(reader, "specific_issues", std::nullopt, feedback.issues));
    AF_CHECK(read_list(reader, must_word, true, feedback.issues));
    AF_CHECK(read_list(reader, should_word, false, feedback.issues));
    if (feedback.empty()) {
        return Error{"AF-ESC-064", "the feedback is empty", document.source, "say what to change, or approve",
                     ErrorKind::invalid};
    }
    AF_CHECK(check_size(feedback));
    return feedback;
}

json::array to_json(const std::vector<FeedbackIssue>& issues) {
    json::array list;
    for (const FeedbackIssue& issue : issues) {
        json::object entry;
        if (!issue.location.empty()) { entry["location"] = issue.location; }
        entry["issue"] = issue.issue;
        if (!issue.suggestion.empty()) { entry["suggestion"] = issue.suggestion; }
        entry["priority"] = issue.must_address ? must_word : should_word;
        list.push_back(std::move(entry));
    }
    return list;
}

Result<std::vector<FeedbackIssue>> issues_from(const json::value& list,
                                               const std::function<std::string(const std::string&)>& where) {
    std::vector<FeedbackIssue> issues;
    if (!list.is_array()) {
        return Error{"AF-ESC-064", "the issues are not a list", where(""), "write `- {location: …, issue: \"…\"}`",
                     ErrorKind::invalid};
    }
    for (std::size_t index = 0; index < list.get_array().size(); ++index) {
        AF_TRY(FeedbackIssue issue, read_issue(list.get_array()[index], "/" + std::to_string(index), std::nullopt, where));
        issues.push_back(std::move(issue));
    }
    return issues;
}

std::string in_words(const FeedbackIssue& issue) {
    return (issue.location.empty() ? "" : issue.location + ": ") + issue.issue +
           (issue.suggestion.empty() ? "" : " (" + issue.suggestion + ")");
}

std::string in_words(const Feedback& feedback) {
    std::string text = feedback.overall;
    for (const bool must : {true, false}) {
        std::string list;
        for (const FeedbackIssue& issue : feedback.issues) {
            if (issue.must_address == must) { list += "\n- " + in_words(issue); }
        }
        if (!list.empty()) {
            text += (text.empty() ? "" : "\n") + std::string(must ? "Must be addressed:" : "Should be considered:") + list;
        }
    }
    return text;
}

Result<void> check_size(const Feedback& feedback) {
    const auto too_long = [](const std::string& what, std::size_t is, std::size_t most, const char* unit) {
        return Error{"AF-ESC-065",
                     what + " has " + std::to_string(is) + " " + unit + "; at most " + std::to_string(most) + " are allowed", "",
                     "shorten it: the model's context has little room besides the work itself", ErrorKind::invalid};
    };
    if (feedback.issues.size() > most_issues) { return too_long("the feedback", feedback.issues.size(), most_issues, "issues"); }
    std::size_t must = 0;
    for (const FeedbackIssue& issue : feedback.issues) { must += issue.must_address ? in_words(issue).size() : 0; }
    if (must > most_must_bytes) { return too_long("what must be addressed", must, most_must_bytes, "bytes"); }
    if (const std::size_t all = in_words(feedback).size(); all > most_feedback_bytes) {
        return too_long("the feedback", all, most_feedback_bytes, "bytes");
    }
    return {};
}

}  // namespace agentforge::kernel
