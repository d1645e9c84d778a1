// SPDX-License-Identifier: Apache-2.0
#include "program/sets/joint_test.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "git/worktree.hpp"
#include "program/project/project_trust.hpp"
#include "program/sets/part_program.hpp"
#include "program/sets/part_tasks.hpp"
#include "program/suggestions.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

/// Returns the folder of the checkouts in which the parts are tested together.
fs::path checkouts_folder(const TaskSet& set, const Project& project) {
    return fs::path(project.task_workspace_options().state_directory) / "sets" / set.id;
}

/// Checks that the project is trusted with this command.
Result<void> check_joint_test_trusted(const Project& project) {
    const auto& left_out = project.trust().left_out();
    const auto missed = std::ranges::find(left_out, "delivery.set_test", &GuardedSetting::key);
    return missed == left_out.end() ? Result<void>() : Result<void>(required_setting_error(*missed));
}

/// Refuses a misspelt `{repository}`: the command would get it unchanged and might pass.
Result<void> check_placeholders(const TaskSet& set, const std::string& word) {
    std::vector<std::string> names;
    for (const SetPart& part : set.parts) { names.push_back(part.repo); }
    for (std::size_t brace = word.find('{'); brace != std::string::npos; brace = word.find('{', brace + 1)) {
        const std::size_t close = word.find('}', brace);
        if (close == std::string::npos) { return {}; }
        const std::string name = word.substr(brace + 1, close - brace - 1);
        if (std::ranges::find(names, name) != names.end()) { continue; }
        if (const std::string near = nearest(name, names); !near.empty()) {
            return Error{"AF-SET-016", "`{" + printable(name, 80) + "}` is not a repository of the set", "delivery.set_test",
                         "did you mean `{" + near + "}`?", ErrorKind::invalid};
        }
    }
    return {};
}

/// `places`: the checkout of each repository, which replaces `{repository}` in the command.
Result<ProcessRequest> test_request(const OpenSet& open, const SetPart& at, const std::vector<std::string>& command,
                                    const std::map<std::string, std::string>& places) {
    ProcessRequest request;
    for (std::string word : command) {
        for (const auto& [repo, place] : places) {
            const std::string name = "{" + repo + "}";
            for (std::size_t found = word.find(name); found != std::string::npos; found = word.find(name, found + place.size())) {
                word.replace(found, name.size(), place);
            }
        }
        AF_CHECK(check_placeholders(open.set, word));
        request.argv.push_back(std::move(word));
    }
    request.directory = places.at(at.repo);
    request.environment = base_environment(open.program.environment);
    request.environment["PYTHONDONTWRITEBYTECODE"] = "1";
    for (const auto& [repo, place] : places) { request.confinement.readable.push_back(place); }
    request.timeout = std::chrono::minutes(15);
    return request;
}

Error joint_test_failed(const TaskSet& set, const SetPart& at, const ProcessOutcome& outcome) {
    std::string said = sanitize_utf8(outcome.out + outcome.err);
    if (said.size() > 1500) { said = "… " + sanitize_utf8(said.substr(said.size() - 1500)); }
    return {
        "AF-SET-005",
        "the parts do not pass together, so no branch was created: the command of `" + at.repo + "` " +
            (outcome.timed_out ? "did not finish within 15 minutes" : "exited with code " + std::to_string(outcome.exit_code)) +
            (said.empty() ? "" : ": " + said),
        "delivery.set_test",
        "fix what makes the test fail, then agentforge resume " + set.id + "; or agentforge abort " + set.id + " and start again",
        ErrorKind::denied};
}

