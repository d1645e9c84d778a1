// SPDX-License-Identifier: Apache-2.0
// The child of `plugins check`. Everything here may crash, hang or exit; the parent reports which call did.
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "base/files.hpp"
#include "plugins/check/check.hpp"
#include "plugins/check/check_reporter.hpp"
#include "plugins/check/exercises.hpp"
#include "plugins/check/library_load.hpp"
#include "plugins/check/object_creation.hpp"
#include "plugins/check/plugin_calls.hpp"
#include "plugins/check/schema_check.hpp"
#include "plugins/check/undefined_symbols.hpp"
#include "plugins/manifest.hpp"

namespace agentforge::kernel {

namespace {

void close_network(const CheckReporter& reporter) {
    // Must run before any thread starts. A new network namespace has no way out. If the system forbids it, the report says so.
    const bool closed = ::unshare(CLONE_NEWNET) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
    reporter.fact("network_closed", closed);
}

/// A crash is expected here, so it must not leave a core file.
void forbid_core_files() {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::prctl(PR_SET_DUMPABLE, 0);
}

void exercise_methods(PluginCalls& calls, const CheckHooks& hooks, const AgentforgeFactory& factory, void* object) {
    const std::string name = factory.name;
    switch (static_cast<PluginKind>(factory.kind)) {
        case PluginKind::stage:
            return exercise_stage(calls, hooks, *static_cast<Stage*>(object), name);
        case PluginKind::tool:
            return exercise_tool(calls, hooks, *static_cast<Tool*>(object), name);
        case PluginKind::llm:
            if (factory.interface_version == llm_v2_interface_version) {
                return exercise_backend(calls, *static_cast<LLMBackendV2*>(object), name);
            }
            return exercise_backend(calls, *static_cast<LLMBackend*>(object), name);
        case PluginKind::escalation:
            return exercise_handler(calls, *static_cast<EscalationHandler*>(object), name);
    }
}

void exercise_object(PluginCalls& calls, const CheckHooks& hooks, const AgentforgeFactory& factory) {
    calls.set_object(std::string(to_string(static_cast<PluginKind>(factory.kind))) + " `" + factory.name + "`");
    void* object = create_object(calls, factory);
    if (object == nullptr) { return; }
    exercise_methods(calls, hooks, factory, object);
    if (destroy_object(calls, factory, object, "after all calls")) { calls.pass("destroy", "it is destroyed"); }
}

void exercise_library(PluginCalls& calls, const CheckHooks& hooks, const CheckReporter& reporter) {
    if (!check_undefined_symbols(calls)) { return; }
    const AgentforgeDescriptor* descriptor = load_library(calls, reporter);
    if (descriptor == nullptr) { return; }
    check_settings_schema(calls);
    for (std::uint32_t index = 0; index < descriptor->factory_count; ++index) {
        exercise_object(calls, hooks, descriptor->factories[index]);
    }
}

/// `task`: what the parent wrote.
void run_check(const CheckHooks& hooks, const json::object& task, const CheckReporter& reporter) {
    const std::chrono::milliseconds limit(task.at("call_limit_ms").to_number<std::int64_t>());
    std::set<std::uint64_t> left_out;
    for (const json::value& one : task.at("left_out").as_array()) { left_out.insert(one.to_number<std::uint64_t>()); }
    close_network(reporter);
    forbid_core_files();
    const auto manifest = read_manifest(std::string(task.at("manifest").as_string()));
    if (!manifest.ok()) { return reporter.finding("manifest", {}, CheckStatus::error, manifest.error()); }
    PluginCalls calls(reporter, *manifest, limit, std::move(left_out));
    exercise_library(calls, hooks, reporter);
    reporter.done(calls.count());
}

}  // namespace

int exercise_plugin(const CheckHooks& hooks) {
    const auto text = read_file("/proc/self/fd/3", 1ULL << 20U);
    json::error_code failure;
    const json::value task = text.ok() ? json::parse(*text, failure) : json::value();
    if (!text.ok() || failure || !task.is_object()) { return 2; }
    // Out of reach of a plugin that closes low descriptors.
    const int report = ::fcntl(4, F_DUPFD_CLOEXEC, 200);
    if (report < 0) { return 2; }
    ::close(3);
    ::close(4);
    run_check(hooks, task.get_object(), CheckReporter(report));
    ::_exit(0);  // Skips destructors: leftovers of the plugin must not run here.
}

}  // namespace agentforge::kernel
