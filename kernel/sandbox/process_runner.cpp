// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process_runner.hpp"

#include <agentforge/conversation.hpp>
#include <agentforge/process.hpp>

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

#include "sandbox/failures.hpp"
#include "sandbox/system_paths.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::array<const char*, 6> devices{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"};
constexpr unsigned max_open_files = 4096;
constexpr const char* default_path = "/usr/local/bin:/usr/bin:/bin";

/// Checks the text of the path: no `//`, no `/` at the end. Refuses `.` and `..`, which would make the granted path hard to see.
Result<std::string> granted_path(const std::string& path, const char* list) {
    std::string clean;
    bool good = !path.empty() && path.front() == '/' && path.find('\0') == std::string::npos;
    for (std::size_t begin = 0; good && begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string part = path.substr(begin, end - begin);
        good = part != "." && part != "..";
        if (!part.empty()) { clean += "/" + part; }
        begin = end + 1;
    }
    if (good) { return clean.empty() ? "/" : clean; }
    return Error{"AF-EXEC-004", "A path of the confinement is not absolute or holds '.', '..' or NUL: '" + path + "'", list,
                 "Give the absolute path as the kernel knows it (realpath).", ErrorKind::invalid};
}

class Policy {
public:
    void set(std::string_view key, std::string_view value) { text_.append(key).append(" ").append(value).push_back('\0'); }
    void set(std::string_view key, std::uint64_t value) { set(key, std::to_string(value)); }
    Result<void> grant(std::string_view key, const std::vector<std::string>& paths, const char* list) {
        for (const std::string& path : paths) {
            AF_TRY(const std::string clean, granted_path(path, list));
            set(key, clean);
        }
        return {};
    }
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

Result<std::string> make_policy(const Confinement& confinement, const std::vector<std::string>& accepted_gaps,
                                const std::string& program, const std::string& directory) {
    Policy policy;
    policy.set("host", static_cast<std::uint64_t>(::getpid()));
    policy.set("program", program);
    policy.set("directory", directory);
    policy.set("confine", std::uint64_t{confinement.enabled ? 1U : 0U});
    policy.set("network", confinement.network == Network::full || !confinement.enabled ? "full" : "none");
    if (!confinement.enabled) { return policy.take(); }
    policy.set("namespaces", std::uint64_t{confinement.namespaces ? 1U : 0U});
    policy.set("landlock_at_most", static_cast<std::uint64_t>(std::max(0, confinement.landlock_at_most)));
    for (const std::string& gap : accepted_gaps) { policy.set("accept", gap); }
    policy.set("memory", confinement.max_memory_bytes);
    policy.set("shared_bytes", confinement.max_shared_bytes);
    policy.set("processes", confinement.max_processes);
    policy.set("file_bytes", confinement.max_file_bytes);
    policy.set("cpu_seconds", confinement.max_cpu_seconds);
    policy.set("open_files", std::uint64_t{max_open_files});
    for (const std::string_view path : system_paths()) { policy.set("system", path); }
    for (const char* path : devices) { policy.set("device", path); }
    for (const std::string& path : system_secrets()) { policy.set("hide", path); }
    AF_CHECK(policy.grant("read", confinement.readable, "readable"));
    AF_CHECK(policy.grant("write", confinement.writable, "writable"));
    AF_CHECK(policy.grant("hide", confinement.hidden, "hidden"));
    return policy.take();
}

/// The helper's report, parsed record by record.
struct Report {
    json::object in_force;
    std::string refused, failed;
    std::optional<int> exec_error, exit_code, signal;
    bool started = false;
};

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

constexpr std::array<std::string_view, 6> words_of_report{"mode", "no_full_mode", "network", "processes_by", "cgroup", "limit"};

Report read_report(std::string_view text) {
    Report report;
    json::array absent;
    json::array open_gaps;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\0'), text.size());
        const std::string_view record = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t blank = std::min(record.find(' '), record.size());
        const std::string key(record.substr(0, blank));
        const std::string value(record.substr(std::min(blank + 1, record.size())));
        if (key == "refused") {
            report.refused = value;
        } else if (key == "failed") {
            report.failed = value;
        } else if (key == "exec") {
            report.exec_error = static_cast<int>(number(value));
        } else if (key == "exit") {
            report.exit_code = static_cast<int>(number(value));
        } else if (key == "signal") {
            report.signal = static_cast<int>(number(value));
        } else if (key == "started") {
            report.started = true;
        } else if (key == "absent") {
            absent.emplace_back(process::to_utf8(value));
        } else if (key == "open_gap") {
            open_gaps.emplace_back(value);
        } else if (std::ranges::find(words_of_report, key) != words_of_report.end()) {
            report.in_force[key] = process::to_utf8(value);
        } else {
            report.in_force[key] = number(value);
        }
    }
    if (!open_gaps.empty()) { report.in_force["open_gaps"] = std::move(open_gaps); }
    if (!absent.empty()) { report.in_force["absent"] = std::move(absent); }
    return report;
}

/// Returns the helper's command line for a request.
Result<process::Command> helper_command(const ExecHelper& helper, const ProcessRequest& request, const std::string& program) {
    process::Command command;
    command.program = helper.path;
    command.argv = request.argv;
    command.argv.insert(command.argv.begin(), "agentforge-exec");
    command.directory = request.directory;
    command.environment = request.environment;
    command.input = request.input;
    command.timeout = request.timeout;
    command.grace = request.grace;
    command.max_output_bytes = request.max_output_bytes;
    command.supervisor = true;
    AF_TRY(command.extra_input, make_policy(request.confinement, helper.accepted_gaps, program, request.directory));
    return command;
}

