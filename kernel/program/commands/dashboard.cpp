// SPDX-License-Identifier: Apache-2.0
#include "dashboard/dashboard.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ostream>
#include <thread>

#include <agentforge/process.hpp>

#include "aggregate/change_watch.hpp"
#include "aggregate/set_figures.hpp"
#include "aggregate/set_watch.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "dashboard/http_server.hpp"
#include "program/command_line.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

struct DashboardArguments {
    std::uint64_t port = 8420;
    std::string socket;
    bool read_only = false;
    std::string metrics_token;  ///< Path of a file.
};

std::vector<std::filesystem::path> task_folders(const std::vector<KnownRepository>& repositories) {
    std::vector<std::filesystem::path> folders;
    for (const KnownRepository& each : repositories) { folders.push_back(Aggregator::agentforge_of(each) / "tasks"); }
    return folders;
}

void print_address(Program& program, const ServerSettings& settings, unsigned port, const std::string& token) {
    const std::string address =
        settings.socket.empty() ? "http://127.0.0.1:" + std::to_string(port) + "/?token=" + token : settings.socket;
    if (program.json_output) {
        program.out << to_json_line({{"address", address}, {"port", port}, {"socket", settings.socket}}) << std::endl;
        return;
    }
    program.out << "Dashboard: " << printable(address) << "\n"
                << (settings.socket.empty()
                        ? "  The address is for you alone and works once; the browser that opens it stays signed in.\n"
                        : "  Only your own processes can connect.\n")
                << "  Ctrl-C stops the dashboard; tasks continue." << std::endl;
}

/// Rereads the user's list of repositories when its file has changed.
class RepositoryList {
public:
    explicit RepositoryList(const Program& program) : program_(program), changed_(changed()) {}

    /// Returns nothing if the list is unchanged or cannot be read.
    std::optional<std::vector<KnownRepository>> if_changed() {
        if (const auto now = changed(); now == changed_) {
            return std::nullopt;
        } else {
            changed_ = now;
        }
        auto known = all_repositories(program_);
        return known.ok() ? std::optional(std::move(*known)) : std::nullopt;
    }

private:
    [[nodiscard]] std::filesystem::file_time_type changed() const {
        const auto known = known_repositories(program_);
        std::error_code none;
        return known.ok() ? std::filesystem::last_write_time(known->file(), none) : std::filesystem::file_time_type();
    }
    const Program& program_;
    std::filesystem::file_time_type changed_;
};

/// Sends changes in the journals to clients, until the user stops the dashboard.
void follow(const Program& program, RepositoryList& list, Aggregator& tasks, SetWatch& sets, EventHub& events) {
    constexpr std::chrono::milliseconds usual_wait{
        2000};  // Finds processes that died without a record. Records arrive as events.
    constexpr std::chrono::milliseconds wait_after_change{200};  // A process often ends after its last record.
    constexpr std::chrono::milliseconds wait_without_events{500};
    // Events usually suffice. Reading everything costs more.
    constexpr std::chrono::seconds full_refresh_interval{60};
    constexpr std::chrono::seconds refresh_interval_without_events{10};
    auto watch = std::make_unique<ChangeWatch>(task_folders(tasks.every_repository()));
    events.publish(tasks.refresh());  // Changes from before the watch.
    const SystemClock clock;
    auto refreshed = clock.steady();
    std::chrono::milliseconds wait = usual_wait;
    while (!program.cancel->requested() && !program.cancel->finishing()) {
        const auto changes = watch->wait(watch->misses_events() ? wait_without_events : wait, -1);
        wait = changes.empty() ? usual_wait : wait_after_change;
        for (const ChangeWatch::Change& change : changes) {
            events.publish(change.task.empty() ? tasks.refresh() : tasks.refresh(change.folder, change.task));
        }
        events.publish(tasks.refresh_processes());
        events.publish(sets.refresh());
        const auto known = list.if_changed();
        if (known) { tasks.set_repositories(*known); }
        const bool moved = known || tasks.availability_changed();
        const bool due =
            clock.steady() - refreshed >= (watch->misses_events() ? refresh_interval_without_events : full_refresh_interval);
        if (moved || due || (watch->misses_events() && changes.empty())) { events.publish(tasks.refresh()); }
        if (moved || (due && watch->misses_events())) {  // A folder may be new.
            watch = std::make_unique<ChangeWatch>(task_folders(tasks.every_repository()));
        }
        if (due) { refreshed = clock.steady(); }
    }
}

