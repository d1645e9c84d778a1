// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/library_load.hpp"

#include <dlfcn.h>

#include <chrono>
#include <utility>

#include "plugins/library.hpp"

namespace agentforge::kernel {

namespace {

/// Runs the library's static constructors in a call of their own, so that a fault in one is not taken for one of the descriptor.
bool open_file(PluginCalls& calls, const CheckReporter& reporter) {
    Error failure;
    bool opened = false;
    const auto begin = std::chrono::steady_clock::now();
    calls.make({"load", "load"}, [&] {
        if (::dlopen(calls.library().c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
            failure = explain_load_failure(::dlerror(), calls.manifest());
        } else {
            opened = true;
        }
    });
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
    if (opened) {
        reporter.fact("load_us", took);
    } else if (!failure.code.empty()) {
        calls.finding(failure.code == "AF-PLUG-012" ? "fingerprint" : "load", CheckStatus::error, failure);
    }
    return opened;
}

}  // namespace

const AgentforgeDescriptor* load_library(PluginCalls& calls, const CheckReporter& reporter) {
    if (!open_file(calls, reporter)) { return nullptr; }
    Error failure;
    const AgentforgeDescriptor* accepted = nullptr;
    calls.make({"descriptor", "agentforge_plugin"}, [&] {
        auto descriptor = open_library(calls.manifest());
        if (descriptor.ok()) {
            accepted = *descriptor;
        } else {
            failure = std::move(descriptor).error();
        }
    });
    calls.clear_call();
    if (accepted != nullptr) {
        calls.pass(
            "descriptor",
            "ABI, sizes, fingerprint, id, version, licence, kinds, names and interface versions agree with plugin.json and this host");
    } else if (!failure.code.empty()) {
        calls.finding("descriptor", CheckStatus::error, failure);
    }
    return accepted;
}

}  // namespace agentforge::kernel
