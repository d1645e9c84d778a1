// SPDX-License-Identifier: Apache-2.0
#include "pipeline/codec.hpp"

namespace agentforge::kernel {

namespace {

// The journal's blobs are verified by their hash before they are read, and only `to_json` below wrote them. A field of another
// type is therefore a defect; value_to throws, and the session reports it.

std::string text(const json::object& object, std::string_view key) { return json::value_to<std::string>(object.at(key)); }
std::uint64_t number(const json::object& object, std::string_view key) { return object.at(key).to_number<std::uint64_t>(); }
bool flag(const json::object& object, std::string_view key) { return object.at(key).as_bool(); }
const json::object& map(const json::object& object, std::string_view key) { return object.at(key).as_object(); }

json::array texts(const std::vector<std::string>& list) {
    json::array array;
    for (const std::string& item : list) { array.emplace_back(item); }
    return array;
}
std::vector<std::string> texts(const json::object& object, std::string_view key) {
    return json::value_to<std::vector<std::string>>(object.at(key));
}

template <class T, class Convert>
json::value optional_value(const std::optional<T>& value, Convert convert) {
    if (!value) { return nullptr; }
    return convert(*value);
}

}  // namespace

records::RecordedError recorded(const Error& error) {
    return {error.code, error.message, error.where, error.remedy, static_cast<std::uint64_t>(error.kind)};
}
json::object to_json(const Error& error) { return records::to_fields(recorded(error)); }
Error error_from_json(const json::object& value) {
    return Error{text(value, "code"), text(value, "message"), text(value, "where"), text(value, "remedy"),
                 static_cast<ErrorKind>(number(value, "kind"))};
}

json::object to_json(const Change& change) {
    return {{"path", change.path},
            {"before_sha256", change.before_sha256},
            {"after_sha256", change.after_sha256},
            {"lines_added", change.lines_added},
            {"lines_removed", change.lines_removed},
            {"created", change.created}};
}
Change change_from_json(const json::object& value) {
    Change change;
    change.path = text(value, "path");
    change.before_sha256 = text(value, "before_sha256");
    change.after_sha256 = text(value, "after_sha256");
    change.lines_added = number(value, "lines_added");
    change.lines_removed = number(value, "lines_removed");
    change.created = flag(value, "created");
    return change;
}
json::array to_json(const std::vector<Change>& changes) {
    json::array array;
    for (const Change& change : changes) { array.emplace_back(to_json(change)); }
    return array;
}
std::vector<records::FileChange> recorded(const std::vector<Change>& changes) {
    std::vector<records::FileChange> list;
    for (const Change& change : changes) {
        list.push_back({.path = change.path,
                        .before_sha256 = change.before_sha256,
                        .after_sha256 = change.after_sha256,
                        .lines_added = change.lines_added,
                        .lines_removed = change.lines_removed,
                        .created = change.created});
    }
    return list;
}
std::vector<Change> changes_from_json(const json::array& value) {
    std::vector<Change> changes;
    for (const json::value& item : value) { changes.push_back(change_from_json(item.as_object())); }
    return changes;
}

json::object to_json(const EscalationRequest& request) {
    return {{"reason", request.reason},
            {"question", request.question},
            {"options", texts(request.options)},
            {"context", request.context}};
}
EscalationRequest escalation_from_json(const json::object& value) {
    return EscalationRequest{text(value, "reason"), text(value, "question"), texts(value, "options"), map(value, "context")};
}

json::object to_json(const Completion& completion) {
    json::array calls;
    for (const ToolCall& call : completion.tool_calls) {
        calls.push_back(json::object{{"name", call.name}, {"arguments", call.arguments}});
    }
    return {
        {"text", completion.text},
        {"tool_calls", std::move(calls)},
        {"stop_reason", static_cast<std::uint64_t>(completion.stop_reason)},
        {"input_tokens", completion.usage.input_tokens},
        {"output_tokens", completion.usage.output_tokens},
        {"cached_input_tokens", completion.usage.cached_input_tokens},
        {"cost_microusd", optional_value(completion.usage.cost_microusd, [](std::uint64_t cost) { return json::value(cost); })},
        {"estimated", completion.usage.estimated},
        {"model", completion.model},
        {"session_id", completion.session_id},
        {"diagnostics", completion.diagnostics}};
}
Completion completion_from_json(const json::object& value) {
    Completion completion;
    completion.text = text(value, "text");
    for (const json::value& call : value.at("tool_calls").as_array()) {
        completion.tool_calls.push_back(ToolCall{text(call.as_object(), "name"), map(call.as_object(), "arguments")});
    }
    completion.stop_reason = static_cast<StopReason>(number(value, "stop_reason"));
    completion.usage.input_tokens = number(value, "input_tokens");
    completion.usage.output_tokens = number(value, "output_tokens");
    completion.usage.cached_input_tokens = number(value, "cached_input_tokens");
    if (!value.at("cost_microusd").is_null()) { completion.usage.cost_microusd = number(value, "cost_microusd"); }
    completion.usage.estimated = flag(value, "estimated");
    completion.model = text(value, "model");
    completion.session_id = text(value, "session_id");
    completion.diagnostics = map(value, "diagnostics");
    return completion;
}

json::object to_json(const StepRecord& record) {
    return {{"step", record.step},
            {"tool", record.tool},
            {"arguments", record.arguments},
            {"success", record.success},
            {"summary", record.summary},
            {"output", record.output},
            {"data", record.data},
            {"error", record.error},
            {"changes", to_json(record.changes)},
            {"completion", to_json(record.completion)},
            {"system", record.system},
            {"context", record.context},
            {"section_tokens", record.section_tokens},
            {"tree", record.tree},
            {"completed", record.completed},
            {"artifact", optional_value(record.artifact, [](const json::object& artifact) { return json::value(artifact); })},
            {"escalation",
             optional_value(record.escalation, [](const EscalationRequest& request) { return json::value(to_json(request)); })}};
}
Result<StepRecord> recorded_step(const json::value& value) {
    if (value.is_object()) { return step_from_json(value.get_object()); }
    return Error{"AF-ORCH-022", "a recorded step is not a map", "", "report this", ErrorKind::corrupt};
}

StepRecord step_from_json(const json::object& value) {
    StepRecord record;
    record.step = static_cast<unsigned>(number(value, "step"));
    record.tool = text(value, "tool");
    record.arguments = map(value, "arguments");
    record.success = flag(value, "success");
    record.summary = text(value, "summary");
    record.output = text(value, "output");
    record.data = map(value, "data");
    record.error = text(value, "error");
    record.changes = changes_from_json(value.at("changes").as_array());
    record.completion = completion_from_json(map(value, "completion"));
    record.system = text(value, "system");
    record.context = text(value, "context");
    record.section_tokens = map(value, "section_tokens");
    record.tree = text(value, "tree");
    record.completed = flag(value, "completed");
    if (value.at("artifact").is_object()) { record.artifact = map(value, "artifact"); }
    if (value.at("escalation").is_object()) { record.escalation = escalation_from_json(map(value, "escalation")); }
    return record;
}

json::object to_json(const AgentOutcome& outcome) {
    json::array uses;
    for (const ToolUse& use : outcome.tool_uses) {
        uses.push_back(
            json::object{{"tool", use.tool}, {"arguments", use.arguments}, {"success", use.success}, {"summary", use.summary}});
    }
    return {{"artifact", outcome.artifact},
            {"text", outcome.text},
            {"tool_uses", std::move(uses)},
            {"escalation",
             optional_value(outcome.escalation, [](const EscalationRequest& request) { return json::value(to_json(request)); })},
            {"steps", outcome.steps},
            {"input_tokens", outcome.input_tokens},
            {"output_tokens", outcome.output_tokens}};
}
AgentOutcome outcome_from_json(const json::object& value) {
    AgentOutcome outcome;
    outcome.artifact = map(value, "artifact");
    outcome.text = text(value, "text");
    for (const json::value& use : value.at("tool_uses").as_array()) {
        const json::object& entry = use.as_object();
        outcome.tool_uses.push_back(
            ToolUse{text(entry, "tool"), map(entry, "arguments"), flag(entry, "success"), text(entry, "summary")});
    }
    if (value.at("escalation").is_object()) { outcome.escalation = escalation_from_json(map(value, "escalation")); }
    outcome.steps = static_cast<unsigned>(number(value, "steps"));
    outcome.input_tokens = number(value, "input_tokens");
    outcome.output_tokens = number(value, "output_tokens");
    return outcome;
}

json::object to_json(const ProcessResult& result) {
    return {{"exit_code", result.exit_code},
            {"timed_out", result.timed_out},
            {"output_truncated", result.output_truncated},
            {"out", result.out},
            {"err", result.err},
            {"duration_ms", result.duration.count()},
            {"confinement", result.confinement}};
}
ProcessResult process_from_json(const json::object& value) {
    ProcessResult result;
    result.exit_code = static_cast<int>(value.at("exit_code").to_number<std::int64_t>());
    result.timed_out = flag(value, "timed_out");
    result.output_truncated = flag(value, "output_truncated");
    result.out = text(value, "out");
    result.err = text(value, "err");
    result.duration = std::chrono::milliseconds(number(value, "duration_ms"));
    result.confinement = map(value, "confinement");
    return result;
}

json::object to_json(const Delivery& delivery) {
    return {{"branch", delivery.branch}, {"commit", delivery.commit}, {"tree", delivery.tree}, {"files", texts(delivery.files)}};
}
Delivery delivery_from_json(const json::object& value) {
    return Delivery{text(value, "branch"), text(value, "commit"), text(value, "tree"), texts(value, "files")};
}

json::object to_json(const FileView& view) {
    return {{"path", view.path},
            {"content", view.content},
            {"sha256", view.sha256},
            {"size_bytes", view.size_bytes},
            {"first_line", view.first_line},
            {"last_line", view.last_line},
            {"total_lines", view.total_lines},
            {"truncated", view.truncated}};
}
FileView view_from_json(const json::object& value) {
    FileView view;
    view.path = text(value, "path");
    view.content = text(value, "content");
    view.sha256 = text(value, "sha256");
    view.size_bytes = number(value, "size_bytes");
    view.first_line = number(value, "first_line");
    view.last_line = number(value, "last_line");
    view.total_lines = number(value, "total_lines");
    view.truncated = flag(value, "truncated");
    return view;
}

json::object to_json(const Listing& listing) {
    json::array entries;
    for (const ListEntry& entry : listing.entries) {
        entries.push_back(json::object{{"path", entry.path}, {"directory", entry.directory}, {"size_bytes", entry.size_bytes}});
    }
    return {{"entries", std::move(entries)}, {"truncated", listing.truncated}};
}
Listing listing_from_json(const json::object& value) {
    Listing listing;
    for (const json::value& item : value.at("entries").as_array()) {
        const json::object& entry = item.as_object();
        listing.entries.push_back(ListEntry{text(entry, "path"), flag(entry, "directory"), number(entry, "size_bytes")});
    }
    listing.truncated = flag(value, "truncated");
    return listing;
}

json::object to_json(const SearchHits& hits) {
    json::array array;
    for (const SearchHit& hit : hits.hits) {
        array.push_back(json::object{{"path", hit.path}, {"line", hit.line}, {"text", hit.text}});
    }
    return {{"hits", std::move(array)}, {"truncated", hits.truncated}};
}
SearchHits hits_from_json(const json::object& value) {
    SearchHits hits;
    for (const json::value& item : value.at("hits").as_array()) {
        const json::object& hit = item.as_object();
        hits.hits.push_back(SearchHit{text(hit, "path"), number(hit, "line"), text(hit, "text")});
    }
    hits.truncated = flag(value, "truncated");
    return hits;
}

}  // namespace agentforge::kernel
