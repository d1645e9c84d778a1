// SPDX-License-Identifier: Apache-2.0
#include "escalation/escalation_store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "base/advice.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/plain_file.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view record_suffix = ".yaml";
constexpr std::string_view resolution_suffix = ".resolution.yaml";
constexpr std::string_view early_mark = ".early-";  ///< Part of the name of an answer that existed before its question.
constexpr std::string_view correct_record =
    "Correct the file, or remove it: `agentforge resume` writes it again if its task still waits for it";
constexpr std::string_view correct_answer =
    "Correct the file, or remove it and answer again; it was not changed and is read again";
constexpr std::size_t max_record_bytes = 16UL << 20U;
constexpr std::size_t max_resolution_bytes = 1UL << 20U;

bool is_id(std::string_view id) {
    return kind_of(id) && id.size() > prefix_length && id.size() <= 200 && std::all_of(id.begin(), id.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
           });
}

Result<void> check_id(std::string_view id, QuestionKind kind) {
    if (is_id(id) && kind_of(id) == kind) { return {}; }
    return Error{
        "AF-ESC-002",
        "`" + ellipsis(id, 100) + "` is not an id of the form " + std::string(prefix_of(kind)) + "<task>-<stage>-<number>",
        {},
        "List the ids with: agentforge escalations list",
        ErrorKind::invalid};
}

/// Checks the id of an approval, or of an action, which is stored like one.
Result<void> check_approval_id(std::string_view id) {
    return check_id(id, kind_of(id) == QuestionKind::action ? QuestionKind::action : QuestionKind::approval);
}

std::string make_id(QuestionKind kind, std::string_view task_id, std::string_view stage, std::uint64_t counter) {
    std::string id(prefix_of(kind));
    for (const char c : std::string(task_id) + "-" + std::string(stage)) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        id.push_back(plain ? c : '-');
    }
    return id.substr(0, 180) + "-" + std::to_string(counter);
}

/// Reads the fields of one file by name and type. Fields that were not requested are unknown.
class Fields {
public:
    Fields(const YamlDocument& document, std::string_view remedy) : document_(document), remedy_(remedy) {}

    [[nodiscard]] const json::object& object() const { return document_.value.get_object(); }
    [[nodiscard]] Error wrong(std::string_view key, const std::string& why) const {
        return Error{"AF-ESC-005", "`" + std::string(key) + "` " + why, document_.where("/" + std::string(key)),
                     std::string(remedy_), ErrorKind::invalid};
    }
    Result<std::string> text(std::string_view key, bool required) {
        const json::value* value = find(key);
        if (value == nullptr) { return required ? Result<std::string>(missing(key)) : Result<std::string>(std::string()); }
        // `answer: 42` and `answer: true` are texts to a person.
        if (value->is_string()) { return std::string(value->get_string()); }
        if (value->is_int64() || value->is_uint64() || value->is_bool()) { return to_json_line(*value); }
        return wrong(key, "must be a string (put it in quotes)");
    }
    Result<bool> truth(std::string_view key, bool required) {
        const json::value* value = find(key);
        if (value == nullptr) { return required ? Result<bool>(missing(key)) : Result<bool>(false); }
        if (value->is_bool()) { return value->get_bool(); }
        return wrong(key, "must be true or false");
    }
    Result<json::object> mapping(std::string_view key, bool required) {
        const json::value* value = find(key);
        if (value == nullptr) { return required ? Result<json::object>(missing(key)) : Result<json::object>(json::object()); }
        if (value->is_object()) { return value->get_object(); }
        return wrong(key, "must be a mapping (`key: value`)");
    }
    Result<std::vector<std::string>> texts(std::string_view key) {
        std::vector<std::string> list;
        const json::value* value = find(key);
        if (value == nullptr) { return list; }
        if (!value->is_array()) { return wrong(key, "must be a list of strings"); }
        for (const json::value& item : value->get_array()) {
            if (!item.is_string()) { return wrong(key, "must be a list of strings"); }
            list.emplace_back(item.get_string());
        }
        return list;
    }
    /// Null: there is none. The caller checks the type.
    const json::value* list(std::string_view key) { return find(key); }
    /// Call it after all fields were requested.
    [[nodiscard]] Result<void> no_others() const {
        for (const auto& [key, value] : object()) {
            if (std::find(asked_.begin(), asked_.end(), std::string_view(key)) != asked_.end()) { continue; }
            std::string known;
            for (const std::string& name : asked_) { known += (known.empty() ? "" : ", ") + name; }
            return Error{"AF-ESC-005", "The key `" + ellipsis(std::string_view(key), 80) + "` is unknown; known are " + known,
                         document_.where("/" + std::string(key)), std::string(remedy_), ErrorKind::invalid};
        }
        return {};
    }

private:
    const json::value* find(std::string_view key) {
        asked_.emplace_back(key);
        const json::value* value = object().if_contains(key);
        return value == nullptr || value->is_null() ? nullptr : value;
    }
    [[nodiscard]] Error missing(std::string_view key) const {
        return Error{"AF-ESC-005", "The key `" + std::string(key) + "` is missing", document_.source, std::string(remedy_),
                     ErrorKind::invalid};
    }
    const YamlDocument& document_;
    std::string_view remedy_;
    std::vector<std::string> asked_;
};

