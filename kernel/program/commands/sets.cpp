// SPDX-License-Identifier: Apache-2.0
#include "program/commands/sets.hpp"

#include <algorithm>
#include <functional>
#include <ostream>
#include <sstream>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "pipeline/task_session.hpp"
#include "program/project/known_repositories.hpp"
#include "program/sets/find_set.hpp"
#include "program/sets/set_run.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

int finish(Program& program, const Result<int>& code) { return code.ok() ? *code : program.fail(code.error()); }

Error invalid_set_arguments(std::string why, std::string place, std::string remedy) {
    return Error{"AF-SET-002", std::move(why), std::move(place), std::move(remedy), ErrorKind::invalid};
}

Result<std::vector<SetPart>> parts_named(const Program& program, const std::string& list) {
    std::vector<SetPart> parts;
    std::istringstream words(list);
    for (std::string name; std::getline(words, name, ',');) {
        name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
        name.erase(name.find_last_not_of(' ') + 1);
        if (name.empty() || list.ends_with(',')) {
            return invalid_set_arguments("`" + printable(list, 120) + "` has an empty name", "--repos",
                                         "write NAME,NAME, with one comma between");
        }
        AF_TRY(const KnownRepository known, find_known_repository(program, name));
        if (std::ranges::find(parts, known.path, &SetPart::path) != parts.end()) {
            return invalid_set_arguments("repository `" + name + "` is named twice", "--repos", "name each repository once");
        }
        parts.push_back({known.name, known.path, {}, "", "", ""});
    }
    if (parts.size() < 2) {
        return invalid_set_arguments(
            "a set needs at least two repositories", "--repos",
            "name them all: --repos NAME,NAME (`agentforge repo list` lists them); for one, use --repo NAME");
    }
    return parts;
}

/// Refuses flags that work for one task only: the set would ignore them.
Result<void> check_flags_fit_set(const StartArguments& arguments) {
    const std::pair<bool, const char*> unfitting[] = {{arguments.detach, "--detach"},
                                                      {arguments.interactive, "--interactive"},
                                                      {arguments.supervised, "--supervised"},
                                                      {arguments.iterate, "--iterate"},
                                                      {!arguments.iterate_at.empty(), "--iterate-at"},
                                                      {!arguments.approve.empty(), "--approve"},
                                                      {!arguments.exit_after.empty(), arguments.exit_flag},
                                                      {!arguments.compare_to.empty(), "--compare-to"},
                                                      {arguments.include_uncommitted, "--include-uncommitted"},
                                                      {!arguments.entry.tests.empty(), "--from-tests"},
                                                      {!arguments.entry.task.empty(), "--from-task"},
                                                      {!arguments.entry.others.empty(), "--external"},
                                                      {!arguments.entry.skip_to.empty(), "--skip-to"},
                                                      {!arguments.entry.without.empty(), "--without"}};
    for (const auto& [given, flag] : unfitting) {
        if (given) {
            return invalid_set_arguments(
                std::string(flag) + " is for one task, but --repos begins a task in each repository", flag,
                std::string("leave out ") + flag + ", or start a task in each repository with --repo NAME");
        }
    }
    return {};
}

/// Returns a set with a new id, before any of it is on disk.
Result<TaskSet> new_set(const Program& program, const StartArguments& arguments, const std::string& request) {
    TaskSet set;
    AF_TRY(set.parts, parts_named(program, arguments.repos));
    SystemClock clock;
    SystemIdSource ids;
    set.created_at = format_time(clock.now());
    std::string day = set.created_at.substr(0, 10);
    std::erase(day, '-');
    const std::string task_id = make_task_id(request, day, ids);
    set.id = std::string(set_prefix) + task_id.substr(task_id.find('-') + 1);
    set.request = request;
    set.pipeline = arguments.pipeline;
    for (const auto& [key, value] : program.settings) { set.settings[key] = value; }
    return set;
}

Result<int> begin_set(Program& program, const StartArguments& arguments, const std::string& request) {
    AF_CHECK(check_flags_fit_set(arguments));
    if (program.place_flag.starts_with("--repo ")) {
        return invalid_set_arguments("--repo cannot be used with --repos, which names the set's repositories", "--repo",
                                     "leave out --repo");
    }
    AF_CHECK(check_request(request));
    AF_TRY(const TaskSet set, new_set(program, arguments, request));
    AF_TRY(const fs::path sets, sets_folder(program));
    const fs::path folder = sets / set.id;
    const fs::path given = program.directory / arguments.entry.spec;
    std::optional<std::string> specification;
    if (!arguments.entry.spec.empty()) { AF_TRY(specification, read_file(given.string(), 16UL << 20U)); }
    if (set.pipeline.empty() && !program.quiet && !program.json_output) {
        program.err
            << "agentforge: a set runs the pipeline for implementing, even if the request's wording suggests another (--pipeline selects another)"
            << std::endl;
    }
    SetRun run(program, folder, set);
    if (arguments.dry_run) { return run.plan(specification ? given.lexically_normal().string() : std::string()); }
    AF_CHECK(run.check());
    AF_TRY(const FileDescriptor lock, create_set(sets, set, specification));
    if (!program.quiet && !program.json_output) { program.err << "agentforge: set " << set.id << std::endl; }
    auto code = run.run();
    // A refused specification leaves nothing behind, so the user can correct it and try again.
    if (!code.ok() && specification && !run.has_begun()) {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    return code;
}

Result<int> with_set(Program& program, const std::string& id, const std::function<Result<int>(SetRun&)>& action) {
    AF_TRY(const fs::path folder, find_set_folder(program, id));
    AF_TRY(const FileDescriptor lock, lock_set(folder));
    AF_TRY(TaskSet set, load_set(set_file(folder)));
    SetRun run(program, folder, std::move(set));
    return action(run);
}

}  // namespace

int start_set(Program& program, const StartArguments& arguments, const std::string& request) {
    return finish(program, begin_set(program, arguments, request));
}

int resume_set(Program& program, const std::string& id) {
    return finish(program, with_set(program, id, [](SetRun& run) { return run.resume(); }));
}

int abort_set(Program& program, const std::string& id, const std::string& reason) {
    return finish(program, with_set(program, id, [&](SetRun& run) { return run.abort(reason); }));
}

}  // namespace agentforge::kernel
