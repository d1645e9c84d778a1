// SPDX-License-Identifier: Apache-2.0
// Figures over the tasks of a repository.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include "aggregate/aggregator.hpp"
#include "aggregate/statistics.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "git/rework.hpp"
#include "program/command_line.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

using std::chrono::system_clock;

struct StatsArguments {
    std::string since;
    std::uint64_t rework_days = 14;
    bool all = false;
};

struct ReworkSum {
    std::uint64_t commits = 0;  ///< Delivered commits.
    std::uint64_t merged = 0;   ///< Commits that HEAD contains.
    std::uint64_t lines = 0;
    std::uint64_t gone = 0;
};

struct Sums {
    Statistics tasks;
    ReworkSum rework;
};

using Groups = std::map<std::string, Sums>;

struct Found {
    Sums all;
    Groups by_pipeline;
    Groups by_model;
    std::size_t repositories = 0;  ///< Repositories examined.
    std::size_t active = 0;        ///< Repositories with a task that has not ended.
    std::size_t unreadable = 0;
    std::set<std::string> told;  ///< Reported problems, each once.
};

void tell(Program& program, const Error& problem, Found& found) {
    std::string text = printable_lines(problem.to_string());
    if (!found.told.insert(text).second) { return; }
    program.err << "agentforge: " << text << "\n";
}

/// Parses `2026-11-01`, a full RFC 3339 time, or a time span before now (`30d`).
Result<std::optional<system_clock::time_point>> read_since(const std::string& text, system_clock::time_point now) {
    if (text.empty()) { return std::optional<system_clock::time_point>(); }
    if (const auto span = parse_time_span(text)) { return std::optional(now - *span); }
    for (const std::string& whole : {text, text + "T00:00:00.000Z"}) {
        if (const auto time = parse_time(whole); time.ok()) { return std::optional(*time); }
    }
    return Error{"AF-CLI-147", "`" + printable(text, 60) + "` is not a date", "--since",
                 "write a date (2026-11-01) or a time span (30d)", ErrorKind::invalid};
}

void add_task(Program& program, const std::filesystem::path& root, const TaskCase& task, std::chrono::seconds within,
              Found& found) {
    std::vector<Sums*> all{&found.all, &found.by_pipeline[task.pipeline]};
    if (task.spend.calls + task.spend.lost > 0) { all.push_back(&found.by_model[task.model]); }
    for (Sums* sums : all) { sums->tasks.add(task); }
    if (task.commit.empty() || !task.delivered) { return; }
    const auto rework = rework_of(root, task.base_tree, task.commit, within);
    if (!rework.ok()) { tell(program, rework.error(), found); }
    const bool known = rework.ok() && rework->has_value();
    for (Sums* sums : all) {
        sums->rework.commits += 1;
        sums->rework.merged += known ? 1 : 0;
        sums->rework.lines += known ? (*rework)->lines : 0;
        sums->rework.gone += known ? (*rework)->gone : 0;
    }
}

Result<void> add_repository(Program& program, const std::filesystem::path& root, const StatsArguments& arguments,
                            const std::optional<system_clock::time_point>& since, Found& found) {
    const TaskStore store(root / ".agentforge");
    AF_TRY(const TaskListing listing, store.list({}, 0));
    for (const Error& problem : listing.problems) { tell(program, problem, found); }
    bool active = false;
    for (const TaskSummary& summary : listing.tasks) {
        const auto created = parse_time(summary.created_at);
        if (since && created.ok() && *created < *since) { continue; }
        const auto task = case_of(store.paths(summary.task_id), summary.task_id);
        if (!task.ok()) {
            tell(program, task.error(), found);
            found.unreadable += 1;
            continue;
        }
        add_task(program, root, *task, std::chrono::hours(24 * arguments.rework_days), found);
        active = active || !task->ended;
    }
    found.repositories += 1;
    found.active += active ? 1 : 0;
    return {};
}

json::value number_or_null(const std::optional<std::uint64_t>& number) {
    return number ? json::value(*number) : json::value(nullptr);
}
json::value share_or_null(std::uint64_t part, std::uint64_t whole) {
    const auto found = share(part, whole);
    return found ? json::value(*found) : json::value(nullptr);
}

json::object rework_json(const ReworkSum& rework) {
    return {{"delivered_commits", rework.commits},
            {"in_head", rework.merged},
            {"lines", rework.lines},
            {"lines_changed", rework.gone},
            {"rate", share_or_null(rework.gone, rework.lines)}};
}

json::object sums_json(const Sums& found) {
    const Statistics& sums = found.tasks;
    return {{"tasks", sums.tasks},
            {"delivered", sums.delivered},
            {"completed", sums.completed},
            {"ended", sums.ended},
            {"escalated", sums.escalated},
            {"escalation_rate", share_or_null(sums.escalated, sums.tasks)},
            {"gates", sums.gates},
            {"gates_passed", sums.gates_passed},
            {"verification_pass_rate", share_or_null(sums.gates_passed, sums.gates)},
            {"steps_per_delivered_task", number_or_null(median(sums.steps))},
            {"tokens_per_delivered_task", number_or_null(median(sums.tokens))},
            {"waited_for_people_ms", sums.people_ms},
            {"waited_for_people_ms_per_ended_task", number_or_null(median(sums.people))},
            {"rework", rework_json(found.rework)},
            {"tokens", sums.spend.tokens()},
            {"estimated_cost_usd", static_cast<double>(sums.spend.cost_microusd) * 1e-6},
            {"cost_known", sums.spend.cost_known()}};
}

