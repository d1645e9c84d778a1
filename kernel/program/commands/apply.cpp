// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include <algorithm>
#include <set>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "git/checkout_change.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/next_commands.hpp"

namespace agentforge::kernel {

namespace {

struct ApplyArguments {
    std::string task;
    bool check = false;
    bool index = false;
};

/// `git apply` of the whole patch: all files or none, on top of whatever the user has changed.
Result<ProcessOutcome> git_apply(ProcessRunner& processes, const GitStandIn& git, const Program& program,
                                 const std::string& patch, std::vector<std::string> flags) {
    std::vector<std::string> arguments{"apply", "--binary", "--whitespace=nowarn"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.emplace_back("-");
    ProcessRequest request = own_git(git, program.environment, std::move(arguments));
    request.input = patch;
    return processes.run(request, Stop{program.cancel, std::nullopt});
}

/// Makes git's index notice files that were only touched: `git apply --index` takes them for changed.
void refresh_index(ProcessRunner& processes, const GitStandIn& git, const Program& program) {
    const ProcessRequest request = own_git(git, program.environment, {"update-index", "-q", "--refresh"});
    static_cast<void>(processes.run(request, Stop{program.cancel, std::nullopt}).ok());  // It fails where files have changed.
}

Error does_not_apply(const std::string& id, const std::string& complaint, const TaskState& state) {
    std::string remedy = "commit or stash your changes to these files, then retry";
    if (!state.commit.empty()) { remedy += "; or take the commit: git cherry-pick " + state.commit; }
    return Error{"AF-GIT-053",
                 "the change of task " + id + " does not apply to your checkout; nothing was changed:\n" +
                     head_and_tail(sanitize_utf8(complaint), 2000),
                 "", remedy, ErrorKind::conflict};
}

/// Every path that the patch may touch.
std::vector<std::string> touched(const std::vector<TreeChange>& changes) {
    std::set<std::string> paths;
    for (const TreeChange& change : changes) {
        paths.insert(change.path);
        if (!change.old_path.empty()) { paths.insert(change.old_path); }
    }
    return {paths.begin(), paths.end()};
}

/// Puts the files of a sealed change in place, then the index, and says what somebody edited in between.
Result<void> finish(CheckoutChange& change, ProcessRunner& processes, const GitStandIn& git, const Program& program) {
    AF_TRY(const std::vector<std::string> edited, change.install());
    if (!change.index_patch().empty()) {
        AF_TRY(const auto staged, git_apply(processes, git, program, change.index_patch(), {"--cached"}));
        if (staged.exit_code != 0) {
            // A process that died before may have staged it.
            AF_TRY(const auto back,
                   git_apply(processes, git, program, change.index_patch(), {"--cached", "--check", "--reverse"}));
            if (back.exit_code != 0) {
                return apply_failed(
                    "the files were changed, but the index was not: " + head_and_tail(sanitize_utf8(staged.err), 500),
                    git.work_directory(), "Run `agentforge apply` again; it continues with the index.");
            }
        }
    }
    AF_TRY(const std::filesystem::path left, change.finish(edited));
    if (edited.empty()) { return {}; }
    std::string names;
    for (const std::string& path : edited) { names += (names.empty() ? "" : ", ") + printable(path); }
    return Error{
        "AF-GIT-063",
        "the change of task " + change.task() + " is in your checkout, except for files edited after the interruption: " + names,
        left.string(),
        "Your edits are kept. That folder has these files as the change left them: copy what you need, then remove it.",
        ErrorKind::conflict};
}

/// Finishes what an `apply` before this one began and did not finish. Returns the task whose change that was, or nothing.
Result<std::string> finish_interrupted(ProcessRunner& processes, const GitStandIn& git, const Program& program,
                                       const ProjectPlace& place) {
    AF_TRY(auto change, CheckoutChange::find(git.work_directory(), apply_folder(place.agentforge)));
    if (!change) { return std::string(); }
    AF_CHECK(finish(*change, processes, git, program));
    return change->task();
}

/// All files or none: the patch is applied to copies, which are then put in place.
Result<void> apply_whole(ProcessRunner& processes, const GitStandIn& git, const Program& program, const ProjectPlace& place,
                         const TaskState& state, const std::vector<TreeChange>& changes, const std::string& patch, bool index) {
    AF_CHECK(git.check_filters(touched(changes)));
    AF_TRY(CheckoutChange change,
           CheckoutChange::prepare(git.work_directory(), apply_folder(place.agentforge), state.task_id, touched(changes)));
    ProcessRequest request = own_git(git, program.environment, {"apply", "--binary", "--whitespace=nowarn", "-"});
    request.directory = change.copies().string();
    request.environment["GIT_WORK_TREE"] = change.copies().string();
    request.input = patch;
    const auto done = processes.run(request, Stop{program.cancel, std::nullopt});
    if (!done.ok() || done->exit_code != 0) {
        AF_CHECK(change.finish({}));
        return done.ok() ? does_not_apply(state.task_id, done->err, state) : done.error();
    }
    AF_CHECK(change.seal(index ? patch : std::string()));
    return finish(change, processes, git, program);
}

/// The change merged with the commit that the checkout stands on, as a patch from there; empty where they conflict or nothing
/// came since.
Result<std::string> patch_on_head(const Repository& repository, const std::string& base, const std::string& tree) {
    AF_TRY(const std::string head, repository.head_commit());
    AF_TRY(const std::string head_tree, repository.tree_of(head));
    if (head_tree == base) { return std::string(); }
    AF_TRY(const TreeMerge merge, merge_trees(repository.work_directory(), base, head_tree, tree, files_of_both_sides()));
    if (!merge.conflicts.empty()) { return std::string(); }
    return whole_patch(repository.work_directory(), head_tree, merge.tree);
}

int run_apply(Program& program, const ApplyArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_only(program, store, arguments.task, "has delivered a change",
                                 [](const TaskOverview& task) { return task.summary.status == "completed"; });
    if (!id.ok()) { return program.fail(id.error()); }
    const auto state = read_task_state(store, *id);
    if (!state.ok()) { return program.fail(state.error()); }
    if (state->delivery.empty()) {
        return program.fail(Error{"AF-CLI-050", "task " + short_id(*id) + " has delivered nothing", "",
                                  status_and_command(*state, overview_of(*state, {}, store.paths(*id))) + "; `agentforge diff " +
                                      short_id(*id) + "` shows what it has changed so far",
                                  ErrorKind::invalid});
    }
    if (state->status == TaskStatus::aborted || state->status == TaskStatus::awaiting_approval) {
        const bool aborted = state->status == TaskStatus::aborted;
        return program.fail(Error{"AF-CLI-207",
                                  "task " + short_id(*id) +
                                      (aborted ? " was aborted, so its change is not applied"
                                               : " waits for your approval, so its change is not applied yet"),
                                  "",
                                  aborted ? "`agentforge diff " + short_id(*id) + " | git apply` applies it anyway"
                                          : "`agentforge approve " + short_id(*id) + "`, then apply it",
                                  ErrorKind::invalid});
    }
    const std::string base = delivery_base(*state).tree;
    const std::string tree = delivered_tree(*state);
    const auto repository = Repository::open(place->root);
    if (!repository.ok()) { return program.fail(repository.error()); }
    const auto changes = repository->diff(base, tree);
    if (!changes.ok()) { return program.fail(changes.error()); }
    auto patch = whole_patch(place->root, base, tree);
    if (!patch.ok()) { return program.fail(patch.error()); }
    const auto product = ProductPaths::find();
    if (!product.ok()) { return program.fail(product.error()); }
    const auto processes = make_process_runner(product->exec_helper);
    const auto git = GitStandIn::make(*repository);
    if (!git.ok()) { return program.fail(git.error()); }

    if (!arguments.check) {
        const auto finished = finish_interrupted(*processes, *git, program, *place);
        if (!finished.ok()) { return program.fail(finished.error()); }
        if (!finished->empty()) {
            program.err << "agentforge: finished the change of " << *finished << ", which an earlier `apply` began.\n";
        }
    } else if (const auto begun = CheckoutChange::unfinished(apply_folder(place->agentforge))) {
        return program.fail(apply_unfinished(*begun, place->root));
    }

    std::vector<std::string> flags;
    if (arguments.index) {
        refresh_index(*processes, *git, program);
        flags.emplace_back("--index");
    }
    std::vector<std::string> check_flags = flags;
    check_flags.emplace_back("--check");
    auto fits = git_apply(*processes, *git, program, *patch, check_flags);
    if (!fits.ok()) { return program.fail(fits.error()); }
    bool there = false;
    if (fits->exit_code != 0) {
        const auto back = git_apply(*processes, *git, program, *patch, {"--check", "--reverse"});
        if (!back.ok()) { return program.fail(back.error()); }
        there = back->exit_code == 0;
        if (!there) {
            // The same change as it looks on top of what was committed since.
            auto merged = patch_on_head(*repository, base, tree);
            if (!merged.ok()) { return program.fail(merged.error()); }
            if (!merged->empty()) {
                const auto again = git_apply(*processes, *git, program, *merged, check_flags);
                if (!again.ok()) { return program.fail(again.error()); }
                if (again->exit_code == 0) {
                    patch = std::move(merged);
                    fits->exit_code = 0;
                }
            }
        }
        if (!there && fits->exit_code != 0) { return program.fail(does_not_apply(*id, fits->err, *state)); }
    }
    if (!there && !arguments.check) {
        if (const auto done = apply_whole(*processes, *git, program, *place, *state, *changes, *patch, arguments.index);
            !done.ok()) {
            return program.fail(done.error());
        }
    }
    if (program.json_output) {
        json::array files;
        for (const TreeChange& change : *changes) { files.emplace_back(change.path); }
        program.print_json({{"task_id", *id},
                            {"applied", !there && !arguments.check},
                            {"fits", !there},
                            {"there_already", there},
                            {"files", std::move(files)}});
        return 0;
    }
    program.out << (there             ? "Your checkout already has the change of "
                    : arguments.check ? "Would be applied to your checkout: "
                                      : "Applied to your checkout: ")
                << *id << (there ? "; nothing was changed.\n" : "\n");
    if (there) { return 0; }
    for (const TreeChange& change : *changes) { program.out << "  " << change.status << "  " << printable(change.path) << "\n"; }
    if (!arguments.check) {
        program.out << "  undo it: " << program.with_place("agentforge diff " + short_id(*id)) << " | git apply -R"
                    << (arguments.index ? " --index" : "") << "\n";
    }
    return 0;
}

}  // namespace

void add_apply(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<ApplyArguments>();
    const Command command =
        add_subcommand(app, "apply", "Apply a task's delivered change to your checkout: all of it or nothing");
    add_option(*command, "task", arguments->task, only_task_help)->type_name("TASK");
    add_flag(*command, "--check", arguments->check, "Only check whether it applies");
    add_flag(*command, "--index", arguments->index, "Also stage it");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge apply 1f2e3d4c");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_apply(program, *arguments); }; });
}

}  // namespace agentforge::kernel