/// Reads a mapping. Empty if the file does not exist.
Result<std::optional<YamlDocument>> load(const std::filesystem::path& file, std::size_t max_bytes, std::string_view remedy) {
    struct stat st {};
    if (::lstat(file.c_str(), &st) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) { return std::optional<YamlDocument>(); }
        return Error{"AF-ESC-008", "Cannot inspect the file: " + errno_text(errno), file.string(),
                     "Check the folder's permissions", ErrorKind::io};
    }
    if (S_ISREG(st.st_mode) && st.st_nlink > 1) {
        return Error{"AF-ESC-005", "The file has hard links, so another process could change it under another name",
                     file.string(), std::string(remedy), ErrorKind::invalid};
    }
    if (!S_ISREG(st.st_mode) || static_cast<std::uint64_t>(st.st_size) > max_bytes) {
        return Error{"AF-ESC-005",
                     S_ISREG(st.st_mode) ? "The file has more than " + std::to_string(max_bytes) + " bytes"
                                         : std::string("It is not an ordinary file"),
                     file.string(), std::string(remedy), ErrorKind::invalid};
    }
    AF_TRY(const std::string text, read_plain_file(file.parent_path(), file.filename(), max_bytes));
    YamlLimits limits;
    limits.max_bytes = max_bytes;
    Result<YamlDocument> document = parse_yaml(text, file.string(), limits);
    if (!document.ok()) {
        return Error{"AF-ESC-005", document.error().code + ": " + document.error().message, document.error().where,
                     std::string(remedy), ErrorKind::invalid};
    }
    if (!document->value.is_object()) {
        return Error{"AF-ESC-005", "It must be a mapping (`key: value`)", file.string(), std::string(remedy), ErrorKind::invalid};
    }
    return std::optional<YamlDocument>(std::move(*document));
}

/// Reads the file with the answer to a question. Empty if there is none.
Result<std::optional<YamlDocument>> load_answer(const std::filesystem::path& directory, std::string_view id) {
    return load(directory / (std::string(id) + std::string(resolution_suffix)), max_resolution_bytes, correct_answer);
}

/// Converts doubles to text, because the journal may not preserve them.
void without_doubles(json::value& value) {
    if (value.is_double()) {
        value = to_json_line(value);
    } else if (json::object* object = value.if_object()) {
        for (auto& one : *object) { without_doubles(one.value()); }
    } else if (json::array* array = value.if_array()) {
        for (json::value& one : *array) { without_doubles(one); }
    }
}

Result<Resolution> read_resolution(const YamlDocument& document) {
    Fields fields(document, correct_answer);
    Resolution resolution;
    AF_TRY(resolution.abort, fields.truth("abort", false));
    AF_TRY(const std::string answer, fields.text("answer", false));
    AF_TRY(json::object context, fields.mapping("context", false));
    AF_TRY(resolution.resolved_by, fields.text("resolved_by", false));
    AF_CHECK(fields.no_others());
    for (const char* key : {"resolved_by", "resolved_at"}) {
        if (context.contains(key)) { return fields.wrong("context", "has `" + std::string(key) + "`, which AgentForge sets"); }
    }
    if (resolution.abort && (!answer.empty() || context.contains("answer"))) {
        return fields.wrong("answer", "cannot be combined with `abort: true`, which ends the task without using it");
    }
    if (!answer.empty()) {
        if (context.contains("answer") && context.at("answer") != json::value(answer)) {
            return fields.wrong("answer", "is also in `context`, with another value");
        }
        context["answer"] = answer;
    }
    json::value value = std::move(context);
    without_doubles(value);
    resolution.context = std::move(value.get_object());
    if (!resolution.abort && resolution.context.empty()) {
        return Error{"AF-ESC-005", "The answer is empty: it has no `answer`, `context` or `abort: true`", document.source,
                     std::string(correct_answer), ErrorKind::invalid};
    }
    return resolution;
}

Error other_artifact(std::string_view id, const std::string& given, const std::string& shown) {
    return Error{"AF-ESC-006",
                 "The decision on " + std::string(id) + " is for the artifact " + ellipsis(given, 80) + ", but " + shown +
                     " is the current one",
                 {},
                 "Look at the current artifact and decide again",
                 ErrorKind::conflict};
}

/// The decision of an answer that does not name one.
const char* implied_decision(const ArtifactDecision& given, bool approved, bool says_what) {
    if (!given.extend_to.empty()) { return "extend"; }
    if (approved) { return "approve"; }
    return says_what ? "revise" : "reject";
}

