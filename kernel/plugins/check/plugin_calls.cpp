// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/plugin_calls.hpp"

#include <exception>
#include <utility>

#include "base/text.hpp"

namespace agentforge::kernel {

PluginCalls::PluginCalls(const CheckReporter& reporter, const PluginManifest& manifest, std::chrono::milliseconds limit,
                         std::set<std::uint64_t> left_out)
    : reporter_(reporter),
      manifest_(manifest),
      library_(manifest.directory + "/" + manifest.library),
      limit_(limit),
      left_out_(std::move(left_out)),
      watchdog_(reporter, limit) {}

bool PluginCalls::make(const PluginCall& call, const std::function<void()>& body) {
    const std::uint64_t number = next_++;
    place_.method = call.method;
    place_.input = call.input;
    if (left_out_.contains(number)) { return false; }
    reporter_.call_begins(number, call.step, place_);
    watchdog_.begin();
    std::string thrown;
    bool threw = true;
    try {
        body();
        threw = false;
    } catch (const std::exception& failure) { thrown = failure.what() == nullptr ? "" : failure.what(); } catch (...) {
        thrown = "something that is not a std::exception";
    }
    watchdog_.end();
    ++count_;
    if (threw) { report_exception(call, thrown); }
    report_output(call.step);
    return !threw;
}

void PluginCalls::report_exception(const PluginCall& call, const std::string& thrown) const {
    finding(
        call.step, call.may_throw ? CheckStatus::warning : CheckStatus::error,
        {"AF-CHECK-013", whose() + " threw in " + place_.method + "()" + given() + ": " + ellipsis(sanitize_utf8(thrown), 300),
         library_,
         call.may_throw ? "The host refuses such input first; read arguments with agentforge::Arguments, which does not throw."
                        : "Catch it in the plugin and return a failed result: no exception may leave a plugin.",
         ErrorKind::internal},
        "an exception", "a returned result");
}

void PluginCalls::report_output(std::string_view step) {
    const auto written = output_.take();
    if (!written) { return; }
    finding("output", CheckStatus::error,
            {"AF-CHECK-014",
             whose() + " wrote " + std::to_string(written->bytes) + " bytes to standard output in " +
                 (place_.method.empty() ? std::string(step) : place_.method + "()") + given(),
             library_, "Use the context's log() or progress(): standard output is the program's answer.", ErrorKind::invalid},
            written->beginning, "nothing on standard output");
}

void PluginCalls::wrong_result(std::string_view step, CheckStatus status, const std::string& what, std::string_view found,
                               std::string_view expected, const char* remedy) const {
    finding(
        step, status,
        {"AF-CHECK-016", whose() + " " + what + " in " + place_.method + "()" + given(), library_, remedy, ErrorKind::invalid},
        found, expected);
}

std::string PluginCalls::whose() const {
    return place_.object.empty() ? "The plugin `" + manifest_.id + "`"
                                 : "The " + place_.object + " of plugin `" + manifest_.id + "`";
}

std::string PluginCalls::given() const { return place_.input.empty() ? "" : " with the input \"" + place_.input + "\""; }

}  // namespace agentforge::kernel
