// SPDX-License-Identifier: Apache-2.0
#include "replay.hpp"

#include <stdexcept>

namespace replay {

using agentforge::CallContext;
using agentforge::Completion;
using agentforge::CompletionRequest;
using agentforge::Error;
using agentforge::ErrorKind;
using agentforge::Result;
namespace json = agentforge::json;

namespace {

std::string words(const agentforge::RequestPlace& place) {
    return "stage '" + place.stage + "', role '" + place.role + "', visit " + std::to_string(place.visit) + ", run " +
           std::to_string(place.run) + ", step " + std::to_string(place.step);
}

/// Returns the transcript that another backend of this process still holds, else a new one.
Result<std::shared_ptr<const Transcript>> shared_transcript(const std::string& file) {
    static std::mutex mutex;
    static std::map<std::string, std::weak_ptr<const Transcript>> held;
    const std::lock_guard lock(mutex);
    if (auto known = held[file].lock()) { return known; }
    AF_TRY(Transcript read, Transcript::load(file));
    std::shared_ptr<const Transcript> made = std::make_shared<const Transcript>(std::move(read));
    held[file] = made;
    return made;
}

std::string where(const Transcript& recorded, const Entry& entry) { return recorded.path() + ":" + std::to_string(entry.line); }

/// Returns what was recorded for the request: the same place, and the same frame.
Result<const Entry*> find_entry(const Transcript& recorded, const CompletionRequest& request) {
    const Entry* const entry = recorded.find(request.place);
    if (entry == nullptr) {
        return Error{
            "AF-LLM-201",
            "the transcript has no answer for " + words(request.place) + "; for this stage it holds " +
                recorded.describe_stage(request.place.stage),
            recorded.path(),
            "A transcript has no answers to anything that was not recorded, such as feedback. Continue with a model: agentforge resume TASK --set llm.backend=auto",
            ErrorKind::unavailable};
    }
    if (!entry->frame_hash.empty() && entry->frame_hash != request.frame_hash) {
        return Error{"AF-LLM-202",
                     "the request differs from the recorded one: requested " + words(request.place) + " with frame " +
                         request.frame_hash + "; recorded " + words(entry->place) + " with frame " + entry->frame_hash,
                     where(recorded, *entry),
                     "The request, the role's prompt or its tools changed since the recording: record again.",
                     ErrorKind::unavailable};
    }
    return entry;
}

Error context_differs(const Transcript& recorded, const Entry& entry, const CompletionRequest& request) {
    return {"AF-LLM-203",
            "the context differs from the recorded one: requested " + words(request.place) + " with context " +
                request.context_hash + "; recorded " + words(entry.place) + " with context " + entry.context_hash,
            where(recorded, entry), "The repository or an earlier result differs: record again, or set match: frame.",
            ErrorKind::unavailable};
}

/// An answer recorded in agentic mode has work to redo; one recorded in plain mode has none.
Result<void> check_mode(const Transcript& recorded, const Entry& entry, bool agentic) {
    if (agentic == entry.work.has_value()) { return {}; }
    return Error{"AF-LLM-207",
                 agentic ? "the answer was recorded in plain mode, but the role is in agentic mode"
                         : "the answer was recorded in agentic mode, but the role is in plain mode",
                 where(recorded, entry),
                 agentic ? "Set `llm.mode: plain` for the role." : "Set `llm.mode: agentic` for the role.",
                 ErrorKind::unavailable};
}

}  // namespace

ReplayBackend::ReplayBackend(const json::object& settings) {
    std::string role;
    bool native_given = false;
    for (const auto& [key, value] : settings) {
        if (key == "transcript" && value.is_string()) {
            file_ = std::string(value.get_string());
        } else if (key == "match" && (value == "frame" || value == "strict")) {
            strict_ = value == "strict";
        } else if (key == "native_tool_calls" && value.is_bool()) {
            native_tool_calls_ = value.get_bool();
            native_given = true;
        } else if (key == "role" && value.is_string()) {
            role = std::string(value.get_string());
        } else {
            throw std::runtime_error(
                "replay: the setting '" + std::string(key) +
                "' is unknown or of the wrong type; known are transcript (a file), match (frame or strict), role, native_tool_calls (true or false)");
        }
    }
    if (file_.empty()) { throw std::runtime_error("replay: the setting 'transcript' is missing; name the recorded file"); }
    if (native_given || role.empty()) { return; }
    // An unreadable file becomes an error when an answer is requested.
    if (const auto recorded = transcript(); recorded.ok()) { native_tool_calls_ = !recorded.value()->text_protocol(role); }
}

agentforge::BackendInfo ReplayBackend::info() const {
    agentforge::BackendInfo info;
    info.name = "replay";
    info.description = "Answers from a recorded transcript.";
    info.native_tool_calls = native_tool_calls_;
    info.offline = true;
    info.config_schema = {{"type", "object"},
                          {"additionalProperties", false},
                          {"required", json::array{"transcript"}},
                          {"properties", json::object{{"transcript", json::object{{"type", "string"}, {"minLength", 1}}},
                                                      {"match", json::object{{"enum", json::array{"frame", "strict"}}}},
                                                      {"role", json::object{{"type", "string"}}},
                                                      {"native_tool_calls", json::object{{"type", "boolean"}}}}}};
    return info;
}

Result<const Transcript*> ReplayBackend::transcript() {
    const std::lock_guard lock(mutex_);
    if (!transcript_) { AF_TRY(transcript_, shared_transcript(file_)); }
    return transcript_.get();
}

Result<Completion> ReplayBackend::complete(const CompletionRequest& request, agentforge::StreamSink* sink, CallContext& context) {
    if (context.cancelled()) {
        return Error{"AF-LLM-104", "the call to 'replay' was cancelled", "", "Resume the task to continue.",
                     ErrorKind::cancelled};
    }
    AF_TRY(const Transcript* recorded, transcript());
    AF_TRY(const Entry* const entry, find_entry(*recorded, request));
    if (auto failed = next_failed_attempt(*entry)) { return *std::move(failed); }
    if (entry->error) { return *entry->error; }
    Completion answer = entry->answer;
    if (!entry->context_hash.empty() && entry->context_hash != request.context_hash) {
        if (strict_) { return context_differs(*recorded, *entry, request); }
        answer.diagnostics["context_mismatch"] =
            json::object{{"recorded", entry->context_hash}, {"actual", request.context_hash}};
    }
    agentforge::AgenticContext* const place = agentforge::agentic_context(context);
    AF_CHECK(check_mode(*recorded, *entry, place != nullptr));
    if (place != nullptr) { AF_CHECK(redo(*entry->work, *place)); }
    if (sink != nullptr && !answer.text.empty()) { sink->text(answer.text); }
    return answer;
}

std::optional<Error> ReplayBackend::next_failed_attempt(const Entry& entry) {
    const std::lock_guard lock(mutex_);
    std::size_t& given = failed_[&entry];
    if (given >= entry.failed_attempts.size()) { return std::nullopt; }
    return entry.failed_attempts[given++];
}

Result<std::string> ReplayBackend::check(CallContext&) {
    AF_TRY(const Transcript* recorded, transcript());
    std::string stages;
    for (const std::string& stage : recorded->stages()) { stages += (stages.empty() ? "" : ", ") + stage; }
    return std::to_string(recorded->size()) + " recorded answers for " + (stages.empty() ? "no stage" : stages) + " in " +
           recorded->path();
}

}  // namespace replay
