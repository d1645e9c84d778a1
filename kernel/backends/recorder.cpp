// SPDX-License-Identifier: Apache-2.0
// The recorder keeps the whole transcript in memory and rewrites the file after each answer, so the file is always a valid
// document. A new answer replaces an existing one for the same place, so a task that was killed and asks again is recorded once.
// The clients of one run share a recording, because each role may have its own backend.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "backends/model_client.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

/// Stage, visit, role, run, step. Entries are in the order in which they were made.
using Place = std::tuple<std::string, std::uint64_t, std::string, std::uint64_t, std::uint64_t>;

std::uint64_t number_of(const json::object& entry, std::string_view key) {
    const json::value* value = entry.if_contains(key);
    if (value == nullptr) { return 1; }
    if (value->is_uint64()) { return value->get_uint64(); }
    return value->is_int64() && value->get_int64() > 0 ? static_cast<std::uint64_t>(value->get_int64()) : 1;
}

Place place_of(const json::object& entry) {
    return {text_of(entry, "stage"), number_of(entry, "visit"), text_of(entry, "role"), number_of(entry, "run"),
            number_of(entry, "step")};
}

std::string_view name_of(StopReason reason) {
    switch (reason) {
        case StopReason::finished:
            return "finished";
        case StopReason::tool_call:
            return "tool_call";
        case StopReason::length:
            return "length";
        case StopReason::refused:
            return "refused";
        case StopReason::other:
            break;
    }
    return "other";
}

json::object to_json(const Error& error) {
    return {{"code", error.code}, {"message", error.message}, {"where", error.where}, {"remedy", error.remedy}};
}

json::object entry_of(const CompletionRequest& request, const json::array& failed_attempts) {
    json::object entry{{"stage", request.place.stage}};
    if (!request.place.role.empty()) { entry["role"] = request.place.role; }
    entry["visit"] = request.place.visit;
    entry["run"] = request.place.run;
    entry["step"] = request.place.step;
    entry["frame_hash"] = frame_hash(request);
    entry["context_hash"] = context_hash(request);
    if (!failed_attempts.empty()) { entry["failed_attempts"] = failed_attempts; }
    return entry;
}

json::object entry_of(const CompletionRequest& request, const json::array& failed_attempts, const Completion& answer) {
    json::object entry = entry_of(request, failed_attempts);
    if (!answer.text.empty() || answer.tool_calls.empty()) { entry["text"] = answer.text; }
    if (!answer.tool_calls.empty()) {
        json::array calls;
        for (const ToolCall& call : answer.tool_calls) {
            calls.push_back(json::object{{"name", call.name}, {"arguments", call.arguments}});
        }
        entry["tool_calls"] = std::move(calls);
    }
    // Omits what the reader assumes by default.
    if (answer.stop_reason != (answer.tool_calls.empty() ? StopReason::finished : StopReason::tool_call)) {
        entry["stop_reason"] = name_of(answer.stop_reason);
    }
    json::object usage{{"input_tokens", answer.usage.input_tokens}, {"output_tokens", answer.usage.output_tokens}};
    if (answer.usage.cached_input_tokens != 0) { usage["cached_input_tokens"] = answer.usage.cached_input_tokens; }
    if (answer.usage.cost_microusd) { usage["cost_microusd"] = *answer.usage.cost_microusd; }
    if (answer.usage.estimated) { usage["estimated"] = true; }
    entry["usage"] = std::move(usage);
    entry["model"] = answer.model;
    if (!answer.session_id.empty()) { entry["session_id"] = answer.session_id; }
    if (!answer.diagnostics.empty()) { entry["diagnostics"] = answer.diagnostics; }
    return entry;
}

json::object entry_of(const CompletionRequest& request, const json::array& failed_attempts, const Error& error) {
    json::object entry = entry_of(request, failed_attempts);
    entry["error"] = to_json(error);
    return entry;
}

/// Collects the failed attempts of one call.
class RecordingContext final : public ForwardingCallContext {
public:
    using ForwardingCallContext::ForwardingCallContext;
    [[nodiscard]] Result<void> attempt_failed(unsigned attempt, const Error& error) override {
        failed.push_back(to_json(error));
        return ForwardingCallContext::attempt_failed(attempt, error);
    }

    json::array failed;
};

/// Returns to_yaml of a list with this one entry, indented under `entries:`.
std::string entry_text(const json::object& entry) {
    return to_yaml(json::object{{"entries", json::array{entry}}}).substr(std::string_view("entries:\n").size());
}

}  // namespace

class Recording {
public:
    explicit Recording(std::string file) : file_(std::move(file)) {}

    Result<void> open() {
        const std::lock_guard lock(mutex_);
        return take_over();
    }

