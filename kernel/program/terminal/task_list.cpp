// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/task_list.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>

#include "aggregate/aggregator.hpp"
#include "aggregate/set_figures.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "git/archives.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/known_repositories.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/task_box.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

/// The tasks of one repository that the list shows.
struct ShownTasks {
    std::filesystem::path root;
    std::string name;       ///< The repository's.
    TaskCounts counts;      ///< Of all its tasks.
    std::size_t total = 0;  ///< All its tasks.
    std::vector<TaskOverview> shown;
    std::size_t wanted = 0;  ///< Tasks that match the options, shown or not.

    [[nodiscard]] std::size_t left_out() const noexcept { return wanted - shown.size(); }
};

bool is_wanted(const TaskOverview& task, const TaskListOptions& options) {
    if (!options.state.empty()) { return state_name(task) == (options.state == "running" ? "in_progress" : options.state); }
    if (options.all) { return options.ended || !has_ended(task.summary); }
    return !options.ended || has_ended(task.summary);
}

TaskOverviews& overviews_of(SeenRepositories& seen, const std::filesystem::path& root) {
    return seen.try_emplace(root, root / ".agentforge").first->second;
}

Result<ShownTasks> listing_of(Program& program, SeenRepositories& seen, const std::filesystem::path& root, std::string name,
                              const TaskListOptions& options) {
    TaskOverviews& overviews = overviews_of(seen, root);
    AF_TRY(TaskOverviews::Listing all,
           overviews.list([&](const TaskOverview& task) { return is_wanted(task, options); }, options.limit));
    std::set<std::string> object;  // Each problem is shown once.
    const auto tell = [&](const Error& problem) {
        const std::string text = printable_lines(problem.to_string());
        if (object.insert(text).second) { program.err << "agentforge: " << text << "\n"; }
    };
    for (const Error& problem : all.problems) { tell(problem); }
    ShownTasks found{.root = root,
                     .name = std::move(name),
                     .counts = std::move(all.counts),
                     .total = all.total,
                     .shown = std::move(all.tasks),
                     .wanted = all.wanted};
    for (TaskOverview& task : found.shown) {
        task = overviews.with_journal_facts(std::move(task));
        if (const auto& problem = task.problem) {
            tell(*problem);
            const bool is_unknown = state_name(task) == "unknown";
            program.err << "The status of task " << short_id(task.summary.task_id)
                        << (is_unknown ? " is unknown: state.yaml cannot be read either.\n" : " is from state.yaml.\n");
        }
    }
    return found;
}

/// Returns the sets that have a part in the repository, or all.
json::array sets_of(const Program& program, SeenRepositories& seen, const std::optional<std::filesystem::path>& root) {
    json::array list;
    const auto folder = sets_folder(program);
    if (!folder.ok()) { return list; }
    const auto condition = [&seen](const SetPart& part) { return state_name(overviews_of(seen, part.path).find(part.task)); };
    for (const TaskSet& set : list_sets(*folder).sets) {
        const bool is_here = !root || std::ranges::find(set.parts, *root, &SetPart::path) != set.parts.end();
        if (is_here) { list.push_back(figures_of(set, condition)); }
    }
    return list;
}

json::object to_json(const ShownTasks& listing) {
    json::array tasks;
    for (const TaskOverview& overview : listing.shown) { tasks.push_back(to_json(overview)); }
    return {{"tasks", std::move(tasks)}, {"total", listing.wanted}, {"counts", to_json(listing.counts)}};
}

std::string symbol(const TaskOverview& overview) {
    const TaskSummary& task = overview.summary;
    if (is_interrupted(overview)) { return "x"; }
    if (waits_for_person(overview)) { return "!"; }
    if (task.status == "completed") { return "+"; }
    return has_ended(task) ? "x" : "*";
}

void print_plainly(const Program& program, std::ostream& out, const ShownTasks& listing) {
    out << "AGENTFORGE STATUS  " << printable(listing.name) << "\n" << counts_in_words(listing.counts, false) << "\n";
    for (const TaskOverview& overview : listing.shown) {
        const TaskSummary& task = overview.summary;
        out << fmt::format("\n{} {:<18} {:<9} {}\n    {}\n", symbol(overview),
                           is_interrupted(overview) ? "INTERRUPTED" : state_name(overview), task.current_stage,
                           short_id(task.task_id), quoted_request(task.request, 100));
        for (const std::string& line : plain_lines(program, overview)) { out << "    " << line << "\n"; }
    }
    if (listing.left_out() > 0) {
        out << "\n… and " << listing.left_out() << " more: " << program.with_place("agentforge status --limit 0") << "\n";
    }
}

void print(const Program& program, std::ostream& out, const ShownTasks& listing) {
    if (shows_boxes(program) && !listing.shown.empty()) {
        print_box(program, out,
                  box_of_tasks(program, listing.name, listing.counts, listing.shown, listing.left_out(), box_style_of(program),
                               SystemClock().now()));
    } else {
        print_plainly(program, out, listing);
    }
}