/// Runs the command in checkouts of all parts. `commits`: by repository. Returns `passed`.
Result<std::string> run_joint_test(OpenSet& open, Project& project, const SetPart& at, const std::vector<std::string>& command,
                                   const std::map<std::string, std::string>& commits) {
    const fs::path folder = checkouts_folder(open.set, project);
    struct Checkouts {
        std::vector<std::pair<const SetPart*, fs::path>> made;
        const std::string& set;
        fs::path folder;
        ~Checkouts() {
            for (const auto& [part, path] : made) { static_cast<void>(Worktree::remove(part->path, path, set)); }
            std::error_code ignored;
            fs::remove_all(folder, ignored);
        }
    } checkouts{{}, open.set.id, folder};
    AF_CHECK(make_directories(folder));
    std::map<std::string, std::string> places;
    for (const SetPart& part : open.set.parts) {
        const fs::path place = folder / part.repo;
        checkouts.made.emplace_back(&part, place);
        AF_TRY(const Worktree tree, Worktree::ensure(part.path, place, open.set.id, commits.at(part.repo)));
        places[part.repo] = tree.path().string();
    }
    AF_TRY(const ProcessRequest request, test_request(open, at, command, places));
    AF_TRY(const ProcessOutcome outcome, project.processes().run(request, Stop{open.program.cancel, std::nullopt}));
    if (outcome.cancelled) {
        return Error{"AF-SET-005", "the test of the parts together was interrupted", at.repo, "agentforge resume " + open.set.id,
                     ErrorKind::cancelled};
    }
    if (outcome.exit_code == 0 && !outcome.timed_out) { return std::string("passed"); }
    open.set.test_result = at.repo + ": " + (outcome.timed_out ? "timed out" : "exit code " + std::to_string(outcome.exit_code));
    AF_CHECK(open.save());
    return joint_test_failed(open.set, at, outcome);
}

}  // namespace

Result<void> check_set_test(const OpenSet& open, const Project& project) {
    AF_CHECK(check_joint_test_trusted(project));
    const std::vector<std::string> command = project.settings().list("delivery.set_test");
    for (const std::string& word : command) { AF_CHECK(check_placeholders(open.set, word)); }
    // A program path with a folder may be a file that the parts create.
    const bool searched = !command.empty() && command.front().find_first_of("/{") == std::string::npos;
    if (!searched || is_on_path(open.program.environment, command.front())) { return {}; }
    const auto origin = project.settings().origin("delivery.set_test");
    return Error{"AF-SET-017", "cannot find the program `" + printable(command.front(), 120) + "` of delivery.set_test",
                 origin ? origin->where : "delivery.set_test", "install it, or name another in delivery.set_test",
                 ErrorKind::unavailable};
}

Result<void> run_joint_tests(OpenSet& open) {
    std::map<std::string, std::string> commits;
    for (const SetPart& part : open.set.parts) {
        AF_TRY(const PreparedCommit prepared, prepared_commit(part));
        commits[part.repo] = prepared.commit;
    }
    std::string results;
    for (const SetPart& part : open.set.parts) {
        PartProgram in_part(open, part);
        const auto progress = make_progress(in_part.program());
        AF_TRY(const auto project, Project::open(in_part.program(), *progress));
        AF_CHECK(check_joint_test_trusted(*project));
        const std::vector<std::string> command = project->settings().list("delivery.set_test");
        if (command.empty()) { continue; }
        open.report("testing the parts together, with the command of " + part.repo);
        AF_TRY(const std::string result, run_joint_test(open, *project, part, command, commits));
        results += (results.empty() ? "" : "; ") + part.repo + ": " + result;
    }
    open.set.test_result = results;
    return open.save();
}

Result<void> remove_checkouts(const OpenSet& open) {
    PartProgram in_part(open, open.set.parts.front());
    const auto progress = make_progress(in_part.program());
    AF_TRY(const auto project, Project::open(in_part.program(), *progress));
    const fs::path folder = checkouts_folder(open.set, *project);
    std::error_code error;
    if (!fs::exists(folder, error)) { return {}; }
    for (const SetPart& part : open.set.parts) {
        static_cast<void>(Worktree::remove(part.path, folder / part.repo, open.set.id));
    }
    fs::remove_all(folder, error);
    return {};
}

}  // namespace agentforge::kernel