Result<ArtifactDecision> read_decision(const YamlDocument& document, const ApprovalRequest& request) {
    Fields fields(document, correct_answer);
    ArtifactDecision decision;
    AF_TRY(decision.decision, fields.text("decision", false));
    AF_TRY(const bool approved, fields.truth("approved", decision.decision.empty()));
    AF_TRY(decision.feedback, fields.text("feedback", false));
    AF_TRY(decision.extend_to, fields.text("extend_to", false));
    AF_TRY(decision.accept_stale, fields.text("accept_stale", false));
    AF_TRY(decision.artifact_hash, fields.text("artifact_hash", false));
    AF_TRY(decision.decided_by, fields.text("decided_by", false));
    const json::value* const issues = fields.list("issues");
    AF_CHECK(fields.no_others());
    if (issues != nullptr) {
        AF_TRY(decision.issues,
               issues_from(*issues, [&document](const std::string& pointer) { return document.where("/issues" + pointer); }));
    }
    const bool says_what = !decision.feedback.empty() || !decision.issues.empty();
    if (decision.decision.empty()) { decision.decision = implied_decision(decision, approved, says_what); }
    static constexpr std::string_view words[] = {"approve", "revise", "reject", "exit", "extend"};
    if (std::ranges::find(words, decision.decision) == std::end(words)) {
        return fields.wrong("decision",
                            "is `" + ellipsis(decision.decision, 40) + "`; it is approve, revise, reject, exit or extend");
    }
    if (document.value.get_object().contains("approved") && approved != decision.approved()) {
        return fields.wrong("approved", "contradicts the decision to " + decision.decision);
    }
    if (decision.approved() && !decision.feedback.empty()) {
        return fields.wrong("feedback",
                            "contradicts the decision to " + decision.decision + ": to have it changed, write `approved: false`");
    }
    if (decision.decision == "revise" && !says_what) { return fields.wrong("feedback", "is missing: say what to change"); }
    if (decision.decision != "revise" && !decision.issues.empty()) {
        return fields.wrong("issues", "need the decision to revise");
    }
    if (decision.decision != "extend" && !(decision.extend_to + decision.accept_stale).empty()) {
        return fields.wrong(decision.extend_to.empty() ? "accept_stale" : "extend_to", "needs the decision to extend");
    }
    AF_CHECK(check_size({decision.feedback, decision.issues}));
    if (decision.artifact_hash.empty()) { decision.artifact_hash = request.artifact_hash; }
    if (decision.artifact_hash != request.artifact_hash) {
        Error error = other_artifact(request.id, decision.artifact_hash, request.artifact_hash);
        error.where = document.where("/artifact_hash");
        return error;
    }
    return decision;
}

/// A record's own fields, then those of its deadline, if it has one.
json::object with_deadline(json::object fields, const AnswerDeadline& deadline) {
    if (deadline.time.empty()) { return fields; }
    fields["deadline"] = deadline.time;
    fields["at_deadline"] = deadline.then;
    if (!deadline.default_answer.empty()) { fields["default_answer"] = deadline.default_answer; }
    return fields;
}

Result<AnswerDeadline> read_deadline(Fields& fields) {
    AnswerDeadline deadline;
    AF_TRY(deadline.time, fields.text("deadline", false));
    AF_TRY(const std::string then, fields.text("at_deadline", false));
    AF_TRY(deadline.default_answer, fields.text("default_answer", false));
    if (!then.empty()) { deadline.then = then; }
    const auto wrong = [&fields](std::string_view key, const std::string& why) {
        Error error = fields.wrong(key, why);
        error.code = "AF-ESC-059";
        return error;
    };
    if (!deadline.time.empty() && !parse_time(deadline.time).ok()) {
        return wrong("deadline",
                     "is `" + ellipsis(deadline.time, 40) + "`, which is not a time such as 2026-01-02T15:30:00.000Z");
    }
    if (deadline.then != "pause" && deadline.then != "default" && deadline.then != "abort") {
        return wrong("at_deadline", "is `" + ellipsis(deadline.then, 40) + "`; it must be pause, default or abort");
    }
    return deadline;
}

Result<ActionDecision> read_action_decision(const YamlDocument& document, const ApprovalRequest& request) {
    Fields fields(document, correct_answer);
    ActionDecision decision;
    AF_TRY(decision.approved, fields.truth("approved", true));
    AF_TRY(const json::object edited, fields.mapping("edited", false));
    AF_TRY(decision.feedback, fields.text("feedback", false));
    AF_TRY(decision.action_hash, fields.text("artifact_hash", false));
    AF_TRY(decision.decided_by, fields.text("decided_by", false));
    AF_CHECK(fields.no_others());
    if (decision.approved && !decision.feedback.empty()) {
        return fields.wrong("feedback", "needs `approved: false`; a changed action is `edited`");
    }
    if (!decision.approved && !edited.empty()) { return fields.wrong("edited", "needs `approved: true`"); }
    if (!edited.empty()) { AF_TRY(decision.edited, changed_action(edited, request, document.where("/edited"))); }
    if (decision.action_hash.empty()) { decision.action_hash = request.artifact_hash; }
    if (decision.action_hash != request.artifact_hash) {
        Error error = other_artifact(request.id, decision.action_hash, request.artifact_hash);
        error.where = document.where("/artifact_hash");
        return error;
    }
    return decision;
}

