// SPDX-License-Identifier: Apache-2.0
#include "resolution.hpp"

#include <charconv>
#include <set>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace agentforge::escalation_file {
namespace {

constexpr unsigned max_depth = 32;
constexpr const char* remedy = "Correct the file; it was left as it is and is read again.";

std::string place(const std::string& file, const YAML::Mark& mark) {
    return mark.is_null() ? file : file + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

/// Carries an Error out of the recursion; never leaves this file.
struct Refused { Error error; };

[[noreturn]] void refuse(const std::string& what, const std::string& where) {
    throw Refused{{"AF-ESC-103", what, where, remedy, ErrorKind::invalid}};
}

json::value scalar(const YAML::Node& node) {
    const std::string text = node.Scalar();
    if (node.Tag() != "?" && !node.Tag().empty()) { return json::string(text); }      // Quoted or a block: a text.
    if (text == "true") { return true; }
    if (text == "false") { return false; }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text) { return number; }
    return json::string(text);      // Fractions too: a double need not survive the journal.
}

json::object mapping(const YAML::Node& node, const std::string& file, unsigned depth);

json::value convert(const YAML::Node& node, const std::string& file, unsigned depth) {
    if (depth > max_depth) { refuse("values are nested more than " + std::to_string(max_depth) + " deep", place(file, node.Mark())); }
    const std::string& tag = node.Tag();
    if (!tag.empty() && tag != "?" && tag != "!") { refuse("the tag '" + tag + "' has no meaning here", place(file, node.Mark())); }
    switch (node.Type()) {
    case YAML::NodeType::Scalar: return scalar(node);
    case YAML::NodeType::Sequence: {
        json::array list;
        for (const YAML::Node& item : node) { list.push_back(convert(item, file, depth + 1)); }
        return list;
    }
    case YAML::NodeType::Map: return mapping(node, file, depth);
    default: return nullptr;
    }
}

json::object mapping(const YAML::Node& node, const std::string& file, unsigned depth) {
    json::object object;
    for (const auto& pair : node) {
        if (!pair.first.IsScalar()) { refuse("a key must be a text", place(file, pair.first.Mark())); }
        const std::string key = pair.first.Scalar();
        if (object.contains(key)) { refuse("the key '" + key + "' stands twice", place(file, pair.first.Mark())); }
        object[key] = convert(pair.second, file, depth + 1);
    }
    return object;
}

/// Aliases are refused before anything is expanded: a small file must not become a large value.
class NoAliases : public YAML::EventHandler {
public:
    explicit NoAliases(const std::string& file) : file_(file) {}
    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) { refuse("there is a second document", place(file_, mark)); }
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse("aliases are not allowed here", place(file_, mark)); }
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}

private:
    const std::string& file_;
    unsigned documents_ = 0;
};

/// The top mapping, its keys held against `known`.
json::object read(std::string_view text, const std::string& file, const std::set<std::string, std::less<>>& known) {
    // yaml-cpp takes the end of the file for the end of a quoted text; an end mark makes it notice.
    std::istringstream events(std::string(text) + "\n...\n");
    YAML::Parser parser(events);
    NoAliases handler(file);
    while (parser.HandleNextDocument(handler)) {}
    const YAML::Node node = YAML::Load(std::string(text));
    if (!node.IsMap()) { refuse("it must be a mapping (`key: value`)", file); }
    for (const auto& pair : node) {
        const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : "?";
        if (known.contains(key)) { continue; }
        std::string names;
        for (const std::string& name : known) { names += (names.empty() ? "" : ", ") + name; }
        refuse("the key '" + key + "' is unknown; known are " + names, place(file, pair.first.Mark()));
    }
    return mapping(node, file, 0);
}

bool truth(const json::object& object, std::string_view key, const std::string& file) {
    const json::value& value = object.at(key);
    if (!value.is_bool()) { refuse("'" + std::string(key) + "' must be true or false", file); }
    return value.as_bool();
}

std::string text_of(const json::object& object, std::string_view key, const std::string& file) {
    const json::value& value = object.at(key);
    if (value.is_int64()) { return std::to_string(value.as_int64()); }     // `answer: 42` is a text too.
    if (value.is_bool()) { return value.as_bool() ? "true" : "false"; }
    if (!value.is_string()) { refuse("'" + std::string(key) + "' must be a text", file); }
    return std::string(value.as_string());
}

template <class T, class Read>
Result<T> guarded(const std::string& file, Read&& read_it) {
    try {
        return read_it();
    } catch (const Refused& refused) {
        return refused.error;
    } catch (const YAML::Exception& failure) {
        return Error{"AF-ESC-103", "it is not YAML: " + failure.msg, place(file, failure.mark), remedy, ErrorKind::invalid};
    }
}

}  // namespace

Result<Resolution> read_resolution(std::string_view text, const std::string& file) {
    return guarded<Resolution>(file, [&] {
        json::object object = read(text, file, {"abort", "answer", "context", "resolved_by"});
        Resolution resolution;
        if (object.contains("abort")) { resolution.abort = truth(object, "abort", file); }
        if (object.contains("context")) {
            json::value& context = object.at("context");
            if (!context.is_object() && !context.is_null()) { refuse("'context' must be a mapping", file); }
            if (context.is_object()) { resolution.context = std::move(context.as_object()); }
        }
        if (object.contains("answer")) {
            if (resolution.context.contains("answer")) { refuse("the answer stands twice: as 'answer' and in 'context'", file); }
            resolution.context["answer"] = text_of(object, "answer", file);
        }
        if (object.contains("resolved_by")) { resolution.resolved_by = text_of(object, "resolved_by", file); }
        if (!resolution.abort && resolution.context.empty()) { refuse("it gives no answer: 'answer', 'context' or 'abort: true' is needed", file); }
        return resolution;
    });
}

Result<Approval> read_approval(std::string_view text, const std::string& file, const std::string& shown_hash, bool action) {
    return guarded<Approval>(file, [&] {
        const json::object object = action ? read(text, file, {"approved", "artifact_hash", "decided_by", "edited", "feedback"}) : read(text, file, {"approved", "artifact_hash", "decided_by", "feedback"});
        if (!object.contains("approved")) { refuse("'approved' (true or false) is missing", file); }
        Approval approval;
        approval.approved = truth(object, "approved", file);
        approval.artifact_hash = shown_hash;
        if (object.contains("feedback") && !object.at("feedback").is_null()) { approval.feedback = text_of(object, "feedback", file); }
        if (approval.feedback && approval.approved && action) { refuse("'feedback' goes with 'approved: false'; a changed action is 'edited'", file); }
        if (const json::value* edited = object.if_contains("edited"); edited != nullptr && !edited->is_null()) {
            if (!edited->is_object() || !approval.approved) { refuse("'edited' must be a mapping, and goes with 'approved: true'", file); }
            approval.feedback = json::serialize(*edited);
        }
        if (object.contains("decided_by")) { approval.decided_by = text_of(object, "decided_by", file); }
        if (object.contains("artifact_hash")) {
            const std::string named = text_of(object, "artifact_hash", file);
            if (named != shown_hash) {
                throw Refused{{"AF-ESC-104", "it decides on the artifact " + named + ", but " + shown_hash + " was shown", file,
                               "Look at the artifact again and answer for its hash.", ErrorKind::conflict}};
            }
        }
        return approval;
    });
}

}  // namespace agentforge::escalation_file
