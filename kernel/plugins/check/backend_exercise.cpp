// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "plugins/check/check_host.hpp"
#include "plugins/check/check_inputs.hpp"
#include "plugins/check/exercises.hpp"
#include "plugins/check/host_setup.hpp"
#include "plugins/check/result_checks.hpp"
#include "plugins/check/schema_check.hpp"

namespace agentforge::kernel {

namespace {

CompletionRequest sample_request(const CheckInputCase& one) {
    CompletionRequest request;
    request.system = text_for(one.input, "You answer in one word.");
    request.user = text_for(one.input, "Say hello.");
    request.place = {"task-fake", "stage", "role", 1, 1, 1};
    if (one.input != CheckInput::empty && one.input != CheckInput::required) {
        json::value schema =
            json::object{{"type", "object"}, {"properties", json::object{{"a", json::object{{"type", "string"}}}}}};
        if (one.broken) { spoil(schema, one.input); }
        request.tools.resize(one.input == CheckInput::entries ? huge_entries : 1,
                             {"tool", text_for(one.input, "A tool."), schema.get_object()});
    }
    return request;
}

void judge_info(const PluginCalls& calls, const BackendInfo& info, const std::string& name) {
    judge_name(calls, "info", info.name, name);
    judge_text(calls, "describe", "a description", info.description);
    if (info.config_schema.empty()) { return; }
    if (auto good = check_schema(calls.manifest(), info.config_schema); !good.ok()) {
        calls.finding("describe", CheckStatus::error,
                      {"AF-CHECK-007",
                       "The `config_schema` of " + calls.object() + " of plugin `" + calls.manifest().id +
                           "` is not a JSON Schema: " + good.error().message,
                       calls.library(), "Correct BackendInfo::config_schema.", ErrorKind::invalid},
                      ellipsis(json::serialize(info.config_schema), 300), "a JSON Schema of an object");
    }
}

/// Not every caller takes a streamed answer, so one input has no sink.
void call_complete(PluginCalls& calls, LLMBackend& backend, const CheckInputCase& one) {
    const CompletionRequest request = sample_request(one);
    CheckCallContext host;
    prepare_host(calls, host, one.input);
    CheckSink sink(host);
    host.open();
    calls.make({"calls", "complete", one.name, one.broken}, [&] {
        const auto completion = backend.complete(request, one.input == CheckInput::required ? nullptr : &sink, host);
        if (!completion.ok()) { return judge_error(calls, completion.error()); }
        judge_text(calls, "calls", "an answer", completion->text);
        judge_memory(calls, completion->diagnostics);
    });
    host.close();
    judge_context(calls, host);
}

void call_check(PluginCalls& calls, LLMBackend& backend) {
    CheckCallContext host;
    prepare_host(calls, host, CheckInput::valid);
    calls.make({"calls", "check"}, [&] {
        if (const auto checked = backend.check(host); !checked.ok()) { judge_error(calls, checked.error()); }
    });
    judge_context(calls, host);
}

}  // namespace

void exercise_backend(PluginCalls& calls, LLMBackend& backend, const std::string& name) {
    BackendInfo info;
    if (!calls.make({"describe", "info"}, [&] { info = backend.info(); })) { return; }
    judge_info(calls, info, name);
    calls.pass("describe", "info() agrees with plugin.json");
    for (const CheckInputCase& one : check_inputs) {
        if (one.input == CheckInput::host_fails) { continue; }  // A backend has no host calls.
        call_complete(calls, backend, one);
    }
    call_check(calls, backend);
    calls.pass("calls", "complete() and check() returned, or what they did is reported");
}

}  // namespace agentforge::kernel