/// Empty for an answer that decides nothing, such as one to a question.
std::string decision_in_words(const json::object& said, const std::string& decision) {
    const auto is = [&](std::string_view key, bool wanted) {
        const json::value* value = said.if_contains(key);
        return value != nullptr && value->is_bool() && value->get_bool() == wanted;
    };
    if (decision == "exit") { return "approved, as the last artifact"; }
    if (decision == "extend") { return "approved, with more stages"; }
    if (!decision.empty()) { return decision; }
    if (is("abort", true)) { return "end the task"; }
    if (is("approved", true)) { return said.contains("edited") ? "approved, changed" : "approved"; }
    return is("approved", false) ? "rejected" : "";
}

/// Describes the existing answer in one line.
std::string answer_in_words(const std::filesystem::path& file) {
    const auto document = load(file, max_resolution_bytes, correct_answer);
    if (!document.ok() || !*document) { return {}; }
    const json::object& said = (*document)->value.get_object();
    const auto text = [&](std::string_view key) {
        const json::value* value = said.if_contains(key);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    std::string words = decision_in_words(said, text("decision"));
    for (const std::string& more : {text("answer"), text("feedback")}) {
        if (!more.empty()) { words += (words.empty() ? "\"" : ": \"") + ellipsis(first_line(more), 200) + "\""; }
    }
    std::string who = text("resolved_by") + text("decided_by");
    return words + (who.empty() ? "" : " by " + ellipsis(first_line(who), 60));
}

bool is_text(const json::value& value) {
    if (const json::string* text = value.if_string()) { return is_valid_utf8(*text); }
    if (const json::object* object = value.if_object()) {
        return std::all_of(object->begin(), object->end(),
                           [](const auto& one) { return is_valid_utf8(one.key()) && is_text(one.value()); });
    }
    const json::array* array = value.if_array();
    return array == nullptr || std::all_of(array->begin(), array->end(), [](const json::value& one) { return is_text(one); });
}

Result<void> create_record(const std::filesystem::path& directory, const std::string& id, const std::string& text) {
    AF_CHECK(make_directories(directory));
    const std::filesystem::path file = directory / (id + std::string(record_suffix));
    Result<void> made = create_file_exclusive(file, text, Durability::synced);
    if (made.ok() || made.error().kind != ErrorKind::conflict) { return made; }
    const Result<std::string> there = read_file(file, max_record_bytes);
    if (there.ok() && *there == text) { return {}; }
    return Error{"AF-ESC-003", "Another record has the id " + id, file.string(),
                 "A recorded question is never changed; use the next number", ErrorKind::conflict};
}

std::filesystem::path resolution_file(const std::filesystem::path& directory, std::string_view id) {
    return directory / (std::string(id) + std::string(resolution_suffix));
}

/// Returns why no answer can be given any more: there is one already, or an invalid file is in its place.
Error already_answered(const EscalationStore& store, std::string_view id) {
    if (const auto usable = store.has_answer(id); !usable.ok()) { return usable.error(); }
    const std::filesystem::path file = resolution_file(store.directory(), id);
    const std::string words = answer_in_words(file);
    return Error{"AF-ESC-004", "There is already an answer to " + std::string(id) + (words.empty() ? "" : " (" + words + ")"),
                 file.string(), see_status, ErrorKind::conflict};
}

Result<void> create_resolution(const EscalationStore& store, std::string_view id, const json::object& fields) {
    if (!is_text(fields)) {
        return Error{
            "AF-ESC-048", "The answer to " + std::string(id) + " is not valid UTF-8", {}, "Give it in UTF-8", ErrorKind::invalid};
    }
    Result<void> made = create_file_exclusive(resolution_file(store.directory(), id), to_yaml(fields), Durability::synced);
    if (made.ok() || made.error().kind != ErrorKind::conflict) { return made; }
    return already_answered(store, id);
}

Error unknown(const std::filesystem::path& directory, std::string_view id) {
    std::vector<std::string> ids;
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
        if (const std::string name = it->path().stem().string(); is_id(name)) { ids.push_back(name); }
    }
    const std::string near = nearest(id, ids);
    return Error{"AF-ESC-001", "There is no " + std::string(id) + (near.empty() ? "" : "; did you mean " + near + "?"),
                 directory.string(), "List the ids with: agentforge escalations list", ErrorKind::not_found};
}

std::string argument_text(const json::value& value) {
    if (value.is_string()) { return std::string(value.get_string()); }
    return value.is_structured() ? to_yaml(value) : to_json_line(value);
}

}  // namespace

json::object action_of(const ApprovalRequest& request) {
    json::object action;
    for (const char* key : {"tool", "arguments"}) {
        if (const json::value* value = request.artifact.if_contains(key)) { action[key] = *value; }
    }
    return action;
}

