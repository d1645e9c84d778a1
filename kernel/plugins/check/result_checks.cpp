// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/result_checks.hpp"

#include <algorithm>
#include <cstddef>

#include "base/text.hpp"
#include "plugins/check/check_inputs.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t large_output_bytes = 8UL << 20U;

/// True if the last call was given invalid UTF-8. An object may then return it.
bool was_given_invalid_utf8(const PluginCalls& calls) {
    return std::ranges::any_of(check_inputs, [&](const CheckInputCase& one) {
        return one.input == CheckInput::invalid_utf8 && one.name == calls.input();
    });
}

}  // namespace

void judge_name(const PluginCalls& calls, const char* function, const std::string& found, const std::string& expected) {
    if (found == expected) { return; }
    calls.finding("describe", CheckStatus::error,
                  {"AF-PLUG-017",
                   "The plugin `" + calls.manifest().id + "` provides the " + calls.object() + ", but its " + function +
                       "() says `" + ellipsis(sanitize_utf8(found), 80) + "`",
                   calls.library(), "Use the same name in both places.", ErrorKind::invalid},
                  found, expected);
}

void judge_text(const PluginCalls& calls, std::string_view step, const char* what, const std::string& text) {
    if (!is_valid_utf8(text) && !was_given_invalid_utf8(calls)) {
        calls.wrong_result(step, CheckStatus::warning, std::string("gave ") + what + " that is not valid UTF-8", text, "UTF-8",
                           "Return UTF-8: the host replaces all other bytes.");
    }
    if (text.size() > large_output_bytes) {
        calls.wrong_result(step, CheckStatus::warning,
                           std::string("gave ") + what + " of " + std::to_string(text.size()) + " bytes",
                           std::to_string(text.size()) + " bytes", "at most " + std::to_string(large_output_bytes) + " bytes",
                           "Cut it: the host keeps only its beginning and its end.");
    }
}

void judge_error(const PluginCalls& calls, const Error& error) {
    if (error.code.empty() || error.message.empty()) {
        calls.wrong_result("calls", CheckStatus::warning, "gave an error without a code or a message", error.to_string(),
                           "a code and a sentence", "Fill `code` and `message`.");
    }
    judge_text(calls, "calls", "an error", error.message);
}

void judge_memory(const PluginCalls& calls, const json::object& object) {
    if (object.storage().is_deallocate_trivial()) {
        calls.wrong_result("calls", CheckStatus::error, "returned a JSON value with its own memory resource",
                           "a monotonic or static resource", "the default memory resource",
                           "Build values that cross the boundary with the default resource; see <agentforge/json.hpp>.");
    }
}

void judge_context(const PluginCalls& calls, const CheckHost& host) {
    const auto misuses = host.misuses();
    for (std::size_t index = 0; index < std::min<std::size_t>(misuses.size(), 3); ++index) {
        calls.finding("calls", CheckStatus::error,
                      {"AF-CHECK-015", calls.whose() + " broke the rules of its context: " + misuses[index], calls.library(),
                       "Use a context only on the thread of the call that received it, and only during it.", ErrorKind::invalid},
                      misuses[index], "calls from the call's own thread");
    }
}

}  // namespace agentforge::kernel