json::array groups_json(const Groups& groups) {
    json::array told;
    for (const auto& [name, sums] : groups) {
        json::object one{{"name", name}};
        for (auto& [key, value] : sums_json(sums)) { one[key] = value; }
        told.push_back(std::move(one));
    }
    return told;
}

/// Returns the weeks since the oldest task was created; at least one.
double weeks_of(const Statistics& sums, system_clock::time_point now) {
    const auto span = sums.first ? now - *sums.first : system_clock::duration::zero();
    return std::max(
        1.0, std::chrono::duration<double>(span).count() / std::chrono::duration<double>(std::chrono::hours(24 * 7)).count());
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
    const auto found = share(part, whole);
    return found ? fmt::format("{:.0f} %", 100 * *found) : "-";
}

std::string cost_of(const Spend& spend) {
    return spend.cost_known()         ? money(spend.cost_microusd)
           : spend.cost_microusd == 0 ? "unknown"
                                      : "at least " + money(spend.cost_microusd);
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
                           percent(found.rework.gone, found.rework.lines), time_of(sums.people), median_of(sums.steps),
                           median_of(sums.tokens), cost_of(sums.spend));
    }
}

void show(std::ostream& out, const Found& found, const StatsArguments& arguments, system_clock::time_point now) {
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
    line("escalated", percent(sums.escalated, sums.tasks), fmt::format("{} asked a person a question", sums.escalated));
    line("verified", percent(sums.gates_passed, sums.gates),
         fmt::format("{} of {} judgements of a stage's work passed", sums.gates_passed, sums.gates));
    line("steps", median_of(sums.steps), "of a delivered task (the median)");
    line("tokens", median_of(sums.tokens), fmt::format("of a delivered task (the median); {} of all tasks", sums.spend.tokens()));
    line("cost", cost_of(sums.spend),
         sums.spend.cost_known() ? "of all tasks"
                                 : fmt::format("of all tasks; the price of {} of {} calls is not known", sums.spend.unpriced,
                                               sums.spend.calls + sums.spend.lost));
    line("people", time_of(sums.people),
         fmt::format("that an ended task waited for a person's answer (the median); {} of all tasks",
                     human_duration(std::chrono::milliseconds(sums.people_ms))));
    line("rework", percent(rework.gone, rework.lines),
         fmt::format("{} of {} delivered lines were changed within {} days; HEAD contains {} of {} delivered commits",
                     rework.gone, rework.lines, arguments.rework_days, rework.merged, rework.commits));
    line("a week", fmt::format("{:.1f}", static_cast<double>(sums.completed) / weeks_of(sums, now)),
         fmt::format("completed tasks; {:.1f} were started", static_cast<double>(sums.tasks) / weeks_of(sums, now)));
    line("audit trail", percent(sums.tasks, sums.tasks + found.unreadable),
         fmt::format("{} of {} journals are intact, record by record", sums.tasks, sums.tasks + found.unreadable));
    if (arguments.all) {
        line("repositories", std::to_string(found.active), fmt::format("of {} have an active task", found.repositories));
    }
    show_groups(out, "pipeline", found.by_pipeline);
    show_groups(out, "model", found.by_model);
}

int run_stats(Program& program, const StatsArguments& arguments) {
    const auto now = system_clock::now();
    const auto since = read_since(arguments.since, now);
    if (!since.ok()) {
        program.fail(since.error());
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
    Found found;
    std::size_t left_out = 0;
    for (const KnownRepository& repository : repositories) {
        if (const auto problem = arguments.all ? problem_of(repository) : std::nullopt) {
            tell(program, *problem, found);
            ++left_out;
            continue;
        }
        if (const auto added = add_repository(program, repository.path, arguments, *since, found); !added.ok()) {
            return program.fail(added.error());
        }
    }
    if (program.json_output) {
        json::object told = sums_json(found.all);
        told["since"] = *since ? json::value(format_time(**since)) : json::value(nullptr);
        const Statistics& sums = found.all.tasks;
        told["tasks_per_week"] = sums.tasks == 0 ? 0.0 : static_cast<double>(sums.tasks) / weeks_of(sums, now);
        told["completed_per_week"] = sums.tasks == 0 ? 0.0 : static_cast<double>(sums.completed) / weeks_of(sums, now);
        told["audit_trail_completeness"] = share_or_null(sums.tasks, sums.tasks + found.unreadable);
        told["repositories"] = found.repositories;
        told["repositories_with_open_tasks"] = found.active;
        told["unreadable_tasks"] = found.unreadable;
        told["repositories_left_out"] = left_out;
        told["rework"].as_object()["days"] = arguments.rework_days;
        told["by_pipeline"] = groups_json(found.by_pipeline);
        told["by_model"] = groups_json(found.by_model);
        program.print_json(told);
    } else {
        show(program.out, found, arguments, now);
    }
    return found.unreadable + left_out == 0 ? 0 : static_cast<int>(ExitCode::failed);
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