Result<std::string> program_of(const ProcessRequest& request) {
    if (request.argv.empty()) {
        return Error{"AF-EXEC-002", "An empty command cannot be started", "argv", "Name a program.", ErrorKind::invalid};
    }
    const auto path = request.environment.find("PATH");
    return process::find_program(request.argv.front(), path != request.environment.end() ? path->second : default_path,
                                 request.directory);
}

/// A missing helper is a defect of the installation, not of the command.
Error helper_failure(Error error, const std::string& helper) {
    if (error.where == helper && (is_missing_program(error) || error.code == "AF-EXEC-003")) {
        error.code = "AF-EXEC-005";
        error.message = "The helper agentforge-exec cannot be run: " + error.message;
        error.remedy = "Install AgentForge again, or set the path of agentforge-exec.";
    }
    return error;
}

Result<ProcessOutcome> outcome_of(const ProcessRequest& request, const std::string& program, process::Outcome ran);

class HelperRunner final : public ProcessRunner {
public:
    explicit HelperRunner(ExecHelper helper) : helper_(std::move(helper)) {}

    Result<ProcessOutcome> run(const ProcessRequest& request, const Stop& stop) override {
        AF_TRY(const std::string program, program_of(request));
        AF_TRY(process::Command command, helper_command(helper_, request, program));
        if (stop.deadline) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(*stop.deadline - std::chrono::steady_clock::now());
            command.timeout = std::clamp(left, std::chrono::milliseconds(0), command.timeout);
        }

        auto ran = process::run(
            command, stop.cancel == nullptr ? process::Cancelled{} : [&stop] { return stop.cancelled(); });
        if (!ran) { return helper_failure(std::move(ran).error(), helper_.path); }
        return outcome_of(request, program, std::move(ran).value());
    }

private:
    ExecHelper helper_;
};

Result<ProcessOutcome> outcome_of(const ProcessRequest& request, const std::string& program, process::Outcome ran) {
    Report report = read_report(ran.report);
    const bool stopped = ran.timed_out || ran.cancelled;
    if (!report.refused.empty()) {
        return Error{
            "AF-EXEC-004", "The program cannot be confined: " + process::to_utf8(report.refused), program,
            "Allow namespaces for this user, use a kernel with a newer Landlock, or correct the paths; see docs/security.md.",
            ErrorKind::unavailable};
    }
    if (!report.failed.empty()) {
        return Error{"AF-EXEC-002", "The program cannot be started: " + process::to_utf8(report.failed), program,
                     "Check the limits of this user (ulimit -a) and the kernel's log.", ErrorKind::io};
    }
    if (report.exec_error) {
        return Error{
            "AF-EXEC-003", "The program cannot be executed: " + std::system_category().message(*report.exec_error), program,
            "Check its permissions, its first line (#!) if it is a script, and that its folder is readable in the confinement.",
            ErrorKind::unavailable};
    }
    if (!report.started && !stopped) {
        return Error{"AF-EXEC-002", "The helper ended before the program began (status " + std::to_string(ran.exit_code) + ")",
                     program, "Check the limits of this user (ulimit -a) and the kernel's log.", ErrorKind::io};
    }
    ProcessOutcome outcome;
    outcome.signal = report.signal.value_or(ran.signal);
    outcome.exit_code = outcome.signal != 0 ? 128 + outcome.signal : report.exit_code.value_or(ran.exit_code);
    outcome.timed_out = ran.timed_out;
    outcome.cancelled = ran.cancelled;
    outcome.out_truncated = ran.out_truncated;
    outcome.err_truncated = ran.err_truncated;
    outcome.out = std::move(ran.out);
    outcome.err = std::move(ran.err);
    outcome.duration = ran.duration;
    outcome.confinement = std::move(report.in_force);
    outcome.confinement["enabled"] = request.confinement.enabled;
    outcome.confinement["no_new_privs"] = request.confinement.enabled;
    return outcome;
}

class HelperProcess final : public InteractiveProcess {
public:
    HelperProcess(process::Conversation conversation, ProcessRequest request, std::string program)
        : conversation_(std::move(conversation)), request_(std::move(request)), program_(std::move(program)) {}

    Exchanged exchange(std::string& to_write, std::string& out, std::string& err, std::chrono::milliseconds wait) override {
        const auto exchanged = conversation_.exchange(to_write, out, err, wait);
        return {exchanged.in_open, exchanged.out_open, exchanged.ended};
    }
    Result<ProcessOutcome> end(std::chrono::milliseconds timeout) override {
        return outcome_of(request_, program_, conversation_.end(timeout, request_.grace));
    }

private:
    process::Conversation conversation_;
    ProcessRequest request_;
    std::string program_;
};

}  // namespace

Result<std::unique_ptr<InteractiveProcess>> start_interactive(const ExecHelper& exec_helper, const ProcessRequest& request) {
    AF_TRY(const std::string program, program_of(request));
    AF_TRY(const process::Command command, helper_command(exec_helper, request, program));
    auto conversation = process::Conversation::begin(command);
    if (!conversation) { return helper_failure(std::move(conversation).error(), exec_helper.path); }
    return std::unique_ptr<InteractiveProcess>(
        std::make_unique<HelperProcess>(std::move(conversation).value(), request, program));
}

std::unique_ptr<ProcessRunner> make_process_runner(ExecHelper exec_helper) {
    return std::make_unique<HelperRunner>(std::move(exec_helper));
}

}  // namespace agentforge::kernel
