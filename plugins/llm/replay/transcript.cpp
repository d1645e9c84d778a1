// SPDX-License-Identifier: Apache-2.0
#include "transcript.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace replay {

using agentforge::Error;
using agentforge::ErrorKind;
using agentforge::Result;
namespace json = agentforge::json;

namespace {

constexpr std::size_t most_bytes = 64UL << 20U;
constexpr unsigned deepest = 100;

/// Thrown only inside this file; `parse` converts it to an Error.
struct Fault {
    int line;
    std::string message;
};

[[noreturn]] void fail(const YAML::Node& node, std::string message) { throw Fault{node.Mark().line + 1, std::move(message)}; }

bool is_quoted(const YAML::Node& node) { return node.Tag() == "!"; }

/// Returns the fields of a mapping. Each must be known and occur once.
std::map<std::string, YAML::Node> fields_of(const YAML::Node& node, const std::string& what, const std::set<std::string>& known) {
    if (!node.IsMap()) { fail(node, what + " is not a mapping"); }
    std::map<std::string, YAML::Node> fields;
    for (const auto& item : node) {
        if (!item.first.IsScalar()) { fail(item.first, what + " has a key that is not text"); }
        const std::string& key = item.first.Scalar();
        if (!known.empty() && !known.contains(key)) {
            std::string names;
            for (const std::string& name : known) { names += (names.empty() ? "" : ", ") + name; }
            fail(item.first, "unknown field '" + key + "' in " + what + "; known are " + names);
        }
        if (!fields.emplace(key, item.second).second) { fail(item.first, "the field '" + key + "' appears twice in " + what); }
    }
    return fields;
}

std::optional<std::int64_t> whole_number(const std::string& text) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && after == end && !text.empty() ? std::optional(value) : std::nullopt;
}

std::uint64_t count_of(const YAML::Node& node, const std::string& what, std::int64_t smallest, std::int64_t largest) {
    const auto value = node.IsScalar() && !is_quoted(node) ? whole_number(node.Scalar()) : std::nullopt;
    if (!value || *value < smallest || *value > largest) {
        fail(node, what + " is not a whole number from " + std::to_string(smallest) + " to " + std::to_string(largest));
    }
    return static_cast<std::uint64_t>(*value);
}

json::value scalar_of(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    if (is_quoted(node)) { return json::value(text); }
    if (text == "true") { return json::value(true); }
    if (text == "false") { return json::value(false); }
    if (text == "null" || text == "~" || text.empty()) { return json::value(nullptr); }
    const std::string_view digits = std::string_view(text).substr(text.front() == '-' ? 1 : 0);
    const bool octal_like = digits.size() > 1 && digits[0] == '0' && digits[1] != '.' && digits[1] != 'e';
    if (!octal_like) {
        if (const auto number = whole_number(text)) { return json::value(*number); }
        double value = 0;
        const char* end = text.data() + text.size();
        const auto [after, error] = std::from_chars(text.data(), end, value);
        const bool decimal = !digits.empty() && digits[0] >= '0' && digits[0] <= '9';
        if (error == std::errc() && after == end && decimal) { return json::value(value); }
    }
    return json::value(text);
}

json::value value_of(const YAML::Node& node, unsigned depth = 0) {
    if (depth > deepest) { fail(node, "values lie deeper than " + std::to_string(deepest) + " levels"); }
    if (node.IsNull()) { return json::value(nullptr); }
    if (node.IsScalar()) { return scalar_of(node); }
    if (node.IsSequence()) {
        json::array result;
        for (const YAML::Node& item : node) { result.push_back(value_of(item, depth + 1)); }
        return result;
    }
    json::object result;
    for (const auto& item : node) {
        if (!item.first.IsScalar()) { fail(item.first, "a key is not text"); }
        if (result.contains(item.first.Scalar())) { fail(item.first, "the field '" + item.first.Scalar() + "' appears twice"); }
        result[item.first.Scalar()] = value_of(item.second, depth + 1);
    }
    return result;
}