/// Returns the first line of the user's file. Errors: AF-DASH-033.
Result<std::string> token_of(const std::filesystem::path& file) {
    const auto refused = [&file](const std::string& why) {
        return Error{"AF-DASH-033", "Cannot use the token for /metrics: " + why, file.string(),
                     "write 16 or more letters and digits into the file, and make it readable only for you (chmod 600)",
                     ErrorKind::invalid};
    };
    constexpr std::size_t shortest = 16;
    const auto text = read_file(file);
    if (!text.ok()) { return refused(text.error().message); }
    std::error_code failure;
    constexpr auto others = std::filesystem::perms::group_all | std::filesystem::perms::others_all;
    if ((std::filesystem::status(file, failure).permissions() & others) != std::filesystem::perms::none || failure) {
        return refused("others can read the file");
    }
    std::string token(first_line(*text));
    const bool plain = std::ranges::all_of(token, [](char letter) { return letter > ' ' && letter < 0x7f; });
    if (token.size() < shortest || !plain) { return refused("its first line is not a token"); }
    return token;
}

int run_dashboard(Program& program, const DashboardArguments& arguments) {
    RepositoryList list(program);
    auto repositories = all_repositories(program);
    if (!repositories.ok()) { return program.fail(repositories.error()); }
    const auto sets_in = sets_folder(program);
    if (!sets_in.ok()) { return program.fail(sets_in.error()); }
    ServerSettings settings;
    settings.port = static_cast<unsigned>(arguments.port);
    if (!arguments.socket.empty()) {
        settings.socket = std::filesystem::absolute(program.directory / arguments.socket).lexically_normal().string();
    }
    std::string metrics_token;
    if (!arguments.metrics_token.empty()) {
        auto token = token_of(program.directory / arguments.metrics_token);
        if (!token.ok()) { return program.fail(token.error()); }
        metrics_token = std::move(*token);
    }
    const auto listener = listen(settings);
    if (!listener.ok()) { return program.fail(listener.error()); }
    ::signal(SIGPIPE, SIG_IGN);                // A client that disconnects is only an error of its connection.
    ::unsetenv(process::supervisor_variable);  // Tasks started here outlive the dashboard.
    program.environment.erase(process::supervisor_variable);
    SystemIdSource ids;
    Guard guard({(*listener)->port(), arguments.read_only, metrics_token}, ids);
    Aggregator tasks(std::move(*repositories));
    (void)tasks.refresh();
    const SystemClock clock;
    EventHub events(ids, clock);
    OwnProgram commands(program.environment);
    SetWatch sets(*sets_in);
    (void)sets.refresh();
    Dashboard dashboard({tasks, events, guard, commands, *sets_in});
    const auto server = (*listener)->serve(dashboard);
    print_address(program, settings, server->port(), guard.token());
    follow(program, list, tasks, sets, events);
    server->stop();
    events.close();
    // Notifies clients before closing their connections.
    constexpr std::chrono::milliseconds at_most{1000};
    constexpr std::chrono::milliseconds between{10};
    for (auto waited = between; events.clients() > 0 && waited < at_most; waited += between) {
        std::this_thread::sleep_for(between);
    }
    return 0;
}

}  // namespace

void add_dashboard(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<DashboardArguments>();
    const Command command =
        add_subcommand(app, "dashboard", "Serve a web page with all tasks of all repositories, on this machine only");
    const Option port =
        add_option(*command, "--port", arguments->port, "Listen on this port of 127.0.0.1 (default: 8420; 0: any free port)");
    port->type_name("N")->between(0, 65535);
    add_option(*command, "--socket", arguments->socket, "Listen on a UNIX socket instead of a port; it needs no token")
        ->type_name("PATH")
        ->excludes(port);
    add_flag(*command, "--read-only", arguments->read_only, "Read-only: the page cannot start, answer or end anything");
    add_option(*command, "--metrics-token", arguments->metrics_token,
               "Let a collector read /metrics with the bearer token in this file")
        ->type_name("FILE");
    add_flag(*command, "--json", program.json_output, "Print the address as JSON");
    command->footer("Examples:\n  agentforge dashboard\n  agentforge dashboard --port 0 --read-only");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_dashboard(program, *arguments); }; });
}

}  // namespace agentforge::kernel