    /// `text_protocol`: the role's tools were described in the prompt.
    Result<void> record(const json::object& entry, bool text_protocol) {
        const std::lock_guard lock(mutex_);
        put(entry);
        if (text_protocol) { text_protocol_.insert(text_of(entry, "role")); }
        return write();
    }

private:
    /// Takes over the entries of an earlier process from the file.
    Result<void> take_over() {
        if (opened_) { return {}; }
        const std::filesystem::path given = std::filesystem::path(file_).parent_path();
        const std::filesystem::path folder = given.empty() ? "." : given;
        if (::faccessat(AT_FDCWD, (folder / "").c_str(), W_OK | X_OK, AT_EACCESS) != 0) { return not_written(errno_text(errno)); }
        std::error_code ignored;
        if (std::filesystem::exists(file_, ignored)) {
            const auto document = load_yaml(file_, {64UL << 20U, 5'000'000, 100});
            if (!document.ok()) {
                return Error{"AF-LLM-111", "the transcript to record to cannot be read: " + document.error().message,
                             document.error().where, "Move the file away or name another.", ErrorKind::invalid};
            }
            const json::object* root = document.value().value.if_object();
            const json::value* version = root == nullptr ? nullptr : root->if_contains("agentforge_transcript");
            const json::value* entries = root == nullptr ? nullptr : root->if_contains("entries");
            if (version == nullptr || !version->is_int64() || version->get_int64() != 1 || entries == nullptr ||
                !entries->is_array()) {
                return Error{"AF-LLM-111", "the file to record to is not a transcript of version 1", file_,
                             "Move the file away or name another.", ErrorKind::invalid};
            }
            if (const json::value* roles = root->if_contains("text_protocol"); roles != nullptr && roles->is_array()) {
                for (const json::value& role : roles->get_array()) {
                    if (role.is_string()) { text_protocol_.emplace(role.get_string()); }
                }
            }
            for (const json::value& entry : entries->get_array()) {
                if (!entry.is_object()) {
                    return Error{"AF-LLM-111", "the transcript to record to contains an entry that is not a mapping", file_,
                                 "Move the file away or name another.", ErrorKind::invalid};
                }
                put(entry.get_object());
            }
        }
        opened_ = true;
        return {};
    }

    void put(const json::object& entry) {
        const auto [place, added] = places_.try_emplace(place_of(entry), texts_.size());
        if (added) { texts_.emplace_back(); }
        texts_[place->second] = entry_text(entry);
    }

    Result<void> write() {
        std::string text = "# Answers of a model, for the `replay` backend (docs/agents.md).\nagentforge_transcript: 1\n";
        if (!text_protocol_.empty()) {
            json::array roles;
            for (const std::string& role : text_protocol_) { roles.emplace_back(role); }
            text += to_yaml(json::object{{"text_protocol", std::move(roles)}});
        }
        text += "entries:\n";
        for (const std::string& one : texts_) { text += one; }
        if (const auto written = write_file_atomic(file_, text, Durability::cached); !written.ok()) {
            return not_written(written.error().message);
        }
        return {};
    }

    [[nodiscard]] Error not_written(const std::string& why) const {
        return Error{"AF-LLM-110", "the model's answers cannot be recorded: " + why, file_,
                     "Create the folder, make it writable, or run without recording.", ErrorKind::io};
    }

    std::string file_;
    std::mutex mutex_;
    bool opened_ = false;
    std::set<std::string> text_protocol_;
    std::map<Place, std::size_t> places_;
    std::vector<std::string> texts_;
};

namespace {

class Recorder final : public ModelClient {
public:
    Recorder(std::unique_ptr<ModelClient> inner, std::shared_ptr<Recording> recording)
        : inner_(std::move(inner)), recording_(std::move(recording)) {}

    const BackendInfo& info() const noexcept override { return inner_->info(); }

    Result<Completion> complete(ModelRequest request, CallContext& context) override {
        AF_CHECK(recording_->open());
        CompletionRequest asked = request;
        RecordingContext call(context);
        Result<Completion> answer = inner_->complete(std::move(request), unless_agentic(context, call));
        auto* const place = dynamic_cast<ObservedAgenticContext*>(&context);
        if (place != nullptr) {
            for (const Error& error : place->failed_attempts()) { call.failed.push_back(to_json(error)); }
        }
        if (answer.ok()) {
            json::object entry = entry_of(asked, call.failed, answer.value());
            // A command's changes to files belong to its answer.
            if (place != nullptr) {
                AF_TRY(auto work, place->work());
                if (work) { entry["workspace"] = *std::move(work); }
            }
            AF_CHECK(recording_->record(entry, !info().native_tool_calls));
        } else if (is_shown_to_model(answer.error())) {
            AF_CHECK(recording_->record(entry_of(asked, call.failed, answer.error()), !info().native_tool_calls));
        }
        return answer;
    }

private:
    std::unique_ptr<ModelClient> inner_;
    std::shared_ptr<Recording> recording_;
};

}  // namespace

std::shared_ptr<Recording> make_recording(std::string transcript_file) {
    return std::make_shared<Recording>(std::move(transcript_file));
}

Result<void> open_recording(Recording& recording) { return recording.open(); }

std::unique_ptr<ModelClient> make_recorder(std::unique_ptr<ModelClient> inner, std::shared_ptr<Recording> recording) {
    return std::make_unique<Recorder>(std::move(inner), std::move(recording));
}

}  // namespace agentforge::kernel
