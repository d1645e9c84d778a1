// SPDX-License-Identifier: Apache-2.0
#include "dashboard/command_runner.hpp"

#include <agentforge/process.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::array<std::string_view, 20> conflicts{"AF-TASK-003", "AF-JRNL-002", "AF-TASK-020", "AF-CLI-074",  "AF-ORCH-042",
                                                     "AF-ORCH-043", "AF-ORCH-049", "AF-ESC-003",  "AF-ESC-004",  "AF-ESC-006",
                                                     "AF-ESC-035",  "AF-ESC-036",  "AF-ESC-047",  "AF-GIT-010",  "AF-CLI-137",
                                                     "AF-CLI-163",  "AF-ORCH-050", "AF-ORCH-051", "AF-ORCH-055", "AF-ORCH-077"};
constexpr std::array<std::string_view, 5> missing{"AF-TASK-002", "AF-TASK-017", "AF-ESC-001", "AF-ORCH-041", "AF-PIPE-001"};
constexpr std::array<std::string_view, 4> denied{"AF-PLUG-040", "AF-PLUG-043", "AF-GIT-002", "AF-CLI-130"};

/// A command answers with the error's code, not its kind.
ErrorKind kind_of_code(std::string_view code) {
    if (std::ranges::find(conflicts, code) != conflicts.end()) { return ErrorKind::conflict; }
    if (std::ranges::find(missing, code) != missing.end()) { return ErrorKind::not_found; }
    if (std::ranges::find(denied, code) != denied.end()) { return ErrorKind::denied; }
    if (code.starts_with("AF-LLM-") || code.starts_with("AF-GIT-")) { return ErrorKind::unavailable; }
    if (code.starts_with("AF-JRNL-")) { return ErrorKind::corrupt; }
    return ErrorKind::invalid;
}

}  // namespace

std::optional<Error> error_of_answer(const json::object& answer) {
    const json::value* error = answer.if_contains("error");
    if (error == nullptr || !error->is_object()) { return std::nullopt; }
    const json::object& fields = error->get_object();
    const std::string code = text_of(fields, "code");
    return Error{code, text_of(fields, "message"), text_of(fields, "where"), text_of(fields, "remedy"), kind_of_code(code)};
}

OwnProgram::OwnProgram(std::map<std::string, std::string> environment, std::chrono::milliseconds timeout)
    : environment_(std::move(environment)), timeout_(timeout) {}

Result<json::object> OwnProgram::run(const std::filesystem::path& repository, std::vector<std::string> arguments,
                                     const std::string& input) {
    process::Command command;
    command.program = std::filesystem::read_symlink("/proc/self/exe").string();
    command.argv = {"agentforge", "-C", repository.string()};
    command.argv.insert(command.argv.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
    constexpr std::size_t most_argument_bytes = 128UL * 1024 - 1;  // Linux: MAX_ARG_STRLEN, with the final zero byte.
    for (const std::string& argument : command.argv) {
        if (argument.size() <= most_argument_bytes) { continue; }
        return Error{"AF-DASH-025", "A string in the request is longer than 128 KiB", command.argv.at(3),
                     "shorten it, or put it into a file and use the command line", ErrorKind::invalid};
    }
    command.directory = repository.string();
    command.environment = environment_;
    command.input = input;
    command.timeout = timeout_;
    constexpr std::size_t most_bytes = 8UL << 20U;
    command.max_output_bytes = most_bytes;
    AF_TRY(const process::Outcome outcome, process::run(command, {}));
    if (outcome.timed_out) {
        return Error{"AF-DASH-021", "The command did not answer in time", command.argv.at(3),
                     "look at `agentforge status`, and run the command in a terminal", ErrorKind::timeout};
    }
    auto answer = parse_json(outcome.out, "answer of the command");
    if (!answer.ok() || !answer->is_object()) {
        return Error{"AF-DASH-020", "The command printed no answer: " + ellipsis(sanitize_utf8(first_line(outcome.err)), 300),
                     command.argv.at(3), "run it in a terminal to see why", ErrorKind::unavailable};
    }
    if (auto error = error_of_answer(answer->get_object())) { return std::move(*error); }
    return std::move(answer->get_object());
}

}  // namespace agentforge::kernel
