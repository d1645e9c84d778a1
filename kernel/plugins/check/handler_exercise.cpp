// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "plugins/check/check_host.hpp"
#include "plugins/check/check_inputs.hpp"
#include "plugins/check/exercises.hpp"
#include "plugins/check/host_setup.hpp"
#include "plugins/check/result_checks.hpp"

namespace agentforge::kernel {

namespace {

/// A question and an approval with the same context.
struct HandlerInput {
    Escalation escalation;
    ApprovalRequest approval;
};

/// `folder`: where the answers would be.
HandlerInput sample_handler_input(const CheckInputCase& one, const std::string& folder) {
    json::value context = json::object{{"evidence", "text"}, {"files", json::array{"src/app.py"}}};
    if (one.input == CheckInput::empty) { context = json::object{}; }
    spoil(context, one.input);
    Escalation escalation{"ESC-20260101-000000-0001",
                          "task-check",
                          text_for(one.input, "stage"),
                          text_for(one.input, "It is unclear."),
                          text_for(one.input, "Which one?"),
                          {},
                          context.get_object(),
                          "2026-01-01T00:00:00Z",
                          one.input == CheckInput::empty ? "" : folder};
    if (one.input == CheckInput::valid) { escalation.options = {"this", "that"}; }
    ApprovalRequest approval{"APR-20260101-000000-0001", "task-check",         text_for(one.input, "specify"),
                             context.get_object(),       std::string(64, 'a'), "2026-01-01T00:00:00Z",
                             escalation.directory};
    return {std::move(escalation), std::move(approval)};
}

/// Makes an empty folder in the working directory, which the parent deletes, and returns its path.
std::string make_answer_folder() {
    const std::string folder = std::filesystem::current_path().string() + "/.agentforge/escalations";
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    return folder;
}

void call_handler(PluginCalls& calls, EscalationHandler& handler, const CheckInputCase& one, const std::string& folder) {
    const HandlerInput input = sample_handler_input(one, folder);
    CheckCallContext host;
    prepare_host(calls, host, one.input);
    host.set_deadline(std::chrono::steady_clock::now());  // One poll: people never block a thread.
    const auto make = [&](const char* method, const auto& body) {
        calls.make({"calls", method, one.name, one.broken}, [&] {
            if (const auto result = body(); !result.ok()) { judge_error(calls, result.error()); }
        });
    };
    host.open();
    make("notify", [&] { return handler.notify(input.escalation, host); });
    make("wait_for_resolution", [&] { return handler.wait_for_resolution(input.escalation, host); });
    make("notify_approval", [&] { return handler.notify_approval(input.approval, host); });
    make("wait_for_approval", [&] { return handler.wait_for_approval(input.approval, host); });
    host.close();
    judge_context(calls, host);
}

}  // namespace

void exercise_handler(PluginCalls& calls, EscalationHandler& handler, const std::string& name) {
    std::string found;
    if (!calls.make({"describe", "name"}, [&] { found = handler.name(); })) { return; }
    judge_name(calls, "name", found, name);
    calls.pass("describe", "name() agrees with plugin.json");
    const std::string folder = make_answer_folder();
    for (const CheckInputCase& one : check_inputs) {
        if (one.input == CheckInput::host_fails) { continue; }  // The only requests of a handler cannot fail.
        call_handler(calls, handler, one, folder);
    }
    calls.pass("calls", "its four calls returned, or what they did is reported");
}

}  // namespace agentforge::kernel