std::string text_of(const YAML::Node& node, const std::string& what) {
    if (!node.IsScalar() || !scalar_of(node).is_string()) { fail(node, what + " is not text; put it in quotes or in a block"); }
    return node.Scalar();
}

bool flag_of(const YAML::Node& node, const std::string& what) {
    const json::value value = node.IsScalar() ? scalar_of(node) : json::value();
    if (!value.is_bool()) { fail(node, what + " is neither true nor false"); }
    return value.get_bool();
}

agentforge::StopReason stop_reason_of(const YAML::Node& node) {
    using agentforge::StopReason;
    const std::string name = text_of(node, "stop_reason");
    if (name == "finished") { return StopReason::finished; }
    if (name == "tool_call") { return StopReason::tool_call; }
    if (name == "length") { return StopReason::length; }
    if (name == "refused") { return StopReason::refused; }
    if (name == "other") { return StopReason::other; }
    fail(node, "stop_reason must be finished, tool_call, length, refused or other");
}

std::string& part_of(Error& error, std::string_view name) {
    if (name == "code") { return error.code; }
    if (name == "message") { return error.message; }
    return name == "where" ? error.where : error.remedy;
}

Error error_of(const YAML::Node& node, const std::string& what) {
    const auto parts = fields_of(node, what, {"code", "message", "where", "remedy"});
    for (const char* name : {"code", "message"}) {
        if (!parts.contains(name)) { fail(node, what + " has no " + name); }
    }
    Error error;
    error.kind = ErrorKind::invalid;
    for (const auto& [name, value] : parts) { part_of(error, name) = text_of(value, name); }
    return error;
}

WorkFile::Kind kind_of_content(std::string_view name) {
    if (name == "text") { return WorkFile::Kind::text; }
    return name == "base64" ? WorkFile::Kind::base64 : WorkFile::Kind::link;
}

WorkFile file_of(const YAML::Node& node, bool with_path) {
    std::set<std::string> known{"text", "base64", "link", "folder", "deleted", "executable"};
    if (with_path) {
        known.insert("path");
    } else {
        known.erase("deleted");
    }
    const std::string what = with_path ? "a change" : "the artifact";
    const auto fields = fields_of(node, what, known);
    WorkFile file;
    unsigned kinds = 0;
    for (const auto& [name, value] : fields) {
        if (name == "path") {
            file.path = text_of(value, name);
            if (!stays_inside(file.path)) {
                fail(value, "the path '" + file.path + "' is absolute, empty or leads out of the workspace");
            }
        } else if (name == "executable") {
            file.executable = flag_of(value, name);
        } else {
            ++kinds;
            if (name == "text" || name == "base64" || name == "link") {
                file.kind = kind_of_content(name);
                file.content = text_of(value, name);
            } else {
                if (!flag_of(value, name)) { fail(value, name + " is not true"); }
                file.kind = name == "folder" ? WorkFile::Kind::folder : WorkFile::Kind::deleted;
            }
        }
    }
    if (with_path && file.path.empty()) { fail(node, "the change has no path"); }
    if (kinds != 1) {
        fail(node, what + " needs one of text, base64, link" + (with_path ? ", folder and deleted" : " and folder") +
                       ", and has " + std::to_string(kinds));
    }
    if (file.executable && file.kind != WorkFile::Kind::text && file.kind != WorkFile::Kind::base64) {
        fail(node, "`executable` is set, but the entry is not a file");
    }
    return file;
}

Work work_of(const YAML::Node& node) {
    const auto fields = fields_of(node, "workspace", {"changes", "artifact"});
    Work work;
    const auto changes = fields.find("changes");
    if (changes == fields.end() || !changes->second.IsSequence()) { fail(node, "workspace has no list `changes`"); }
    for (const YAML::Node& change : changes->second) { work.changes.push_back(file_of(change, true)); }
    if (const auto artifact = fields.find("artifact"); artifact != fields.end()) {
        work.artifact = file_of(artifact->second, false);
    }
    return work;
}

/// The fields of an entry by their names.
class EntryFields {
public:
    explicit EntryFields(const YAML::Node& node) : fields_(fields_of(node, "an entry", known())) {}

