// SPDX-License-Identifier: Apache-2.0
// The recorder keeps the whole transcript in memory and writes it anew after each answer, so that the file is a valid
// document at every moment. An answer to a place that is in the file already takes its place: a task that was killed and
// asks again records once.
#include <filesystem>
#include <map>
#include <mutex>
#include <tuple>

#include "backends/client.hpp"
#include "base/files.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

/// Stage, visit, role, run, step. Records stand in the order in which they were made.
using Place = std::tuple<std::string, std::uint64_t, std::string, std::uint64_t, std::uint64_t>;

std::string text_of(const json::object& entry, std::string_view key) {
    const json::value* value = entry.if_contains(key);
    return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::uint64_t number_of(const json::object& entry, std::string_view key) {
    const json::value* value = entry.if_contains(key);
    if (value == nullptr) { return 1; }
    if (value->is_uint64()) { return value->get_uint64(); }
    return value->is_int64() && value->get_int64() > 0 ? static_cast<std::uint64_t>(value->get_int64()) : 1;
}

Place place_of(const json::object& entry) {
    return {text_of(entry, "stage"), number_of(entry, "visit"), text_of(entry, "role"), number_of(entry, "run"), number_of(entry, "step")};
}

json::object entry_of(const CompletionRequest& request, const Completion& answer) {
    json::object entry{{"stage", request.place.stage}};
    if (!request.place.role.empty()) { entry["role"] = request.place.role; }
    entry["visit"] = request.place.visit;
    entry["run"] = request.place.run;
    entry["step"] = request.place.step;
    entry["frame_hash"] = frame_hash(request);
    entry["context_hash"] = context_hash(request);
    if (!answer.text.empty() || answer.tool_calls.empty()) { entry["text"] = answer.text; }
    if (!answer.tool_calls.empty()) {
        json::array calls;
        for (const ToolCall& call : answer.tool_calls) { calls.push_back(json::object{{"name", call.name}, {"arguments", call.arguments}}); }
        entry["tool_calls"] = std::move(calls);
    }
    entry["usage"] = json::object{{"input_tokens", answer.usage.input_tokens}, {"output_tokens", answer.usage.output_tokens}};
    return entry;
}

/// to_yaml of a list with this one entry, indented under `entries:`.
std::string entry_text(const json::object& entry) { return to_yaml(json::object{{"entries", json::array{entry}}}).substr(std::string_view("entries:\n").size()); }

class Recorder final : public ModelClient {
public:
    Recorder(std::unique_ptr<ModelClient> inner, std::string file) : inner_(std::move(inner)), file_(std::move(file)) {}

    const BackendInfo& info() const noexcept override { return inner_->info(); }

    Result<Completion> complete(CompletionRequest request, CallContext& context) override {
        {
            const std::lock_guard lock(mutex_);
            AF_CHECK(open());
        }
        CompletionRequest asked = request;
        Result<Completion> answer = inner_->complete(std::move(request), context);
        if (answer.ok()) {
            const std::lock_guard lock(mutex_);
            AF_CHECK(record(entry_of(asked, answer.value())));
        }
        return answer;
    }

private:
    /// Takes over what is in the file from an earlier process.
    Result<void> open() {
        if (opened_) { return {}; }
        std::error_code ignored;
        if (std::filesystem::exists(file_, ignored)) {
            const auto document = load_yaml(file_, {64UL << 20U, 5'000'000, 100});
            if (!document.ok()) {
                return Error{"AF-LLM-111", "the transcript to record into cannot be read: " + document.error().message, document.error().where,
                             "Move the file away or name another.", ErrorKind::invalid};
            }
            const json::object* root = document.value().value.if_object();
            const json::value* version = root == nullptr ? nullptr : root->if_contains("agentforge_transcript");
            const json::value* entries = root == nullptr ? nullptr : root->if_contains("entries");
            if (version == nullptr || !version->is_int64() || version->get_int64() != 1 || entries == nullptr || !entries->is_array()) {
                return Error{"AF-LLM-111", "the file to record into is no transcript of version 1", file_,
                             "Move the file away or name another.", ErrorKind::invalid};
            }
            for (const json::value& entry : entries->get_array()) {
                if (!entry.is_object()) {
                    return Error{"AF-LLM-111", "the transcript to record into holds an entry that is no mapping", file_,
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

    Result<void> record(const json::object& entry) {
        put(entry);
        std::string text = "# Answers of a model, for the `replay` backend (docs/agents.md).\nagentforge_transcript: 1\nentries:\n";
        for (const std::string& one : texts_) { text += one; }
        if (const auto written = write_file_atomic(file_, text, Durability::cached); !written.ok()) {
            return Error{"AF-LLM-110", "the answer could not be recorded: " + written.error().message, file_,
                         "Make the folder writable, or run without recording.", ErrorKind::io};
        }
        return {};
    }

    std::unique_ptr<ModelClient> inner_;
    std::string file_;
    std::mutex mutex_;
    bool opened_ = false;
    std::map<Place, std::size_t> places_;
    std::vector<std::string> texts_;
};

}  // namespace

std::unique_ptr<ModelClient> make_recorder(std::unique_ptr<ModelClient> inner, std::string transcript_file) {
    return std::make_unique<Recorder>(std::move(inner), std::move(transcript_file));
}

}  // namespace agentforge::kernel