std::string action_line(const json::object& shown) {
    const json::value* tool = shown.if_contains("tool");
    std::string line = tool != nullptr && tool->is_string() ? std::string(tool->get_string()) : std::string("?");
    const json::value* arguments = shown.if_contains("arguments");
    if (arguments == nullptr || !arguments->is_object()) { return line; }
    for (const auto& [name, value] : arguments->get_object()) {
        const std::string text = value.is_string() ? std::string(value.get_string()) : to_json_line(value);
        line +=
            " " + std::string(name) + "=" + ellipsis(first_line(text), 60) + (text.find('\n') == std::string::npos ? "" : "…");
    }
    return ellipsis(line, 300);
}

std::string action_text(const json::object& shown) {
    std::string text;
    for (const char* key : {"role", "stage", "tool"}) {
        if (const json::value* value = shown.if_contains(key); value != nullptr && value->is_string()) {
            text += std::string(key) + ": " + std::string(value->get_string()) + "\n";
        }
    }
    const json::value* arguments = shown.if_contains("arguments");
    if (arguments == nullptr || !arguments->is_object()) { return text; }
    for (const auto& [name, value] : arguments->get_object()) {
        std::string said = argument_text(value);
        while (said.ends_with('\n')) { said.pop_back(); }
        text += std::string(name) + ":";
        if (said.find('\n') == std::string::npos && !value.is_structured()) {
            text += " " + said + "\n";
            continue;
        }
        text += "\n    ";
        for (const char letter : said) {
            text += letter;
            if (letter == '\n') { text += "    "; }
        }
        text += "\n";
    }
    return text;
}

Result<json::object> changed_action(const json::object& given, const ApprovalRequest& request, const std::string& where) {
    const auto wrong = [&](const std::string& why) {
        return Error{
            "AF-ESC-032", "The changed action for " + request.id + " " + why, where,
            "Give `arguments: {…}` as `agentforge escalations show " + request.id + "` shows them, and `tool: …` if it changes",
            ErrorKind::invalid};
    };
    json::object action;
    for (const auto& [key, value] : given) {
        if (key != "tool" && key != "arguments") {
            return wrong("has the unknown key `" + ellipsis(std::string_view(key), 80) + "`");
        }
        action[key] = value;
    }
    const json::value* arguments = action.if_contains("arguments");
    if (arguments == nullptr || !arguments->is_object()) { return wrong("has no `arguments`"); }
    if (const json::value* tool = action.if_contains("tool"); tool == nullptr) {
        action["tool"] = request.artifact.contains("tool") ? request.artifact.at("tool") : json::value("");
    } else if (!tool->is_string() || tool->get_string().empty()) {
        return wrong("has a `tool` that is not a name");
    }
    return action;
}

Error EscalationStore::missing_question_error(std::string_view id, std::string_view task_id) const {
    return Error{"AF-ESC-001", "The file of " + std::string(id) + " is gone", directory_.string(),
                 "`agentforge resume " + short_id(task_id) + "` writes it again; look at it then, and decide",
                 ErrorKind::not_found};
}

EscalationStore::EscalationStore(std::filesystem::path agentforge_directory)
    : directory_(std::filesystem::absolute(agentforge_directory) / "escalations") {}

Result<std::optional<Error>> EscalationStore::discard_early_answer(std::string_view id) const {
    const std::filesystem::path answer = resolution_file(directory_, id);
    struct stat st {};
    const bool raised = ::lstat((directory_ / (std::string(id) + std::string(record_suffix))).c_str(), &st) == 0;
    if (!is_id(id) || raised || ::lstat(answer.c_str(), &st) != 0) { return std::optional<Error>(); }
    for (unsigned number = 1; number < 1000; ++number) {
        const std::filesystem::path renamed =
            directory_ / (std::string(id) + std::string(early_mark) + std::to_string(number) + std::string(record_suffix));
        if (::lstat(renamed.c_str(), &st) == 0) { continue; }
        std::error_code error;
        std::filesystem::rename(answer, renamed, error);
        if (error) {
            return Error{
                "AF-ESC-008",
                "Cannot set aside the answer to " + std::string(id) + ", which existed before its question: " + error.message(),
                answer.string(), "Remove it", ErrorKind::io};
        }
        return std::optional<Error>(
            Error{"AF-ESC-068", "An answer to " + std::string(id) + " existed before the question was asked; it does not count",
                  renamed.string(), "Look at the current item, and decide on that", ErrorKind::conflict});
    }
    return Error{"AF-ESC-008", "There are too many early answers to " + std::string(id), answer.string(), "Remove them",
                 ErrorKind::io};
}

std::string EscalationStore::escalation_id(std::string_view task_id, std::string_view stage, unsigned counter) {
    return make_id(QuestionKind::escalation, task_id, stage, counter);
}
std::string EscalationStore::approval_id(std::string_view task_id, std::string_view stage, unsigned counter) {
    return make_id(QuestionKind::approval, task_id, stage, counter);
}
std::string EscalationStore::action_id(std::string_view task_id, std::string_view stage, std::uint64_t counter) {
    return make_id(QuestionKind::action, task_id, stage, counter);
}