    /// Null if the entry lacks it.
    [[nodiscard]] const YAML::Node* find(const char* name) const {
        const auto found = fields_.find(name);
        return found == fields_.end() ? nullptr : &found->second;
    }
    void read_text(const char* name, std::string& into) const {
        if (const auto* value = find(name)) { into = text_of(*value, name); }
    }
    void read_count(const char* name, unsigned& into) const {
        constexpr std::int64_t most = 1'000'000;
        if (const auto* value = find(name)) { into = static_cast<unsigned>(count_of(*value, name, 1, most)); }
    }

private:
    static const std::set<std::string>& known() {
        static const std::set<std::string> names{
            "stage",      "role",  "visit",       "run",        "step",  "frame_hash",  "context_hash", "text",           "usage",
            "tool_calls", "model", "stop_reason", "session_id", "error", "diagnostics", "workspace",    "failed_attempts"};
        return names;
    }

    std::map<std::string, YAML::Node> fields_;
};

agentforge::RequestPlace place_of(const YAML::Node& node, const EntryFields& fields) {
    for (const char* name : {"stage", "step"}) {
        if (fields.find(name) == nullptr) { fail(node, std::string("the entry has no ") + name); }
    }
    agentforge::RequestPlace place;
    fields.read_text("stage", place.stage);
    fields.read_count("step", place.step);
    fields.read_count("visit", place.visit);
    fields.read_count("run", place.run);
    fields.read_text("role", place.role);
    return place;
}

std::vector<Error> failed_attempts_of(const YAML::Node& attempts) {
    if (!attempts.IsSequence()) { fail(attempts, "failed_attempts is not a list"); }
    std::vector<Error> errors;
    for (const YAML::Node& attempt : attempts) {
        errors.push_back(error_of(attempt, "a failed attempt"));
        errors.back().kind = ErrorKind::transient;
    }
    return errors;
}

void refuse_answer_beside_error(const EntryFields& fields) {
    for (const char* name : {"text", "tool_calls", "usage", "stop_reason", "model", "session_id", "diagnostics", "workspace"}) {
        if (const auto* other = fields.find(name)) { fail(*other, std::string(name) + " cannot appear together with error"); }
    }
}

agentforge::ToolCall tool_call_of(const YAML::Node& call) {
    const auto parts = fields_of(call, "a tool call", {"name", "arguments"});
    const auto name = parts.find("name");
    if (name == parts.end()) { fail(call, "the tool call has no name"); }
    agentforge::ToolCall result;
    result.name = text_of(name->second, "name");
    if (const auto arguments = parts.find("arguments"); arguments != parts.end()) {
        json::value value = value_of(arguments->second);
        if (!value.is_object()) { fail(arguments->second, "arguments is not a mapping"); }
        result.arguments = std::move(value.get_object());
    }
    return result;
}

void read_tool_calls(const YAML::Node& calls, agentforge::Completion& answer) {
    if (!calls.IsSequence()) { fail(calls, "tool_calls is not a list"); }
    for (const YAML::Node& call : calls) { answer.tool_calls.push_back(tool_call_of(call)); }
    if (!answer.tool_calls.empty()) { answer.stop_reason = agentforge::StopReason::tool_call; }
}

void read_usage(const YAML::Node& usage, agentforge::Usage& counts) {
    constexpr std::int64_t most_tokens = 1'000'000'000;
    constexpr std::int64_t most_cost = 1'000'000'000'000;
    const auto parts =
        fields_of(usage, "usage", {"input_tokens", "output_tokens", "cached_input_tokens", "cost_microusd", "estimated"});
    for (const auto& [name, value] : parts) {
        if (name == "input_tokens") {
            counts.input_tokens = count_of(value, name, 0, most_tokens);
        } else if (name == "output_tokens") {
            counts.output_tokens = count_of(value, name, 0, most_tokens);
        } else if (name == "cached_input_tokens") {
            counts.cached_input_tokens = count_of(value, name, 0, most_tokens);
        } else if (name == "cost_microusd") {
            counts.cost_microusd = count_of(value, name, 0, most_cost);
        } else {
            counts.estimated = flag_of(value, name);
        }
    }
}

