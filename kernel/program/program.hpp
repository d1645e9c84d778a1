// SPDX-License-Identifier: Apache-2.0
// The context of every command: the folder it runs in, its output streams, and its output format.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/cancel_token.hpp"

namespace CLI {
class App;
}

namespace agentforge::kernel {

/// Results go to `out`, progress and errors to `err`.
struct Program {
    std::ostream& out;
    std::ostream& err;
    std::map<std::string, std::string> environment;
    std::filesystem::path directory;  ///< Where the command looks for the repository (-C, --repo).
    CancelToken* cancel = nullptr;    ///< Requested by SIGINT and SIGTERM.
    bool err_is_terminal = false;
    bool in_is_terminal = false;
    bool out_is_terminal = false;
    std::function<bool()> continued = {};  ///< True if SIGCONT arrived since the last call.

    // Set by the command line.
    bool json_output = false;
    bool stream_output = false;  ///< --output-format stream-json: events, then the result, one object a line.
    bool quiet = false;
    std::vector<std::pair<std::string, std::string>> settings = {};  ///< --set key=value, and the flags that are shorthand for
                                                                     ///< one.
    std::function<int()> command = {};                               ///< The chosen command's action; returns the exit code.
    bool pages = false;             ///< The command's output may be long; a pager shows it on a terminal.
    bool wraps = false;             ///< The output is for people, and is wrapped to the width of the terminal.
    bool trust_project = false;     ///< --trust: this run runs what the project's files name, trusted or not.
    bool skip_destructors = false;  ///< The thread of a plugin that hangs is still running.
    std::function<void(const Error&)> failed =
        {};                         ///< Called with each error before it is printed; set while a project's log is open.
    std::string command_name = {};  ///< "escalations list", as the log names it.
    int detached = -1;              ///< --detach, in the child: the descriptor to which it writes the task's id (detach.hpp).
    std::string place_flag = {};    ///< `-C DIR` or `--repo NAME` as given on this command line, quoted for a shell; or empty.

    /// Prints an error the way the user asked for (text on err, or a JSON object on out) and returns the exit code for it.
    int fail(const Error& error);
    void print_json(const json::value& value);
    /// Adds `place_flag` to each `agentforge COMMAND` of a text, so that a copied command finds the same repository.
    [[nodiscard]] std::string with_place(std::string text) const;
};

/// `{"error": {"code", "message", "where", "remedy"}}`
[[nodiscard]] json::object error_json(const Error& error);
/// Returns the error for a process that something other than `main` ended. `culprit`: the running plugin call, or "".
[[nodiscard]] Error unexpected_exit(const std::string& culprit);

/// Each adds one command (or one group) to the program's grammar.
void add_init(CLI::App& app, Program& program);
/// `name`: start, design, implement, review, test or document.
void add_start(CLI::App& app, Program& program, std::string_view name);
void add_run(CLI::App& app, Program& program);
void add_check(CLI::App& app, Program& program);
void add_fix(CLI::App& app, Program& program);
void add_status(CLI::App& app, Program& program);
void add_resume(CLI::App& app, Program& program);
void add_continue(CLI::App& app, Program& program);
void add_abort(CLI::App& app, Program& program);
void add_decisions(CLI::App& app, Program& program);    ///< approve, reject, feedback
void add_escalations(CLI::App& app, Program& program);  ///< escalations list, show, resolve
void add_remind(CLI::App& app, Program& program);
void add_inspect(CLI::App& app, Program& program);
void add_cost(CLI::App& app, Program& program);
void add_history(CLI::App& app, Program& program);
void add_metrics(CLI::App& app, Program& program);
void add_stats(CLI::App& app, Program& program);
void add_diff(CLI::App& app, Program& program);
void add_apply(CLI::App& app, Program& program);
void add_rebase(CLI::App& app, Program& program);
void add_replay(CLI::App& app, Program& program);
void add_fork(CLI::App& app, Program& program);
void add_compare(CLI::App& app, Program& program);
void add_audit(CLI::App& app, Program& program);    ///< audit, audit verify
void add_archive(CLI::App& app, Program& program);  ///< archive list, archive restore
void add_gc(CLI::App& app, Program& program);
void add_plugins(CLI::App& app, Program& program);  ///< plugins list
void add_trust(CLI::App& app, Program& program);
void add_setup(CLI::App& app, Program& program);
void add_servers(CLI::App& app, Program& program);  ///< servers list, servers check
void add_doctor(CLI::App& app, Program& program);
void add_agents(CLI::App& app, Program& program);     ///< agents list, show, validate
void add_contracts(CLI::App& app, Program& program);  ///< contracts list, show, validate
void add_pipelines(CLI::App& app, Program& program);  ///< pipelines list, show, validate
void add_config(CLI::App& app, Program& program);     ///< config show, get, set
void add_logs(CLI::App& app, Program& program);
void add_attach(CLI::App& app, Program& program);
void add_pause(CLI::App& app, Program& program);
void add_dashboard(CLI::App& app, Program& program);
void add_repo(CLI::App& app, Program& program);  ///< repo add, repo list, repo remove
void add_completion(CLI::App& app, Program& program);
void add_help(CLI::App& app, Program& program);

/// Parses the command line and runs the command. Returns the exit code.
int run_program(int argc, const char* const* argv, Program& program);

/// Returns a word as a person can type it in a shell, quoted if it must be.
[[nodiscard]] std::string shell_quoted(const std::string& word);

}  // namespace agentforge::kernel