AnswerDeadline DeadlinePolicy::of(std::string_view created_at, const std::vector<std::string>& options, bool approval) const {
    AnswerDeadline deadline;
    const auto asked = parse_time(created_at);
    if (within.count() == 0 || !asked.ok()) { return deadline; }
    deadline.time = format_time(*asked + within);
    deadline.then = then == "default" && approval ? "pause" : then;
    if (deadline.then == "default") {
        deadline.default_answer = default_answer;
        if (default_answer.empty() && !options.empty()) { deadline.default_answer = options.front(); }
    }
    return deadline;
}

std::string question_text(const Escalation& escalation, const AnswerDeadline& deadline) {
    json::array options;
    for (const std::string& option : escalation.options) { options.emplace_back(option); }
    return to_yaml(with_deadline({{"id", escalation.id},
                                  {"task_id", escalation.task_id},
                                  {"stage", escalation.stage},
                                  {"issue", escalation.issue},
                                  {"question", escalation.question},
                                  {"options", options},
                                  {"context", escalation.context},
                                  {"created_at", escalation.created_at}},
                                 deadline));
}

std::string question_text(const ApprovalRequest& request, const AnswerDeadline& deadline) {
    return to_yaml(with_deadline({{"id", request.id},
                                  {"task_id", request.task_id},
                                  {"stage", request.stage},
                                  {"artifact", request.artifact},
                                  {"artifact_hash", request.artifact_hash},
                                  {"created_at", request.created_at}},
                                 deadline));
}

Result<void> EscalationStore::record(const Escalation& escalation, const AnswerDeadline& deadline) const {
    AF_CHECK(check_id(escalation.id, QuestionKind::escalation));
    return create_record(directory_, escalation.id, question_text(escalation, deadline));
}

Result<void> EscalationStore::record(const ApprovalRequest& request, const AnswerDeadline& deadline) const {
    AF_CHECK(check_approval_id(request.id));
    return create_record(directory_, request.id, question_text(request, deadline));
}

namespace {

Result<YamlDocument> load_record(const std::filesystem::path& directory, std::string_view id) {
    AF_TRY(std::optional<YamlDocument> document,
           load(directory / (std::string(id) + std::string(record_suffix)), max_record_bytes, correct_record));
    if (!document) { return unknown(directory, id); }
    return *std::move(document);
}

/// Reads what all records end with.
template <class Record>
Result<Record> read_to_end(Fields& fields, Record record, std::string_view id, const std::filesystem::path& directory) {
    AF_TRY(record.created_at, fields.text("created_at", true));
    AF_CHECK(read_deadline(fields));
    AF_CHECK(fields.no_others());
    if (record.id != id) { return fields.wrong("id", "is not the id in the file's name"); }
    record.directory = directory.string();
    return record;
}

}  // namespace

Result<Escalation> EscalationStore::escalation(std::string_view id) const {
    AF_CHECK(check_id(id, QuestionKind::escalation));
    AF_TRY(const YamlDocument document, load_record(directory_, id));
    Fields fields(document, correct_record);
    Escalation result;
    AF_TRY(result.id, fields.text("id", true));
    AF_TRY(result.task_id, fields.text("task_id", true));
    AF_TRY(result.stage, fields.text("stage", true));
    AF_TRY(result.issue, fields.text("issue", false));
    AF_TRY(result.question, fields.text("question", true));
    AF_TRY(result.options, fields.texts("options"));
    AF_TRY(result.context, fields.mapping("context", false));
    return read_to_end(fields, std::move(result), id, directory_);
}

Result<ApprovalRequest> EscalationStore::approval(std::string_view id) const {
    AF_CHECK(check_approval_id(id));
    AF_TRY(const YamlDocument document, load_record(directory_, id));
    Fields fields(document, correct_record);
    ApprovalRequest result;
    AF_TRY(result.id, fields.text("id", true));
    AF_TRY(result.task_id, fields.text("task_id", true));
    AF_TRY(result.stage, fields.text("stage", true));
    AF_TRY(result.artifact, fields.mapping("artifact", true));
    AF_TRY(result.artifact_hash, fields.text("artifact_hash", true));
    return read_to_end(fields, std::move(result), id, directory_);
}

Result<PendingItem> EscalationStore::item(std::string_view id) const {
    const auto kind = kind_of(id);
    if (kind == QuestionKind::escalation) {
        AF_TRY(const Escalation asked, escalation(id));
        return PendingItem{*kind, asked.id, asked.task_id, asked.stage, asked.question, {}, asked.created_at};
    }
    AF_TRY(const ApprovalRequest asked, approval(id));
    const std::string question = kind == QuestionKind::action ? action_line(asked.artifact) : std::string();
    return PendingItem{*kind, asked.id, asked.task_id, asked.stage, question, asked.artifact_hash, asked.created_at};
}

Result<AnswerDeadline> EscalationStore::answer_deadline(std::string_view id) const {
    if (!is_id(id)) { AF_CHECK(check_id(id, QuestionKind::escalation)); }
    AF_TRY(const YamlDocument document, load_record(directory_, id));
    Fields fields(document, correct_record);
    return read_deadline(fields);
}

