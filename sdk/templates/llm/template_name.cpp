// SPDX-License-Identifier: Apache-2.0
// A model behind a program: the prompt goes to its standard input, the answer is what it prints.
//
// A backend has no host service for processes, so it brings its own: AgentForge::process, which is bounded in time and output
// and leaves no process behind. `complete` may run concurrently, so nothing of a call is kept in the object.
#include <agentforge/plugin.hpp>
#include <agentforge/process.hpp>

#include <cstdlib>
#include <stdexcept>

namespace example {
using namespace agentforge;

class TemplateNameBackend final : public LLMBackend {
public:
    /// What is thrown here is shown to the user as the reason why the backend cannot be used.
    explicit TemplateNameBackend(const json::object& settings) {
        for (const auto& [key, value] : settings) {
            if (key == "command" && value.is_array()) {
                for (const json::value& word : value.get_array()) {
                    if (!word.is_string()) { throw std::invalid_argument("`command` must be a list of strings"); }
                    command_.emplace_back(word.get_string());
                }
            } else if (key == "model" && value.is_string()) {
                model_ = value.get_string();
            } else {
                throw std::invalid_argument("`" + std::string(key) + "` is not a setting of template_name, or has the wrong type; there are `command` (a list) and `model` (a text)");
            }
        }
        if (command_.empty()) { throw std::invalid_argument("`command` is missing: the program that answers, and its arguments, as a list"); }
    }

    BackendInfo info() const override {
        BackendInfo info;
        info.name = "template_name";
        info.description = "Asks a program: prompt on its standard input, answer on its standard output.";
        info.config_schema = {{"type", "object"}, {"required", json::array{"command"}}};
        return info;
    }

    Result<Completion> complete(const CompletionRequest& request, StreamSink* sink, CallContext& context) override {
        AF_TRY(process::Command command, prepared());
        command.input = process::to_utf8(request.system + "\n\n" + request.user);
        command.environment["MODEL"] = request.model.empty() ? model_ : request.model;
        if (const auto deadline = context.deadline()) {
            command.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
            if (command.timeout.count() <= 0) { return failure("there is no time left", ErrorKind::timeout, "Give it more time."); }
        }
        AF_TRY(const process::Outcome ran, process::run(command, [&context] { return context.cancelled(); }));
        if (ran.cancelled) { return failure("was stopped", ErrorKind::cancelled, ""); }
        if (ran.timed_out) { return failure("gave no answer in time", ErrorKind::timeout, "Give it more time, or use a faster model."); }
        if (ran.exit_code != 0) {
            return failure("ended with code " + std::to_string(ran.exit_code) + ": " + process::to_utf8(ran.err).substr(0, 1000), ErrorKind::unavailable, "Run the command by hand.");
        }
        Completion completion;
        completion.text = process::to_utf8(ran.out);
        if (completion.text.find_first_not_of(" \r\n\t") == std::string::npos) { return failure("answered nothing", ErrorKind::transient, ""); }
        completion.model = command.environment["MODEL"];
        completion.usage = {.input_tokens = command.input.size() / 4, .output_tokens = completion.text.size() / 4, .cached_input_tokens = 0, .cost_microusd = {}, .estimated = true};
        if (sink != nullptr) { sink->text(completion.text); }
        return completion;
    }

    /// For `agentforge doctor`.
    Result<std::string> check(CallContext&) override {
        AF_TRY(const process::Command command, prepared());
        return command.program + " is there";
    }

private:
    Result<process::Command> prepared() const {
        process::Command command;
        for (const char* name : {"PATH", "HOME", "LANG"}) {     // The program sees these and no other.
            if (const char* value = std::getenv(name); value != nullptr) { command.environment[name] = value; }
        }
        AF_TRY(command.program, process::find_program(command_.front(), command.environment["PATH"], "/"));
        command.argv = command_;
        command.directory = "/";
        return command;
    }
    Error failure(const std::string& what, ErrorKind kind, const char* remedy) const {
        return {"EXAMPLE-001", "`" + command_.front() + "` " + what, "template_name", remedy, kind};
    }

    std::vector<std::string> command_;
    std::string model_;
};

}  // namespace example
AGENTFORGE_PLUGIN("org.example.template_name", "0.1.0", "Apache-2.0", agentforge::provides_llm<example::TemplateNameBackend>("template_name"))
