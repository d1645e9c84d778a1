// SPDX-License-Identifier: Apache-2.0
// `agentforge plugins check`: tests a plugin before it is used.
//
// The parent reads the files. A child process loads the library, creates every object, and calls every method with valid, empty,
// huge and broken input against a host of its own (check_host.hpp). A crash, a hang or an exit ends the child. The parent then
// names the call and starts another child that skips it, so one fault does not hide the next. Each call has a time limit.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/host.hpp>
#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

enum class CheckStatus : unsigned char { pass = 1, warning, error, skipped };
[[nodiscard]] std::string_view to_string(CheckStatus status) noexcept;

/// The verdict on one step, or one fault.
struct CheckFinding {
    std::string step;  ///< One of `check_steps`.
    CheckStatus status = CheckStatus::pass;
    std::string object;  ///< ``tool `x` ``. Empty if it is about the whole plugin.
    std::string method;
    std::string input;
    std::vector<std::string> other_inputs;  ///< Inputs with the same result.
    /// Empty if the step passed. Its `message` then says what passed, or why the step was skipped.
    Error error;
    std::string found;
    std::string expected;
};

struct CheckReport {
    std::string file;  ///< Absolute path of the library, or of the manifest if the library is missing.
    std::string manifest;
    std::string id;
    std::string version;
    std::vector<CheckFinding> findings;  ///< In the order of the steps.
    std::int64_t load_us = 0;            ///< Time to open the library, in microseconds.
    std::uint64_t calls = 0;             ///< Number of calls that returned.
    bool network_closed = false;         ///< True if the child had no network.

    [[nodiscard]] std::size_t count(CheckStatus status) const;
    [[nodiscard]] bool passed() const { return count(CheckStatus::error) == 0; }
};

/// The steps, in order: file, elf, manifest, symbols, undefined, fingerprint, load, descriptor, config_schema, create, describe,
/// calls, destroy, output.
[[nodiscard]] const std::vector<std::string>& check_steps();

struct CheckOptions {
    std::string file;  ///< A library, a manifest or a plugin's folder.
    std::chrono::milliseconds call_limit{5'000};
    std::chrono::milliseconds slow_load{100};        ///< A longer load is a warning.
    std::string program;                             ///< Program to run as the child. It calls `exercise_plugin`.
    std::vector<std::string> arguments;              ///< Arguments of the child.
    std::map<std::string, std::string> environment;  ///< Environment of this process. The child gets only what loading needs.
};

/// Checks one plugin. The report lists the plugin's faults. An Error means that the check itself failed: AF-CHECK-001 (the child
/// cannot be started), `cancelled`. Blocks for at most ten children of forty call limits each.
[[nodiscard]] Result<CheckReport> check_plugin(const CheckOptions& options, const std::function<bool()>& cancelled);

/// Opens a folder as the workspace of a role without path rules. It should offer AtomicEdits, too.
using OpenWorkspace = std::function<Result<std::shared_ptr<Workspace>>(const std::string& folder)>;

/// Functions of higher folders that the child needs.
struct CheckHooks {
    /// Checks that a tool's schema is usable and that arguments satisfy it.
    std::function<Result<void>(std::string_view tool, const json::object& schema, json::object& arguments)> arguments;
    OpenWorkspace workspace;
};

/// Runs the child: reads its instructions from descriptor 3, reports on descriptor 4, and returns the exit code.
int exercise_plugin(const CheckHooks& hooks);

/// Formats the report, for `--json` (docs/plugins-check.md) and for people.
[[nodiscard]] json::object check_json(const CheckReport& report);
[[nodiscard]] std::string check_text(const CheckReport& report);

}  // namespace agentforge::kernel