/// Prints why a list of one repository is empty.
void say_why_none(const Program& program, std::ostream& out, const ShownTasks& listing, const TaskListOptions& options) {
    if (listing.total > 0 && options.state.empty()) {
        out << "\nNo task has ended, and " << listing.total << (listing.total == 1 ? " is" : " are")
            << " open: " << program.with_place("agentforge status") << "\n";
        return;
    }
    if (listing.total > 0) {
        out << "\nNo task is " << options.state << ", and " << listing.total << (listing.total == 1 ? " is" : " are")
            << " in another state: " << program.with_place("agentforge status") << "\n";
        return;
    }
    if (const std::string place = checkout_with_tasks(TaskStore(listing.root / ".agentforge")); !place.empty()) {
        out << "\nNo task is here; another worktree of the repository has them: agentforge -C " << shell_quoted(place)
            << " status\n";
        return;
    }
    const auto archived = archived_tasks(listing.root);
    if (archived.ok() && !archived->empty()) {
        out << "\nNo task is here, but " << archived->size() << (archived->size() == 1 ? " is" : " are")
            << " archived in the repository: " << program.with_place("agentforge archive list") << "\n";
    } else {
        out << "\nNo task yet. Begin with: " << program.with_place("agentforge start") << " \"what you want\"\n";
    }
}

}  // namespace

bool shows_boxes(const Program& program) { return program.out_is_terminal && !program.json_output; }

BoxStyle box_style_of(const Program& program) {
    return {.columns = terminal_columns(STDOUT_FILENO),
            .colour = wants_colour(program.environment),
            .unicode = shows_unicode(program.environment)};
}

void print_box(const Program& program, std::ostream& out, const std::vector<BoxPart>& parts) {
    for (const std::string& line : boxed(parts, box_style_of(program))) { out << line << "\n"; }
}

void print_answer(std::ostream& out, const json::value& value, bool watch) {
    out << (watch ? to_json_line(value) + "\n" : to_json_pretty(value));
}

Answer list_tasks(Program& program, SeenRepositories& seen, const ProjectPlace& place, const TaskListOptions& options) {
    auto listing = listing_of(program, seen, place.root, place.root.filename().string(), options);
    if (!listing.ok()) {
        return [&program, problem = listing.error()](std::ostream&) { return program.fail(problem); };
    }
    if (program.json_output) {
        json::object object = to_json(*listing);
        object["sets"] = sets_of(program, seen, place.root);
        return [object = std::move(object), options](std::ostream& out) {
            print_answer(out, object, options.watch);
            return 0;
        };
    }
    std::ostringstream none;
    if (listing->wanted == 0) { say_why_none(program, none, *listing, options); }
    return [&program, listing = std::move(*listing), none = none.str()](std::ostream& out) {
        print(program, out, listing);
        out << none;
        return 0;
    };
}

Answer list_tasks_of_all(Program& program, SeenRepositories& seen, const std::vector<KnownRepository>& repositories,
                         const TaskListOptions& options) {
    int code = 0;
    json::array list;
    std::vector<ShownTasks> shown;
    std::size_t quiet = 0;  // Repositories without a task to show.
    for (const KnownRepository& repository : repositories) {
        const auto problem = problem_of(repository);
        auto listing =
            problem ? Result<ShownTasks>(*problem) : listing_of(program, seen, repository.path, repository.name, options);
        json::object entry{{"name", repository.name}, {"path", repository.path.string()}};
        if (!listing.ok()) {
            code = 1;
            if (!program.json_output) { program.err << "agentforge: " << printable_lines(listing.error().to_string()) << "\n"; }
            entry["error"] = error_json(listing.error()).at("error");
        } else {
            for (auto& field : to_json(*listing)) { entry[field.key()] = std::move(field.value()); }
            quiet += listing->shown.empty() ? 1 : 0;
            if (!listing->shown.empty()) { shown.push_back(std::move(*listing)); }
        }
        list.push_back(std::move(entry));
    }
    if (program.json_output) {
        json::object answer{{"repositories", std::move(list)}, {"sets", sets_of(program, seen, std::nullopt)}};
        return [answer = std::move(answer), code, options](std::ostream& out) {
            print_answer(out, answer, options.watch);
            return code;
        };
    }
    return [&program, shown = std::move(shown), quiet, code, options](std::ostream& out) {
        for (const ShownTasks& listing : shown) {
            Program there = program;
            there.place_flag = "--repo " + listing.name;
            print(there, out, listing);
            out << "\n";
        }
        if (quiet > 0) {
            out << quiet << (quiet == 1 ? " repository has" : " repositories have") << " no "
                << (options.state.empty() ? (options.ended ? "task" : "open task") : options.state + " task")
                << (options.ended || !options.state.empty() ? "\n" : "; --ended lists ended tasks, too\n");
        }
        return code;
    };
}

}  // namespace agentforge::kernel
