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
    bool undo = false;  ///< Removes the change from the checkout.
};

/// Runs `git apply` on the whole patch: all files or none. Keeps the user's other changes.
Result<ProcessOutcome> git_apply(ProcessRunner& processes, const GitStandIn& git, const Program& program,
                                 const std::string& patch, std::vector<std::string> flags) {
    std::vector<std::string> arguments{"apply", "--binary", "--whitespace=nowarn"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    arguments.emplace_back("-");
    ProcessRequest request = own_git(git, program.environment, std::move(arguments));
    request.input = patch;
    return processes.run(request, Stop{program.cancel, std::nullopt});
}

/// Refreshes git's index: without this, `git apply --index` treats files with only a new timestamp as changed. Refuses a locked
/// index.
Result<void> refresh_index(ProcessRunner& processes, const GitStandIn& git, const Program& program) {
    const std::string lock = git.index().string() + ".lock";
    if (std::error_code none; std::filesystem::exists(lock, none)) {
        return Error{"AF-GIT-053", "git cannot write its index because of a lock, so nothing was changed", lock,
                     "wait for the other git program; if none runs, remove the lock", ErrorKind::transient};
    }
    const ProcessRequest request = own_git(git, program.environment, {"update-index", "-q", "--refresh"});
    static_cast<void>(
        processes.run(request, Stop{program.cancel, std::nullopt}).ok());  // Fails if files have changed, which is expected.
    return {};
}

/// The change applies to the files, but not to git's index, which `--index` also needs.
Error fits_without_index(const std::string& id, bool undo) {
    return Error{
        "AF-GIT-053",
        "the change of task " + short_id(id) +
            (undo ? " is in your checkout, but it is not staged" : " does not apply to git's index") + "; nothing was changed",
        "", "leave out --index: agentforge " + std::string(undo ? "undo " : "apply ") + short_id(id), ErrorKind::conflict};
}

Error does_not_apply(const std::string& id, const std::string& complaint, const TaskState& state, bool undo) {
    std::string remedy = undo ? "undo your changes to these files, or `git diff` them and remove the rest by hand"
                              : "commit or stash your changes to these files, then retry";
    if (!undo && !state.commit.empty()) { remedy += "; or take the commit: git cherry-pick " + state.commit; }
    return Error{"AF-GIT-053",
                 "the change of task " + short_id(id) +
                     (undo ? " cannot be removed from your checkout, or is not in it" : " does not apply to your checkout") +
                     "; nothing was changed:\n" + head_and_tail(sanitize_utf8(complaint), 2000),
                 "", remedy, ErrorKind::conflict};
}

/// Returns every path that the patch may change.
std::vector<std::string> touched(const std::vector<TreeChange>& changes) {
    std::set<std::string> paths;
    for (const TreeChange& change : changes) {
        paths.insert(change.path);
        if (!change.old_path.empty()) { paths.insert(change.old_path); }
    }
    return {paths.begin(), paths.end()};
}

/// Returns a pattern of `git apply` that matches only this path.
std::string path_pattern(const std::string& path) {
    std::string pattern;
    for (const char c : path) {
        if (std::string_view("*?[\\").find(c) != std::string_view::npos) { pattern += '\\'; }
        pattern += c;
    }
    return pattern;
}

/// Puts the change into the index, except for `kept` files. Returns the files that could not be staged, because a person staged
/// or committed something else after an interruption.
Result<std::vector<std::string>> stage(const std::string& patch, const std::vector<std::string>& paths,
                                       const std::vector<std::string>& kept, ProcessRunner& processes, const GitStandIn& git,
                                       const Program& program) {
    std::vector<std::string> failed;
    if (patch.empty()) { return failed; }
    std::vector<std::string> flags{"--cached"};
    for (const std::string& path : kept) { flags.push_back("--exclude=" + path_pattern(path)); }
    AF_TRY(const auto whole, git_apply(processes, git, program, patch, std::move(flags)));
    if (whole.exit_code == 0) { return failed; }
    if (whole.err.find("index.lock") != std::string::npos) {
        return apply_failed("the files were changed, but staging them failed: " + head_and_tail(sanitize_utf8(whole.err), 500),
                            git.work_directory(), "Run `agentforge apply` again to stage them.");
    }
    for (const std::string& path : paths) {
        if (std::ranges::find(kept, path) != kept.end()) { continue; }
        const std::string only = "--include=" + path_pattern(path);
        AF_TRY(const auto staged, git_apply(processes, git, program, patch, {"--cached", only}));
        if (staged.exit_code == 0) { continue; }
        // A killed process, or a person, may have staged it already.
        AF_TRY(const auto back, git_apply(processes, git, program, patch, {"--cached", "--check", "--reverse", only}));
        if (back.exit_code != 0) { failed.push_back(path); }
    }
    return failed;
}

std::string printable_list(const std::vector<std::string>& paths) {
    std::string names;
    for (const std::string& path : paths) { names += (names.empty() ? "" : ", ") + printable(path); }
    return names;
}

Error not_staged(const std::string& task, bool undoes, const std::vector<std::string>& paths) {
    return Error{"AF-GIT-063",
                 "the change of task " + short_id(task) + (undoes ? " is removed from" : " is in") +
                     " your checkout, but these files could not be staged: " + printable_list(paths),
                 "", "Stage them with `git add`.", ErrorKind::conflict};
}

/// Moves the files of a planned change into place, then the index, and reports files that a person changed in between.
Result<void> finish(CheckoutChange& change, ProcessRunner& processes, const GitStandIn& git, const Program& program) {
    AF_TRY(const std::vector<std::string> edited, change.install());
    AF_TRY(const std::vector<std::string> unstaged, stage(change.index_patch(), change.paths(), edited, processes, git, program));
    AF_TRY(const std::filesystem::path left, change.finish(edited));
    if (!edited.empty()) {
        const std::string command = "agentforge diff " + short_id(change.task());
        return Error{
            "AF-GIT-063",
            "the change of task " + short_id(change.task()) +
                " is in your checkout, except for files that you changed after the interruption: " + printable_list(edited),
            left.string(),
            "Your versions are kept; `" + command + "` shows the change." +
                (left.empty() ? ""
                              : " That folder has these files as the change leaves them: copy what you need, then remove it."),
            ErrorKind::conflict};
    }
    return unstaged.empty() ? Result<void>() : Result<void>(not_staged(change.task(), change.undoes(), unstaged));
}

/// A change of the checkout that an earlier process began.
struct FinishedChange {
    std::string task;  ///< Empty: there was none.
    bool undoes = false;
};

/// Finishes an earlier `apply` or `undo` that did not finish.
Result<FinishedChange> finish_interrupted(ProcessRunner& processes, const GitStandIn& git, const Program& program,
                                          const ProjectPlace& place) {
    AF_TRY(auto change, CheckoutChange::find(git.work_directory(), apply_folder(place.agentforge)));
    if (!change) { return FinishedChange(); }
    AF_TRY(const bool begun, change->is_begun());
    if (!begun) {
        AF_CHECK(change->finish({}));
        return FinishedChange();
    }
    AF_CHECK(finish(*change, processes, git, program));
    return FinishedChange{change->task(), change->undoes()};
}

/// Applies the patch to copies, which then replace the files: all files or none.
Result<void> apply_whole(ProcessRunner& processes, const GitStandIn& git, const Program& program, const ProjectPlace& place,
                         const TaskState& state, const std::vector<TreeChange>& changes, const std::string& patch,
                         const ApplyArguments& arguments) {
    AF_CHECK(git.check_filters(touched(changes)));
    AF_TRY(CheckoutChange change,
           CheckoutChange::prepare(git.work_directory(), apply_folder(place.agentforge), state.task_id, touched(changes)));
    change.set_undoes(arguments.undo);
    ProcessRequest request = own_git(git, program.environment, {"apply", "--binary", "--whitespace=nowarn", "-"});
    request.directory = change.copies().string();
    request.environment["GIT_WORK_TREE"] = change.copies().string();
    request.input = patch;
    const auto done = processes.run(request, Stop{program.cancel, std::nullopt});
    if (!done.ok() || done->exit_code != 0) {
        AF_CHECK(change.finish({}));
        return done.ok() ? does_not_apply(state.task_id, done->err, state, arguments.undo) : done.error();
    }
    AF_CHECK(change.seal(arguments.index ? patch : std::string()));
    return finish(change, processes, git, program);
}

/// Returns the change, merged with the checkout's HEAD, as a patch on HEAD. Empty if they conflict, or if HEAD has no newer
/// commit.
Result<std::string> patch_on_head(const Repository& repository, const std::string& base, const std::string& tree) {
    AF_TRY(const std::string head, repository.head_commit());
    AF_TRY(const std::string head_tree, repository.tree_of(head));
    if (head_tree == base) { return std::string(); }
    AF_TRY(const TreeMerge merge, merge_trees(repository.work_directory(), base, head_tree, tree, files_of_both_sides()));
    if (!merge.conflicts.empty()) { return std::string(); }
    return whole_patch(repository.work_directory(), head_tree, merge.tree);
}

std::vector<std::string> flags_to_check(bool index) {
    if (index) { return {"--index", "--check"}; }
    return {"--check"};
}

std::string_view undone_in_words(bool there, bool only_checked) {
    if (there) { return "Your checkout does not have the change of "; }
    return only_checked ? "Would be removed from your checkout: " : "Removed from your checkout: ";
}

std::string_view result_in_words(bool there, bool only_checked) {
    if (there) { return "Your checkout already has the change of "; }
    return only_checked ? "Would be applied to your checkout: " : "Applied to your checkout: ";
}

/// Refuses a change that no person has approved yet, or of an aborted task.
Result<void> check_may_be_applied(const TaskState& state) {
    const std::string task = short_id(state.task_id);
    if (state.status == TaskStatus::aborted) {
        return Error{"AF-CLI-207", "task " + task + " was aborted, so its change is not applied", "",
                     "`agentforge diff " + task + " | git apply` applies it anyway", ErrorKind::invalid};
    }
    if (state.status == TaskStatus::awaiting_approval) {
        return Error{"AF-CLI-207", "task " + task + " waits for your approval, so its change is not applied yet", "",
                     "`agentforge approve " + task + "`, then apply it", ErrorKind::invalid};
    }
    return {};
}

/// One `apply` of a task's delivered change.
class TaskApply {
public:
    TaskApply(Program& program, const ApplyArguments& arguments) : program_(program), arguments_(arguments) {}

    Result<void> run();
    void print();

private:
    Result<void> find_task();
    Result<void> read_change();
    Result<void> prepare_git();
    Result<void> end_interrupted();
    Result<void> check_fits();
    Result<bool> fits_on_head();
    Result<void> stage_only();
    [[nodiscard]] json::object as_json() const;
    [[nodiscard]] std::string base() const { return arguments_.undo ? delivered_tree(state_) : delivery_base(state_).tree; }
    [[nodiscard]] std::string tree() const { return arguments_.undo ? delivery_base(state_).tree : delivered_tree(state_); }

    Program& program_;
    const ApplyArguments& arguments_;
    ProjectPlace place_;
    std::string id_;
    TaskState state_;
    std::optional<Repository> repository_;
    std::vector<TreeChange> changes_;
    std::string patch_;
    std::unique_ptr<ProcessRunner> processes_;
    std::optional<GitStandIn> git_;
    bool there_ = false;      ///< The checkout already has the change; with --undo: it does not have it.
    bool staged_ = false;     ///< The checkout already had the change, and it was staged now.
    bool completed_ = false;  ///< This command completed a change that an earlier process began.
};

Result<void> TaskApply::run() {
    AF_CHECK(find_task());
    AF_CHECK(read_change());
    AF_CHECK(prepare_git());
    AF_CHECK(end_interrupted());
    AF_CHECK(check_fits());
    if (arguments_.check) { return {}; }
    if (there_) { return arguments_.index ? stage_only() : Result<void>(); }
    return apply_whole(*processes_, *git_, program_, place_, state_, changes_, patch_, arguments_);
}

Result<void> TaskApply::find_task() {
    AF_TRY(place_, ProjectPlace::find(program_));
    const TaskStore store(place_.agentforge);
    AF_TRY(id_, task_or_only(program_, store, arguments_.task, "has delivered a change",
                             [](const TaskOverview& task) { return task.summary.status == "completed"; }));
    AF_TRY(state_, read_task_state(store, id_));
    if (!state_.delivery.empty()) { return arguments_.undo ? Result<void>() : check_may_be_applied(state_); }
    return Error{"AF-CLI-050", "task " + short_id(id_) + " has delivered nothing", "",
                 status_and_command(state_, overview_of(state_, {}, store.paths(id_))) + "; `agentforge diff " + short_id(id_) +
                     "` shows what it has changed so far",
                 ErrorKind::invalid};
}

Result<void> TaskApply::read_change() {
    AF_TRY(repository_, Repository::open(place_.root));
    AF_TRY(changes_, repository_->diff(base(), tree()));
    AF_TRY(patch_, whole_patch(place_.root, base(), tree()));
    return {};
}

Result<void> TaskApply::prepare_git() {
    AF_TRY(const ProductPaths product, ProductPaths::find());
    processes_ = make_process_runner(product.exec_helper);
    AF_TRY(GitStandIn git, GitStandIn::make(*repository_));
    git_.emplace(std::move(git));
    return {};
}

/// Finishes a change that an earlier `apply` began. With --check only reports it.
Result<void> TaskApply::end_interrupted() {
    if (arguments_.check) {
        const auto begun = CheckoutChange::unfinished(apply_folder(place_.agentforge));
        return begun ? Result<void>(apply_unfinished(*begun, place_.root)) : Result<void>();
    }
    AF_TRY(const FinishedChange finished, finish_interrupted(*processes_, *git_, program_, place_));
    if (!finished.task.empty()) {
        program_.err << "agentforge: finished " << (finished.undoes ? "undoing " : "") << "the change of "
                     << short_id(finished.task) << ", which an earlier `" << (finished.undoes ? "undo" : "apply") << "` began.\n";
    }
    completed_ = finished.task == id_ && finished.undoes == arguments_.undo;
    return {};
}

/// Checks that the change applies, or is already applied.
Result<void> TaskApply::check_fits() {
    if (arguments_.index) { AF_CHECK(refresh_index(*processes_, *git_, program_)); }
    AF_TRY(const ProcessOutcome fits, git_apply(*processes_, *git_, program_, patch_, flags_to_check(arguments_.index)));
    if (fits.exit_code == 0) { return {}; }
    AF_TRY(const ProcessOutcome back, git_apply(*processes_, *git_, program_, patch_, {"--check", "--reverse"}));
    there_ = back.exit_code == 0;
    if (there_) { return {}; }
    AF_TRY(const bool fits_merged, fits_on_head());
    if (!fits_merged && arguments_.index) {
        AF_TRY(const ProcessOutcome unstaged, git_apply(*processes_, *git_, program_, patch_, flags_to_check(false)));
        if (unstaged.exit_code == 0) { return fits_without_index(id_, arguments_.undo); }
    }
    return fits_merged ? Result<void>() : Result<void>(does_not_apply(id_, fits.err, state_, arguments_.undo));
}

/// Stages a change whose files are in the checkout already: an `apply` without --index put them there.
Result<void> TaskApply::stage_only() {
    AF_TRY(const ProcessOutcome staged, git_apply(*processes_, *git_, program_, patch_, {"--cached", "--check", "--reverse"}));
    if (staged.exit_code == 0) { return {}; }
    AF_TRY(const std::vector<std::string> failed, stage(patch_, touched(changes_), {}, *processes_, *git_, program_));
    staged_ = true;
    return failed.empty() ? Result<void>() : Result<void>(not_staged(id_, arguments_.undo, failed));
}

/// Tries the change rebased onto HEAD. Uses that patch if it applies.
Result<bool> TaskApply::fits_on_head() {
    AF_TRY(std::string merged, patch_on_head(*repository_, base(), tree()));
    if (merged.empty()) { return false; }
    AF_TRY(const ProcessOutcome again, git_apply(*processes_, *git_, program_, merged, flags_to_check(arguments_.index)));
    if (again.exit_code != 0) { return false; }
    patch_ = std::move(merged);
    return true;
}

json::object TaskApply::as_json() const {
    json::array files;
    for (const TreeChange& change : changes_) { files.emplace_back(change.path); }
    const bool already = there_ && !completed_;
    const bool done = !already && !arguments_.check;
    if (arguments_.undo) {
        return {{"task_id", id_}, {"undone", done}, {"fits", !already}, {"absent_already", already}, {"files", std::move(files)}};
    }
    return {{"task_id", id_}, {"applied", done}, {"fits", !already}, {"there_already", already}, {"files", std::move(files)}};
}

void TaskApply::print() {
    if (program_.json_output) { return program_.print_json(as_json()); }
    const bool already = there_ && !completed_;
    const std::string_view nothing_changed = staged_ ? "; it is staged now.\n" : "; nothing was changed.\n";
    program_.out << (arguments_.undo ? undone_in_words(already, arguments_.check) : result_in_words(already, arguments_.check))
                 << short_id(id_) << (already ? nothing_changed : "\n");
    if (already) { return; }
    for (const TreeChange& change : changes_) { program_.out << "  " << change.status << "  " << printable(change.path) << "\n"; }
    if (!arguments_.check && !arguments_.undo) {
        program_.out << "  undo it: " << program_.with_place("agentforge undo " + short_id(id_))
                     << (arguments_.index ? " --index" : "") << "\n";
    }
}

int run_apply(Program& program, const ApplyArguments& arguments) {
    TaskApply apply(program, arguments);
    if (const auto done = apply.run(); !done.ok()) { return program.fail(done.error()); }
    apply.print();
    return 0;
}

}  // namespace

void add_apply(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<ApplyArguments>();
    const Command command =
        add_subcommand(app, "apply", "Apply a task's delivered change to your checkout: all of it or nothing");
    add_option(*command, "task", arguments->task, only_task_help)->type_name("TASK");
    add_flag(*command, "--check", arguments->check, "Only check whether the change applies");
    add_flag(*command, "--index", arguments->index, "Also stage the change");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge apply 1f2e3d4c");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_apply(program, *arguments); }; });

    auto undone = std::make_shared<ApplyArguments>();
    undone->undo = true;
    const Command undo = add_subcommand(app, "undo", "Remove a task's applied change from your checkout: all of it or nothing");
    add_option(*undo, "task", undone->task, only_task_help)->type_name("TASK");
    add_flag(*undo, "--check", undone->check, "Only check whether it can be removed");
    add_flag(*undo, "--index", undone->index, "Also unstage it, if `apply --index` staged it");
    add_flag(*undo, "--json", program.json_output, "Print JSON");
    undo->footer("Example:  agentforge undo 1f2e3d4c");
    undo->callback([&program, undone] { program.command = [&program, undone] { return run_apply(program, *undone); }; });
}

}  // namespace agentforge::kernel
