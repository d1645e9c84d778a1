// SPDX-License-Identifier: Apache-2.0
// Figures over the tasks of a repository.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "aggregate/aggregator.hpp"
#include "aggregate/figures.hpp"
#include "aggregate/followed_task.hpp"
#include "aggregate/statistics.hpp"
#include "base/text.hpp"
#include "program/command_line.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

namespace {

using std::chrono::system_clock;

struct StatsArguments {
    std::string since;
    std::uint64_t rework_days = default_rework_days;
    bool all = false;
};

struct Found {
    TaskStatistics figures;
    std::set<std::string> reported;  ///< Reported problems, each once.
};

void report_once(Program& program, const Error& problem, Found& found) {
    std::string text = printable_lines(problem.to_string());
    if (!found.reported.insert(text).second) { return; }
    program.err << "agentforge: " << text << "\n";
}

Result<void> add_repository(Program& program, const std::filesystem::path& root, Found& found) {
    const TaskStore store(root / ".agentforge");
    AF_TRY(const TaskListing listing, store.list({}, 0));
    for (const Error& problem : listing.problems) { report_once(program, problem, found); }
    const auto cannot_be_read = [&](const std::string& task_id, const Error& problem) {
        const TaskOverview task = projected_task(store, task_id, problem).overview;
        if (!found.figures.includes(task.summary.created_at)) { return; }
        report_once(program, problem, found);
        found.figures.unreadable.push_back(problem);
    };
    for (const auto& [task_id, problem] : listing.damaged) { cannot_be_read(task_id, problem); }
    const auto rework_in = [&](const TaskSample& task) -> std::optional<Rework> {
        const auto within = std::chrono::hours(24 * found.figures.rework_days);
        const auto rework = rework_of(root, task.base_tree, task.commit, within);
        if (!rework.ok()) { report_once(program, rework.error(), found); }
        return rework.ok() ? *rework : std::nullopt;
    };
    bool active = false;
    for (const TaskSummary& summary : listing.tasks) {
        const std::string& id = summary.task_id;
        if (listing.damaged.contains(id) || !found.figures.includes(summary.created_at)) { continue; }
        FollowedTask followed(store.paths(id), id);
        const auto read = followed.refresh();
        if (!read.ok() || followed.state().task_id != id) {
            if (const auto problem = store.damage(id, read)) { cannot_be_read(id, *problem); }
            continue;
        }
        const TaskSample task = sample_of(followed.state());
        found.figures.add(task, rework_in);
        active = active || !task.ended;
    }
    found.figures.repositories += 1;
    found.figures.active += active ? 1 : 0;
    return {};
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    const auto found = share(part, whole);
    return found ? fmt::format("{:.0f} %", 100 * *found) : "-";
}

std::string cost_of(const Spend& spend) {
    if (spend.cost_known()) { return money(spend.cost_microusd); }
    return spend.cost_microusd == 0 ? "unknown" : "at least " + money(spend.cost_microusd);
}

std::string median_of(const std::vector<std::uint64_t>& values) {
    const auto found = median(values);
    return found ? std::to_string(*found) : "-";
}

std::string time_of(const std::vector<std::uint64_t>& values) {
    const auto found = median(values);
    return found ? human_duration(std::chrono::milliseconds(*found)) : "-";
}

void show_groups(std::ostream& out, const char* title, const Groups& groups) {
    if (groups.empty()) { return; }
    out << fmt::format("\n  {:<28} {:>6} {:>10} {:>10} {:>9} {:>7} {:>9} {:>9} {:>11}  {}\n", title, "tasks", "delivered",
                       "escalated", "verified", "rework", "people", "steps", "tokens", "cost");
    for (const auto& [name, found] : groups) {
        const Statistics& sums = found.tasks;
        out << fmt::format("    {:<26} {:>6} {:>10} {:>10} {:>9} {:>7} {:>9} {:>9} {:>11}  {}\n",
                           name.empty() ? "(not named)" : printable(name, 26), sums.tasks, percent(sums.delivered, sums.tasks),
                           percent(sums.escalated, sums.tasks), percent(sums.gates_passed, sums.gates),
                           percent(found.rework.reworked_lines, found.rework.lines), time_of(sums.people), median_of(sums.steps),
                           median_of(sums.tokens), cost_of(sums.spend));
    }
}

void show(std::ostream& out, const TaskStatistics& found, const StatsArguments& arguments, system_clock::time_point now) {
    const Statistics& sums = found.all.tasks;
    const ReworkSum& rework = found.all.rework;
    out << sums.tasks << (sums.tasks == 1 ? " task" : " tasks")
        << (arguments.since.empty() ? "" : " since " + printable(arguments.since, 40)) << "\n";
    if (sums.tasks == 0) { return; }
    const auto line = [&out](const char* name, const std::string& value, const std::string& words) {
        out << fmt::format("  {:<14} {:>9}  {}\n", name, value, words);
    };
    line("delivered", percent(sums.delivered, sums.tasks),
         fmt::format("{} of {}; {} have ended", sums.delivered, sums.tasks, sums.ended));
    line("escalated", percent(sums.escalated, sums.tasks), fmt::format("{} asked a person", sums.escalated));
    line("verified", percent(sums.gates_passed, sums.gates),
         fmt::format("{} of {} judgements of a stage's work passed", sums.gates_passed, sums.gates));
    line("steps", median_of(sums.steps), "of a delivered task (the median)");
    line("tokens", median_of(sums.tokens), fmt::format("of a delivered task (the median); {} of all tasks", sums.spend.tokens()));
    line("cost", cost_of(sums.spend),
         sums.spend.cost_known() ? "of all tasks"
                                 : fmt::format("of all tasks; the price of {} of {} calls is not known", sums.spend.unpriced,
                                               sums.spend.calls + sums.spend.lost));
    line("people", time_of(sums.people),
         fmt::format("median wait of an ended task for a person's answer; {} for all tasks",
                     human_duration(std::chrono::milliseconds(sums.people_ms))));
    line("rework", percent(rework.reworked_lines, rework.lines),
         fmt::format("{} of {} delivered lines were changed within {} days; HEAD contains {} of {} delivered commits",
                     rework.reworked_lines, rework.lines, arguments.rework_days, rework.merged, rework.commits));
    line("a week", fmt::format("{:.1f}", static_cast<double>(sums.completed) / found.weeks(now)),
         fmt::format("completed tasks; {:.1f} were started", static_cast<double>(sums.tasks) / found.weeks(now)));
    const std::size_t journals = sums.tasks + found.unreadable.size();
    line("audit trail", percent(sums.tasks, journals),
         fmt::format("{} of {} journals are intact, record by record", sums.tasks, journals));
    if (arguments.all) {
        line("repositories", std::to_string(found.active), fmt::format("of {} have an active task", found.repositories));
    }
    show_groups(out, "pipeline", found.by_pipeline);
    show_groups(out, "model", found.by_model);
}

int run_stats(Program& program, const StatsArguments& arguments) {
    const auto now = system_clock::now();
    Found found;
    found.figures.rework_days = arguments.rework_days;
    found.figures.since = parse_since(arguments.since, now);
    if (!arguments.since.empty() && !found.figures.since) {
        program.fail(Error{"AF-CLI-147", "`" + printable(arguments.since, 60) + "` is not a date", "--since",
                           "write a date (2026-11-01) or a time span (30d)", ErrorKind::invalid});
        return static_cast<int>(ExitCode::usage);
    }
    std::vector<KnownRepository> repositories;
    if (arguments.all) {
        const auto known = known_repositories(program);
        auto list = known.ok() ? known->list() : Result<std::vector<KnownRepository>>(known.error());
        if (!list.ok()) { return program.fail(list.error()); }
        repositories = std::move(*list);
    } else {
        const auto place = ProjectPlace::find(program);
        if (!place.ok()) { return program.fail(place.error()); }
        repositories.push_back({"", place->root});
    }
    for (const KnownRepository& repository : repositories) {
        if (const auto problem = arguments.all ? problem_of(repository) : std::nullopt) {
            report_once(program, *problem, found);
            found.figures.left_out += 1;
            continue;
        }
        if (const auto added = add_repository(program, repository.path, found); !added.ok()) {
            return program.fail(added.error());
        }
    }
    if (program.json_output) {
        program.print_json(to_json(found.figures, now));
    } else {
        show(program.out, found.figures, arguments, now);
    }
    return found.figures.unreadable.empty() && found.figures.left_out == 0 ? 0 : static_cast<int>(ExitCode::failed);
}

}  // namespace

void add_stats(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<StatsArguments>();
    const Command command = add_subcommand(
        app, "stats", "Show statistics of the repository's tasks: deliveries, escalations, verification, cost, rework");
    add_option(*command, "--since", arguments->since, "Only tasks created since then: a date, or a time span such as 30d")
        ->type_name("DATE");
    add_option(*command, "--rework-days", arguments->rework_days,
               "A delivered line counts as reworked if it changes within N days (default: 14)")
        ->type_name("N")
        ->between(1, 3650);
    add_flag(*command, "--all", arguments->all, "The tasks of every known repository");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Examples:\n  agentforge stats\n  agentforge stats --since 30d\n  agentforge stats --all --json");
    command->callback([&program, arguments] {
        program.pages = true;
        program.command = [&program, arguments] { return run_stats(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