json::object diagnostics_of(const YAML::Node& node) {
    json::value read = value_of(node);
    if (!read.is_object()) { fail(node, "diagnostics is not a mapping"); }
    return std::move(read.get_object());
}

agentforge::Completion answer_of(const YAML::Node& node, const EntryFields& fields) {
    if (fields.find("text") == nullptr && fields.find("tool_calls") == nullptr) {
        fail(node, "the entry has neither text nor tool_calls");
    }
    agentforge::Completion answer;
    fields.read_text("text", answer.text);
    if (const auto* calls = fields.find("tool_calls")) { read_tool_calls(*calls, answer); }
    if (const auto* usage = fields.find("usage")) { read_usage(*usage, answer.usage); }
    if (const auto* value = fields.find("stop_reason")) { answer.stop_reason = stop_reason_of(*value); }
    answer.model = "replay";
    fields.read_text("model", answer.model);
    if (const auto* value = fields.find("session_id")) { answer.session_id = text_of(*value, "session_id"); }
    if (const auto* value = fields.find("diagnostics")) { answer.diagnostics = diagnostics_of(*value); }
    return answer;
}

Entry entry_of(const YAML::Node& node) {
    const EntryFields fields(node);
    Entry entry;
    entry.line = static_cast<unsigned>(node.Mark().line) + 1;
    entry.place = place_of(node, fields);
    fields.read_text("frame_hash", entry.frame_hash);
    fields.read_text("context_hash", entry.context_hash);
    if (const auto* attempts = fields.find("failed_attempts")) { entry.failed_attempts = failed_attempts_of(*attempts); }
    if (const auto* error = fields.find("error")) {
        refuse_answer_beside_error(fields);
        entry.error = error_of(*error, "the error");
        return entry;
    }
    entry.answer = answer_of(node, fields);
    if (const auto* value = fields.find("workspace")) { entry.work = work_of(*value); }
    return entry;
}

/// Aliases and tags make a file ambiguous to its reader (and a small file large), so a transcript may have neither.
void refuse_what_yaml_hides(const std::string& text) {
    class Check final : public YAML::EventHandler {
    public:
        void OnDocumentStart(const YAML::Mark&) override {}
        void OnDocumentEnd() override {}
        void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { look(mark, "", anchor); }
        void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
            throw Fault{mark.line + 1, "aliases are not allowed; write the value out"};
        }
        void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string&) override {
            look(mark, tag, anchor);
        }
        void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                             YAML::EmitterStyle::value) override {
            look(mark, tag, anchor);
        }
        void OnSequenceEnd() override {}
        void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                        YAML::EmitterStyle::value) override {
            look(mark, tag, anchor);
        }
        void OnMapEnd() override {}

    private:
        static void look(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
            if (anchor != YAML::NullAnchor) {
                throw Fault{mark.line + 1, "anchors are not allowed; write the value out in each place"};
            }
            if (!tag.empty() && tag != "?" && tag != "!") { throw Fault{mark.line + 1, "tags are not allowed: " + tag}; }
        }
    };
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Check check;
    if (!parser.HandleNextDocument(check)) { throw Fault{1, "the file is empty"}; }
    if (parser.HandleNextDocument(check)) { throw Fault{1, "the file contains more than one document"}; }
}

}  // namespace

Result<Transcript> Transcript::load(const std::string& path) {
    const auto refused = [&path](const std::string& why) {
        return Error{"AF-LLM-205", "the transcript cannot be read" + why, path,
                     "Set `transcript` of the replay backend to a recorded file.", ErrorKind::not_found};
    };
    // Reading a pipe would block, and a device has no end. The file is also read again when the task resumes.
    std::error_code unknown;
    if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown)) {
        return refused(": it is not a regular file");
    }
    std::ifstream file(path, std::ios::binary);
    if (!file) { return refused(""); }
    const auto size = std::filesystem::file_size(path, unknown);
    std::string text(unknown ? 0 : std::min<std::uintmax_t>(size, most_bytes + 1), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file.bad()) { return refused(""); }
    return parse(text, path);
}