Result<std::optional<Resolution>> EscalationStore::resolution(std::string_view id) const {
    AF_TRY(const Escalation asked, escalation(id));
    AF_TRY(const std::optional<YamlDocument> document, load_answer(directory_, asked.id));
    if (!document) { return std::optional<Resolution>(); }
    AF_TRY(Resolution answer, read_resolution(*document));
    return std::optional<Resolution>(std::move(answer));
}

Result<std::optional<Approval>> EscalationStore::decision(std::string_view id) const {
    AF_TRY(const ApprovalRequest asked, approval(id));
    AF_TRY(const std::optional<YamlDocument> document, load_answer(directory_, asked.id));
    if (!document) { return std::optional<Approval>(); }
    AF_TRY(const ArtifactDecision answer, read_decision(*document, asked));
    Approval approval;
    approval.approved = answer.approved();
    const std::string said = in_words(Feedback{answer.feedback, answer.issues});
    if (!said.empty()) { approval.feedback = said; }
    approval.artifact_hash = answer.artifact_hash;
    approval.decided_by = answer.decided_by;
    return std::optional<Approval>(std::move(approval));
}

Result<std::optional<ArtifactDecision>> EscalationStore::artifact_decision(std::string_view id) const {
    AF_CHECK(check_id(id, QuestionKind::approval));
    AF_TRY(const ApprovalRequest asked, approval(id));
    AF_TRY(const std::optional<YamlDocument> document, load_answer(directory_, asked.id));
    if (!document) { return std::optional<ArtifactDecision>(); }
    AF_TRY(ArtifactDecision decision, read_decision(*document, asked));
    return std::optional<ArtifactDecision>(std::move(decision));
}

Result<std::optional<ActionDecision>> EscalationStore::action_decision(std::string_view id) const {
    AF_CHECK(check_id(id, QuestionKind::action));
    AF_TRY(const ApprovalRequest asked, approval(id));
    AF_TRY(const std::optional<YamlDocument> document, load_answer(directory_, asked.id));
    if (!document) { return std::optional<ActionDecision>(); }
    AF_TRY(ActionDecision decision, read_action_decision(*document, asked));
    return std::optional<ActionDecision>(std::move(decision));
}

Result<bool> EscalationStore::has_answer(std::string_view id) const {
    const auto there = [](const auto& answer) { return answer.ok() ? Result<bool>(answer->has_value()) : answer.error(); };
    switch (kind_of(id).value_or(QuestionKind::approval)) {
        case QuestionKind::escalation:
            return there(resolution(id));
        case QuestionKind::approval:
            return there(artifact_decision(id));
        case QuestionKind::action:
            return there(action_decision(id));
    }
    return false;
}

std::optional<AnswerVersion> EscalationStore::answer_version(std::string_view id) const {
    struct stat st {};
    if (!is_id(id) || ::lstat(resolution_file(directory_, id).c_str(), &st) != 0 || st.st_size == 0) { return std::nullopt; }
    return AnswerVersion{static_cast<std::int64_t>(st.st_mtim.tv_sec) * 1'000'000'000 + st.st_mtim.tv_nsec, st.st_size};
}

AnsweredQuestions::AnsweredQuestions(std::vector<std::string> ids) : names_(std::move(ids)) {
    for (std::string& id : names_) { id.erase(0, prefix_length); }
    std::ranges::sort(names_);
}

bool AnsweredQuestions::contains(std::string_view id) const {
    return id.size() > prefix_length && std::ranges::binary_search(names_, id.substr(prefix_length));
}

bool AnsweredQuestions::has_any_of_task(std::string_view task_id) const {
    const std::string_view own = task_id;
    const auto first = std::ranges::lower_bound(names_, own);
    return first != names_.end() && first->starts_with(own);
}

AnsweredQuestions EscalationStore::answered() const {
    std::vector<std::string> ids;
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
        std::string name = it->path().filename().string();
        if (!name.ends_with(resolution_suffix)) { continue; }
        name.resize(name.size() - resolution_suffix.size());
        if (is_id(name)) { ids.push_back(std::move(name)); }
    }
    return AnsweredQuestions(std::move(ids));
}

Result<void> EscalationStore::check_unanswered(std::string_view id) const {
    if (!answer_version(id)) { return {}; }
    return already_answered(*this, id);
}

Result<void> EscalationStore::resolve(std::string_view id, const Resolution& resolution) const {
    AF_TRY(const Escalation asked, escalation(id));
    if (!resolution.abort && resolution.context.empty()) {
        return Error{"AF-ESC-007", "The answer to " + asked.id + " is empty", {}, "Give an answer, or abort", ErrorKind::invalid};
    }
    json::object fields{{"abort", resolution.abort}};
    json::object context = resolution.context;
    if (const json::value* answer = context.if_contains("answer");
        answer != nullptr && answer->is_string() && !answer->get_string().empty()) {
        fields["answer"] = *answer;
        context.erase("answer");
    }
    if (!context.empty()) { fields["context"] = context; }
    fields["resolved_by"] = resolution.resolved_by;
    return create_resolution(*this, id, fields);
}

