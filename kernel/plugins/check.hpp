// SPDX-License-Identifier: Apache-2.0
// `agentforge plugins check`: a plugin tried out before anybody relies on it.
//
// The parent reads the files; a child process loads the library, makes every object and calls every method with valid, empty,
// huge and broken input against the SDK's fake host. A crash, a hang or an exit ends the child: the parent names the call and
// starts another child that leaves this call out, so that one fault does not hide the next. Each call has a time limit.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

enum class CheckStatus : unsigned char { pass = 1, warning, error, skipped };
[[nodiscard]] std::string_view to_string(CheckStatus status) noexcept;

/// One step's verdict, or one fault.
struct CheckFinding {
    std::string step;  ///< See `check_steps`.
    CheckStatus status = CheckStatus::pass;
    std::string object;  ///< ``tool `x` ``; empty where it is about the whole plugin.
    std::string method;
    std::string input;
    std::vector<std::string> other_inputs;  ///< With which the same happened.
    Error error;                            ///< Empty where it passed; its `message` says what passed or why it was skipped.
    std::string found;
    std::string expected;
};

struct CheckReport {
    std::string file;  ///< The library, absolute; the manifest where that is missing.
    std::string manifest;
    std::string id;
    std::string version;
    std::vector<CheckFinding> findings;  ///< In the order of the steps.
    std::int64_t load_us = 0;            ///< What opening the library took.
    std::uint64_t calls = 0;             ///< Calls that returned.
    bool network_closed = false;         ///< The child had no network.

    [[nodiscard]] std::size_t count(CheckStatus status) const;
    [[nodiscard]] bool passed() const { return count(CheckStatus::error) == 0; }
};

/// The steps, in order: file, elf, manifest, symbols, undefined, fingerprint, load, descriptor, config_schema, create, describe,
/// calls, destroy, output.
[[nodiscard]] const std::vector<std::string>& check_steps();

struct CheckOptions {
    std::string file;  ///< A library, a manifest or a plugin's folder.
    std::chrono::milliseconds call_limit{5'000};
    std::chrono::milliseconds slow_load{100};        ///< Beyond it loading is a warning.
    std::string program;                             ///< What to run as the child; it calls `exercise_plugin`.
    std::vector<std::string> arguments;              ///< Of the child.
    std::map<std::string, std::string> environment;  ///< Of this process; the child gets only what loading needs.
};

/// Checks one plugin. What is wrong with it is in the report; an Error is a failure of the check itself: AF-CHECK-001 (the child
/// cannot be started), `cancelled`. Blocks for at most ten children of forty call limits each.
[[nodiscard]] Result<CheckReport> check_plugin(const CheckOptions& options, const std::function<bool()>& cancelled);

/// What the child asks of folders that stand below this one.
struct CheckHooks {
    /// Whether a tool's schema can be applied, and whether arguments fit it.
    std::function<Result<void>(std::string_view tool, const json::object& schema, json::object& arguments)> arguments;
};

/// The child: reads what to do from descriptor 3, reports on descriptor 4, and returns the exit code.
int exercise_plugin(const CheckHooks& hooks);

/// The report as `--json` shows it (docs/plugins-check.md) and as people read it.
[[nodiscard]] json::object check_json(const CheckReport& report);
[[nodiscard]] std::string check_text(const CheckReport& report);

}  // namespace agentforge::kernel
