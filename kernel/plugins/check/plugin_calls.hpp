// SPDX-License-Identifier: Apache-2.0
// Makes the calls of `plugins check` into a plugin.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "plugins/check/call_watchdog.hpp"
#include "plugins/check/check_reporter.hpp"
#include "plugins/check/output_capture.hpp"
#include "plugins/manifest.hpp"

namespace agentforge::kernel {

struct PluginCall {
    std::string_view step;
    const char* method;
    std::string_view input = {};  ///< For reports. Empty if the call has only one.
    bool may_throw = false;       ///< An exception is a warning, not an error.
};

/// Makes one call at a time, on the calling thread and under a watchdog, and reports what goes wrong in it.
///
/// Announces each call to the parent first: the call may end the process. The parent then starts another child that leaves this
/// call out. Calls are numbered in their order, so each child must make the same calls.
class PluginCalls {
public:
    /// Redirects standard output and starts the watchdog's thread. `reporter` and `manifest` must outlive it. `left_out`: the
    /// numbers of the calls not to make.
    PluginCalls(const CheckReporter& reporter, const PluginManifest& manifest, std::chrono::milliseconds limit,
                std::set<std::uint64_t> left_out);

    /// The following calls and findings are about this object.
    void set_object(std::string object) { place_ = {std::move(object), {}, {}}; }
    /// The following findings are about the object as a whole, not about its last call.
    void clear_call() { place_.method = place_.input = {}; }

    /// Makes a call: runs `body`. Reports an exception and output. Returns false if the call was left out or threw.
    bool make(const PluginCall& call, const std::function<void()>& body);

    void pass(std::string_view step, std::string_view message) const { reporter_.pass(step, place_, message); }
    /// Reports a fault of the last call.
    void finding(std::string_view step, CheckStatus status, const Error& error, std::string_view found = {},
                 std::string_view expected = {}) const {
        reporter_.finding(step, place_, status, error, found, expected);
    }
    /// The same for a call that returned something wrong. `what`: "gave an error without a code".
    void wrong_result(std::string_view step, CheckStatus status, const std::string& what, std::string_view found,
                      std::string_view expected, const char* remedy) const;

    /// Returns, for instance, ``The tool `x` of plugin `y` ``.
    [[nodiscard]] std::string whose() const;
    [[nodiscard]] const PluginManifest& manifest() const noexcept { return manifest_; }
    /// Returns the path of the plugin's library.
    [[nodiscard]] const std::string& library() const noexcept { return library_; }
    [[nodiscard]] const std::string& object() const noexcept { return place_.object; }
    [[nodiscard]] const std::string& input() const noexcept { return place_.input; }
    /// Returns how long one call may take.
    [[nodiscard]] std::chrono::milliseconds limit() const noexcept { return limit_; }
    /// Returns the number of calls that returned or threw.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
    void report_exception(const PluginCall& call, const std::string& thrown) const;
    void report_output(std::string_view step);
    [[nodiscard]] std::string given() const;

    const CheckReporter& reporter_;
    const PluginManifest& manifest_;
    std::string library_;
    std::chrono::milliseconds limit_;
    std::set<std::uint64_t> left_out_;
    CheckPlace place_;
    std::uint64_t next_ = 0;
    std::uint64_t count_ = 0;
    OutputCapture output_;
    CallWatchdog watchdog_;
};

}  // namespace agentforge::kernel