Result<Transcript> Transcript::parse(const std::string& text, const std::string& path) {
    const auto error = [&path](int line, std::string message) {
        return Error{"AF-LLM-204", "the transcript is not valid: " + std::move(message), path + ":" + std::to_string(line),
                     "Fix the line, or record again.", ErrorKind::invalid};
    };
    if (text.size() > most_bytes) {
        return error(1, "it has " + std::to_string(text.size()) + " bytes; the limit is " + std::to_string(most_bytes));
    }
    try {
        refuse_what_yaml_hides(text);
        const YAML::Node root = YAML::Load(text);
        const auto fields = fields_of(root, "the transcript", {"agentforge_transcript", "text_protocol", "entries"});
        const auto version = fields.find("agentforge_transcript");
        if (version == fields.end()) { fail(root, "`agentforge_transcript: 1` is missing"); }
        if (!version->second.IsScalar() || version->second.Scalar() != "1") {
            fail(version->second, "its version is not 1, the only one this reader knows");
        }
        const auto entries = fields.find("entries");
        if (entries == fields.end()) { fail(root, "`entries` is missing"); }
        if (!entries->second.IsSequence()) { fail(entries->second, "`entries` is not a list"); }
        Transcript transcript;
        transcript.path_ = path;
        if (const auto roles = fields.find("text_protocol"); roles != fields.end()) {
            if (!roles->second.IsSequence()) { fail(roles->second, "text_protocol is not a list of roles"); }
            for (const YAML::Node& role : roles->second) {
                transcript.text_protocol_.insert(text_of(role, "a role of text_protocol"));
            }
        }
        for (const YAML::Node& node : entries->second) {
            Entry entry = entry_of(node);
            const auto& place = entry.place;
            if (std::find(transcript.stages_.begin(), transcript.stages_.end(), place.stage) == transcript.stages_.end()) {
                transcript.stages_.push_back(place.stage);
            }
            const Key key{place.stage, place.visit, place.run, place.role, place.step};
            const auto found = transcript.entries_.find(key);
            if (found != transcript.entries_.end()) {
                fail(node, "the place of line " + std::to_string(found->second.line) + " is answered a second time");
            }
            transcript.entries_.emplace(key, std::move(entry));
        }
        return transcript;
    } catch (const Fault& fault) { return error(fault.line, fault.message); } catch (const YAML::Exception& failure) {
        return error(failure.mark.line + 1, failure.msg);
    } catch (const std::exception& failure) { return error(1, failure.what()); }
}

const Entry* Transcript::find(const agentforge::RequestPlace& place) const {
    for (const std::string& role : {place.role, std::string()}) {
        const auto found = entries_.find(Key{place.stage, place.visit, place.run, role, place.step});
        if (found != entries_.end()) { return &found->second; }
    }
    return nullptr;
}

std::string Transcript::describe_stage(const std::string& stage) const {
    std::string text;
    std::tuple<unsigned, unsigned, std::string> group{0, 0, ""};
    unsigned first = 0;
    unsigned last = 0;
    const auto close = [&] {
        if (first == 0) { return; }
        text += first == last ? std::to_string(first) : std::to_string(first) + "–" + std::to_string(last);
    };
    for (const auto& [key, entry] : entries_) {
        const auto& [entry_stage, visit, run, role, step] = key;
        if (entry_stage != stage) { continue; }
        const std::tuple<unsigned, unsigned, std::string> own{visit, run, role};
        if (own != group || first == 0) {
            close();
            text += std::string(text.empty() ? "" : "; ") + "visit " + std::to_string(visit) + ", run " + std::to_string(run) +
                    (role.empty() ? "" : ", role " + role) + ": step ";
            group = own;
            first = last = step;
        } else if (step == last + 1) {
            last = step;
        } else {
            close();
            text += ", ";
            first = last = step;
        }
    }
    close();
    return text.empty() ? "nothing" : text;
}

std::vector<std::string> Transcript::stages() const { return stages_; }

}  // namespace replay