Result<void> EscalationStore::decide_action(std::string_view id, const ActionDecision& decision) const {
    AF_CHECK(check_id(id, QuestionKind::action));
    AF_TRY(const ApprovalRequest asked, this->approval(id));
    if (decision.action_hash != asked.artifact_hash) { return other_artifact(id, decision.action_hash, asked.artifact_hash); }
    json::object fields{{"approved", decision.approved}};
    if (decision.edited) { AF_TRY(fields["edited"], changed_action(*decision.edited, asked)); }
    if (!decision.feedback.empty()) { fields["feedback"] = decision.feedback; }
    fields["artifact_hash"] = decision.action_hash;
    fields["decided_by"] = decision.decided_by;
    return create_resolution(*this, id, fields);
}

Result<void> EscalationStore::decide(std::string_view id, const Approval& approval) const {
    if (kind_of(id) == QuestionKind::action) {
        return decide_action(
            id, {approval.approved, {}, approval.feedback.value_or(""), approval.artifact_hash, approval.decided_by});
    }
    ArtifactDecision decision;
    decision.feedback = approval.feedback.value_or("");
    decision.decision = implied_decision(decision, approval.approved, !decision.feedback.empty());
    decision.artifact_hash = approval.artifact_hash;
    decision.decided_by = approval.decided_by;
    return decide_artifact(id, decision);
}

Result<void> EscalationStore::decide_artifact(std::string_view id, const ArtifactDecision& decision) const {
    AF_CHECK(check_id(id, QuestionKind::approval));
    AF_TRY(const ApprovalRequest asked, this->approval(id));
    if (decision.artifact_hash != asked.artifact_hash) { return other_artifact(id, decision.artifact_hash, asked.artifact_hash); }
    AF_CHECK(check_size({decision.feedback, decision.issues}));
    if (decision.approved() && !decision.feedback.empty()) {
        return Error{"AF-ESC-069",
                     "The decision on " + std::string(id) + " both approves and asks for a change: \"" +
                         ellipsis(first_line(decision.feedback), 100) + "\"",
                     {},
                     "Approve it, or say what to change, not both",
                     ErrorKind::invalid};
    }
    json::object fields{{"approved", decision.approved()}};
    // Adds nothing to what the two old fields say, because older readers know only these.
    const bool plain = decision.decision == "approve" || decision.decision == "revise" ||
                       (decision.decision == "reject" && decision.feedback.empty());
    if (!plain) { fields["decision"] = decision.decision; }
    if (!decision.feedback.empty()) { fields["feedback"] = decision.feedback; }
    if (!decision.issues.empty()) { fields["issues"] = to_json(decision.issues); }
    if (!decision.extend_to.empty()) { fields["extend_to"] = decision.extend_to; }
    if (!decision.accept_stale.empty()) { fields["accept_stale"] = decision.accept_stale; }
    fields["artifact_hash"] = decision.artifact_hash;
    fields["decided_by"] = decision.decided_by;
    return create_resolution(*this, id, fields);
}

Result<PendingList> EscalationStore::pending(const std::optional<std::string>& task_id) const {
    PendingList list;
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        // A folder belongs to a handler, such as its inbox.
        if (!it->is_directory(ignored)) { names.push_back(it->path().filename().string()); }
    }
    if (error == std::errc::no_such_file_or_directory) { return list; }
    if (error) {
        return Error{"AF-ESC-008", "Cannot list the folder: " + error.message(), directory_.string(),
                     "Check the folder's permissions", ErrorKind::io};
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
        if (name.starts_with(".")) { continue; }  // Being written.
        if (const auto mark = name.find(early_mark); mark != std::string::npos && is_id(name.substr(0, mark))) { continue; }
        const bool answer = name.ends_with(resolution_suffix);
        const std::string_view suffix = answer ? resolution_suffix : record_suffix;
        const std::string id = name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : std::string();
        if (!is_id(id) || (answer && !std::binary_search(names.begin(), names.end(), id + std::string(record_suffix)))) {
            list.problems.push_back({"AF-ESC-009",
                                     answer && is_id(id) ? "An answer to a question that does not exist"
                                                         : "A file that is neither a question nor an answer",
                                     (directory_ / name).string(), "Correct its name, or remove it", ErrorKind::invalid});
            continue;
        }
        if (answer) { continue; }
        Result<PendingItem> asked = item(id);
        if (!asked.ok()) {
            list.problems.push_back(asked.error());
            continue;
        }
        if (task_id && asked->task_id != *task_id) { continue; }
        const Result<bool> answered = has_answer(id);
        if (!answered.ok()) { list.problems.push_back(answered.error()); }
        // An unreadable answer leaves the question open.
        if (!answered.ok() || !*answered) { list.items.push_back(std::move(*asked)); }
    }
    std::stable_sort(list.items.begin(), list.items.end(),
                     [](const PendingItem& a, const PendingItem& b) { return a.created_at < b.created_at; });
    return list;
}

}  // namespace agentforge::kernel
