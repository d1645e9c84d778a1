// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "pipeline/garbage.hpp"
#include "pipeline/interrupted_writes.hpp"
#include "program/command_line.hpp"
#include "program/project/project.hpp"
#include "program/project/project_trust.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

struct GcArguments {
    std::string older_than = "14d";
    bool blobs = false;
    bool dry_run = false;
};

std::string megabytes(std::uint64_t bytes) {
    return bytes < 1'000'000 ? fmt::format("{} kB", (bytes + 999) / 1000)
                             : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

json::object item_json(const Garbage& item) {
    return {{"kind", to_string(item.kind)},
            {"task_id", item.task},
            {"place", item.place},
            {"count", item.count},
            {"bytes", item.bytes}};
}

/// Accepts `0`, `0d`, `0h`, … besides the spans of parse_time_span.
std::optional<std::chrono::milliseconds> parse_age(std::string_view text) {
    const bool is_zero =
        text == "0" || (text.size() == 2 && text[0] == '0' && parse_time_span("1" + std::string(text.substr(1))));
    return is_zero ? std::optional(std::chrono::milliseconds(0)) : parse_time_span(text);
}

Result<GarbagePolicy> policy_of(const GcArguments& arguments) {
    const auto age = parse_age(arguments.older_than);
    if (!age) {
        return Error{"AF-CLI-180", "`--older-than " + printable(arguments.older_than, 40) + "` is not a time span", "",
                     "write it as `30d` or `12h`; `0` takes all ended tasks", ErrorKind::invalid};
    }
    return GarbagePolicy{SystemClock().now() - *age, arguments.blobs};
}

void print_item(Program& program, const Garbage& item) {
    const std::string what = item.kind == GarbageKind::refs
                                 ? std::to_string(item.count) + (item.count == 1 ? " recorded tree" : " recorded trees")
                                 : std::string(to_string(item.kind));
    program.out << fmt::format("  {:>10}  {:<18} {}\n", megabytes(item.bytes), what, short_id(item.task));
}

int collect(Program& program, const GcArguments& arguments) {
    const auto policy = policy_of(arguments);
    if (!policy.ok()) {
        program.fail(policy.error());
        return static_cast<int>(ExitCode::usage);
    }
    const auto project = ProjectPlace::find(program);
    if (!project.ok()) { return program.fail(project.error()); }
    const auto state = state_directory(program.environment);
    if (!state.ok()) { return program.fail(state.error()); }
    const auto repository = Repository::open(project->root);
    if (!repository.ok()) { return program.fail(repository.error()); }
    const TaskStore store(project->agentforge);
    std::vector<Error> problems;
    if (!arguments.dry_run) {
        if (const auto archived = archive_ended_tasks(program, *project); !archived.ok()) {
            problems.push_back(archived.error());
        }
    }
    const GarbagePlace place{store, *repository, *state};
    const auto plan = find_garbage(place, *policy);
    if (!plan.ok()) { return program.fail(plan.error()); }
    if (!arguments.dry_run) {
        InterruptedWrites interrupted{project->agentforge, repository->git_directory(), {*state}};
        if (const auto home = program.environment.find("HOME"); home != program.environment.end()) {
            interrupted.user_folders.push_back(std::filesystem::path(home->second) / ".agentforge");
        }
        sweep_interrupted_writes(interrupted);
    }
    json::array freed;
    json::array kept;
    std::uint64_t bytes = 0;
    bool freed_refs = false;
    problems.insert(problems.end(), plan->problems.begin(), plan->problems.end());
    for (const Garbage& item : plan->items) {
        const auto removed = arguments.dry_run ? Result<bool>(true) : remove_garbage(place, *policy, item);
        if (!removed.ok()) { problems.push_back(removed.error()); }
        if (!removed.ok() || !*removed) { continue; }
        if (!program.json_output && freed.empty()) { program.out << (arguments.dry_run ? "Would free:\n" : "Freed:\n"); }
        bytes += item.bytes;
        freed_refs = freed_refs || item.kind == GarbageKind::refs;
        freed.push_back(item_json(item));
        if (!program.json_output) { print_item(program, item); }
    }
    for (const KeptGarbage& each : plan->kept) { kept.push_back(json::object{{"task_id", each.task}, {"why", each.why}}); }
    std::set<std::string> printed;  // The listing and the plan may report the same one.
    for (const Error& problem : problems) {
        const std::string text = problem.to_string();
        if (printed.insert(text).second) { program.err << "agentforge: " << printable_lines(text) << "\n"; }
    }
    if (program.json_output) {
        program.print_json(
            {{"dry_run", arguments.dry_run}, {"freed", std::move(freed)}, {"kept", std::move(kept)}, {"bytes", bytes}});
        return problems.empty() ? 0 : 1;
    }
    for (const KeptGarbage& each : plan->kept) {
        program.out << "Kept: " << short_id(each.task) << "; " << printable(each.why, 200) << "\n";
    }
    std::string total = "Total: " + megabytes(bytes);
    if (freed.empty()) { total = plan->items.empty() ? "Nothing to free." : "Nothing was freed."; }
    program.out << total << "\n";
    if (freed_refs && !arguments.dry_run) { program.out << "  the next `git gc` deletes the recorded trees\n"; }
    return problems.empty() ? 0 : 1;
}

}  // namespace

void add_gc(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<GcArguments>();
    const Command command =
        add_subcommand(app, "gc", "Remove what ended tasks left behind: worktrees, recorded trees, blobs; never a journal");
    command->aliases({"clean"});
    add_option(*command, "--older-than", arguments->older_than,
               "Only trees and blobs of tasks that ended at least this long ago (default: 14d; 0: all)")
        ->type_name("SPAN");
    add_flag(*command, "--blobs", arguments->blobs,
             "Also remove the blobs of archived tasks; their steps then no longer show what was sent and received");
    add_flag(*command, "--dry-run", arguments->dry_run, "Show what would be removed, with its size, without removing it");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Examples:\n  agentforge gc --dry-run\n  agentforge gc --older-than 30d --blobs");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return collect(program, *arguments); }; });
}

}  // namespace agentforge::kernel
