// SPDX-License-Identifier: Apache-2.0
#include "program/commands/sets.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <ostream>
#include <sstream>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "contracts/names.hpp"
#include "git/branches.hpp"
#include "git/merges.hpp"
#include "git/repository.hpp"
#include "git/worktree.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/delivery/publish.hpp"
#include "pipeline/entry/imports.hpp"
#include "pipeline/set_parts.hpp"
#include "pipeline/task_session.hpp"
#include "program/command_line.hpp"
#include "program/project/known_repositories.hpp"
#include "program/project/project.hpp"
#include "program/project/project_trust.hpp"
#include "program/project/task_preflight.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"
#include "sandbox/process_runner.hpp"
#include "task/task_set.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view set_prefix = "set-";

/// Discards the results that a part's command prints, because the set prints one summary at the end. Keeps errors and progress.
class PartProgram {
public:
    PartProgram(Program& whole, const fs::path& directory, const json::object& settings)
        : whole_(whole),
          program_{.out = out_,
                   .err = whole.err,
                   .environment = whole.environment,
                   .directory = directory,
                   .cancel = whole.cancel,
                   .settings = {},
                   .command = {}} {
        program_.err_is_terminal = whole.err_is_terminal;
        program_.quiet = whole.quiet || whole.json_output;
        program_.trust_project = whole.trust_project;
        program_.command_name = whole.command_name;
        for (const auto& [key, value] : settings) {
            if (value.is_string()) { program_.settings.emplace_back(key, std::string(value.get_string())); }
        }
        program_.settings.insert(program_.settings.end(), whole.settings.begin(), whole.settings.end());
    }
    ~PartProgram() { whole_.skip_destructors = whole_.skip_destructors || program_.skip_destructors; }
    PartProgram(const PartProgram&) = delete;
    PartProgram& operator=(const PartProgram&) = delete;
    [[nodiscard]] Program& program() noexcept { return program_; }

private:
    std::ostringstream out_;
    Program& whole_;
    Program program_;
};

TaskStore store_of(const SetPart& part) { return TaskStore(part.path / ".agentforge"); }

/// Returns nothing if the task was not created.
Result<std::optional<TaskState>> state_of(const TaskStore& store, const std::string& task) {
    std::error_code error;
    if (task.empty() || !fs::exists(store.paths(task).task(), error) || store.never_began(task)) {
        return std::optional<TaskState>();
    }
    AF_TRY(TaskState state, read_task_state(store, task));
    return std::optional(std::move(state));
}

/// True if its commit is ready and the task has not changed since.
bool is_prepared(const TaskState& state) {
    return state.prepared && state.prepared->workspace_tree == state.tree && state.status == TaskStatus::paused &&
           state.waiting_for().empty();
}

std::string waiting_reason(const SetPart& part, const TaskState& state) {
    const std::string command = "agentforge --repo " + part.repo + " ";
    if (!state.waiting_for().empty()) { return "waits for a person: " + command + "status " + state.task_id; }
    if (state.status == TaskStatus::failed) { return "failed: " + state.error; }
    if (state.status == TaskStatus::paused) {
        return "paused: " + (state.pause_reason.empty() ? std::string("for an unknown reason") : state.pause_reason);
    }
    return std::string(to_string(state.status)) + " at stage " + state.stage().name;
}

/// One set, step by step. Each step can be repeated after a crash. The set's file lists the branches before any is created.
class SetRun {
public:
    SetRun(Program& program, fs::path folder, TaskSet set)
        : program_(program), folder_(std::move(folder)), set_(std::move(set)) {}

    [[nodiscard]] fs::path file() const { return set_file(folder_); }

    Result<int> run() {
        if (set_.phase == SetPhase::undoing) { return undo(); }
        if (set_.phase == SetPhase::undone) {
            return Error{"AF-SET-009", "set " + set_.id + " was undone: " + set_.reason, file().string(), "start it again",
                         ErrorKind::conflict};
        }
        AF_CHECK(find_repositories());
        if (set_.phase == SetPhase::specifying) {
            AF_TRY(const auto waits, specify());
            if (waits) { return *waits; }
        }
        if (set_.phase == SetPhase::specified) {
            AF_TRY(const auto waits, prepare_parts());
            if (waits) { return *waits; }
            AF_CHECK(test_together());
            AF_CHECK(intend_branches());
        }
        if (set_.phase == SetPhase::branching) { AF_CHECK(make_branches()); }
        if (set_.phase == SetPhase::delivering) {
            AF_TRY(const auto waits, deliver_parts());
            if (waits) { return *waits; }
        }
        print_result();
        return 0;
    }

    /// Checks in each repository, before any cost, everything that could stop a part later.
    Result<void> check_parts_ready() {
        plans_.clear();
        for (const SetPart& part : set_.parts) {
            auto plan = check_part_ready(part);
            if (!plan.ok()) {
                Error error = plan.error();
                error.message = "repository `" + part.repo + "`: " + error.message;
                return error;
            }
            plans_.push_back(std::move(*plan));
        }
        return {};
    }

    /// Checks the given specification and prints the plan. Does nothing else.
    Result<int> plan(const std::string& given) {
        AF_CHECK(check_parts_ready());
        if (!given.empty()) { AF_CHECK(divide(given)); }
        print_plan(given);
        return 0;
    }

    /// Continues a set that another process began.
    Result<int> resume() {
        if (set_.phase == SetPhase::specifying) {
            AF_CHECK(find_repositories());
            AF_CHECK(check_parts_ready());
        }
        return run();
    }

    Result<int> abort(const std::string& reason) {
        if (set_.phase == SetPhase::undone) {
            return Error{"AF-SET-009", "set " + set_.id + " was already undone: " + set_.reason, file().string(), "nothing to do",
                         ErrorKind::conflict};
        }
        if (set_.phase == SetPhase::delivering || set_.phase == SetPhase::done) {
            return Error{"AF-SET-009", "all branches of set " + set_.id + " exist", file().string(),
                         set_.phase == SetPhase::done ? "nothing to do" : "agentforge resume " + set_.id, ErrorKind::conflict};
        }
        if (set_.phase != SetPhase::undoing) {
            AF_CHECK(find_repositories());
            set_.phase = SetPhase::undoing;
            set_.reason = reason;
            AF_CHECK(save());
        }
        return undo();
    }

    /// True if a task exists. Until then the user can correct the specification and start again.
    [[nodiscard]] bool has_begun() const { return set_.phase != SetPhase::specifying || !set_.specification_task.empty(); }

private:
    using Waits = std::optional<int>;  ///< The exit code with which the command ends here.

    /// Undoes an aborted set, including what a killed process left.
    Result<int> undo() {
        AF_CHECK(find_repositories());
        AF_TRY(kept_, take_branches_back());
        AF_CHECK(remove_checkouts());
        std::vector<std::pair<SetPart, std::string>> tasks;
        for (const SetPart& part : set_.parts) { tasks.emplace_back(part, part.task); }
        if (!set_.parts.empty()) { tasks.emplace_back(set_.parts.front(), set_.specification_task); }
        for (const auto& [part, task] : tasks) {
            AF_TRY(const auto state, state_of(store_of(part), task));
            if (!state || state->status == TaskStatus::completed || state->status == TaskStatus::aborted) { continue; }
            PartProgram own(program_, part.path, set_.settings);
            const auto progress = make_progress(own.program());
            AF_TRY(const auto project, Project::open(own.program(), *progress, task));
            AF_TRY(const auto done, project->controller().abort(task, "set " + set_.id + " was undone: " + set_.reason));
            static_cast<void>(done);
        }
        set_.phase = SetPhase::undone;
        AF_CHECK(save());
        print_result();
        return 0;
    }

    /// Finds each part's repository: at the recorded path, else by its name in the list of repositories.
    Result<void> find_repositories() {
        for (SetPart& part : set_.parts) {
            std::error_code error;
            if (fs::is_directory(part.path, error)) { continue; }
            const auto known = find_known_repository(program_, part.repo);
            if (!known.ok() || !fs::is_directory(known->path, error)) {
                return Error{"AF-SET-015", "repository `" + part.repo + "` is not at " + part.path.string(), file().string(),
                             "move it back; or register its new path: agentforge repo remove " + part.repo +
                                 ", then agentforge repo add PATH --name " + part.repo,
                             ErrorKind::not_found};
            }
            say("set " + set_.id + ": repository " + part.repo + " is at " + known->path.string() + " now");
            part.path = known->path;
            AF_CHECK(save());
        }
        return {};
    }

    /// Removes checkouts left by a killed `delivery.set_test`.
    Result<void> remove_checkouts() {
        PartProgram own(program_, set_.parts.front().path, set_.settings);
        const auto progress = make_progress(own.program());
        AF_TRY(const auto project, Project::open(own.program(), *progress));
        const fs::path folder = fs::path(project->task_workspace_options().state_directory) / "sets" / set_.id;
        std::error_code error;
        if (!fs::exists(folder, error)) { return {}; }
        for (const SetPart& part : set_.parts) { static_cast<void>(Worktree::remove(part.path, folder / part.repo, set_.id)); }
        fs::remove_all(folder, error);
        return {};
    }

    Result<void> save() { return save_set(file(), set_); }
    [[nodiscard]] fs::path specification_of(const SetPart& part) const { return folder_ / (part.repo + ".yaml"); }

    void say(const std::string& text) {
        if (!program_.quiet && !program_.json_output) { program_.err << "agentforge: " << printable(text, 1000) << std::endl; }
    }

    // ---------------------------------------------------------------------------------------------------------- preflight --

    /// The findings about a part before it begins.
    struct PartPlan {
        std::string pipeline;
        std::string delivery;
        std::vector<std::string> set_test;
        GateReadiness gates;
    };

    Result<PartPlan> check_part_ready(const SetPart& part) {
        PartProgram own(program_, part.path, set_.settings);
        const auto progress = make_progress(own.program());
        AF_TRY(const auto project, Project::open(own.program(), *progress));
        const auto type = project->settings().origin("delivery.type");
        AF_CHECK(check_leaves_branch(project->services().delivery, type ? type->where : "delivery.type", ""));
        AF_CHECK(check_set_test(*project));
        AF_TRY(const PipelineTemplate pipeline, pipeline_of(*project, arguments_of_part(), set_.request));
        const auto last = pipeline.index_of(pipeline.exit_stage);
        if (!last || !makes_delivery(pipeline.stages[*last])) {
            return Error{"AF-SET-002", "pipeline `" + pipeline.name + "` delivers nothing, but a set ends with branches",
                         "--pipeline", "name a pipeline whose last stage delivers; `agentforge pipelines list` lists them",
                         ErrorKind::invalid};
        }
        if (const auto takes = external_name(pipeline, contract_name::specification); !takes.ok()) {
            return Error{"AF-SET-002",
                         "pipeline `" + pipeline.name + "` accepts no external specification, but each part of a set gets one",
                         "--pipeline", "name a pipeline that accepts one, such as implement", ErrorKind::invalid};
        }
        AF_TRY(GateReadiness gates, check_stages_ready(own.program(), *project, pipeline, "", set_.request));
        return PartPlan{pipeline.name, std::string(to_string(project->services().delivery.type)),
                        project->settings().list("delivery.set_test"), std::move(gates)};
    }

    /// Checks that the project's joint test of the parts can run: without it, no branches are created.
    static Result<void> check_set_test_trusted(const Project& project) {
        const auto& left_out = project.trust().left_out();
        const auto missed = std::ranges::find(left_out, "delivery.set_test", &GuardedSetting::key);
        return missed == left_out.end() ? Result<void>() : Result<void>(required_setting_error(*missed));
    }

    Result<void> check_set_test(const Project& project) const {
        AF_CHECK(check_set_test_trusted(project));
        const std::vector<std::string> command = project.settings().list("delivery.set_test");
        for (const std::string& word : command) { AF_CHECK(check_placeholders(word)); }
        // A program path with a folder may be a file that the parts create.
        const bool searched = !command.empty() && command.front().find_first_of("/{") == std::string::npos;
        if (!searched || is_on_path(program_.environment, command.front())) { return {}; }
        const auto origin = project.settings().origin("delivery.set_test");
        return Error{"AF-SET-017", "cannot find the program `" + printable(command.front(), 120) + "` of delivery.set_test",
                     origin ? origin->where : "delivery.set_test", "install it, or name another in delivery.set_test",
                     ErrorKind::unavailable};
    }

    // ------------------------------------------------------------------------------------------------------ specification --

    Result<Waits> specify() {
        SetPart& first = set_.parts.front();
        const fs::path given = folder_ / "specification.yaml";
        std::error_code error;
        PartProgram own(program_, first.path, set_.settings);
        if (!fs::exists(given, error)) {
            AF_CHECK(run_specification(own.program(), first));
            AF_TRY(const auto state, state_of(store_of(first), set_.specification_task));
            if (!state) { return Waits(1); }  // The command has already printed the reason.
            if (state->status != TaskStatus::completed) {
                return waits_with({"the specification " + waiting_reason(first, *state)}, *state);
            }
        }
        AF_TRY(const std::vector<PartSpecification> divided, divide(fs::exists(given, error) ? given : fs::path()));
        std::vector<SetPart> ordered;
        for (const PartSpecification& each : divided) {
            SetPart part = *std::ranges::find(set_.parts, each.repo, &SetPart::repo);
            part.depends_on = each.depends_on;
            AF_CHECK(write_file_atomic(specification_of(part), to_yaml(each.specification), Durability::synced, 0600));
            ordered.push_back(std::move(part));
        }
        set_.parts = std::move(ordered);
        set_.phase = SetPhase::specified;
        AF_CHECK(save());
        return Waits();
    }

    /// Returns the parts of the specification, given or written by the task.
    Result<std::vector<PartSpecification>> divide(const fs::path& given) {
        PartProgram own(program_, set_.parts.front().path, set_.settings);
        const auto progress = make_progress(own.program());
        AF_TRY(const auto project, Project::open(own.program(), *progress));
        AF_TRY(const ContractSet contracts, ContractSet::load({project->product().config + "/contracts",
                                                               (project->place().agentforge / "contracts").string()}));
        AF_TRY(const Import whole,
               given.empty()
                   ? import_from_task(contracts, "specification", "specification", project->tasks(), set_.specification_task)
                   : import_file(contracts, "specification", "specification", given.string(), given.string()));
        std::vector<std::string> names;
        for (const SetPart& part : set_.parts) { names.push_back(part.repo); }
        return parts_of(whole.artifact, names);
    }

    Result<void> run_specification(Program& program, SetPart& first) {
        AF_TRY(const auto state, state_of(store_of(first), set_.specification_task));
        if (state) {
            if (state->status != TaskStatus::completed) { resume_and_report(program, set_.specification_task); }
            return {};
        }
        std::string names;
        for (const SetPart& part : set_.parts) { names += (names.empty() ? "" : ", ") + part.repo; }
        StartArguments arguments;
        arguments.goal = "design";
        arguments.set_file = file().string();
        arguments.no_iterate = true;
        arguments.named = [this](const std::string& task) {
            set_.specification_task = task;
            return save();
        };
        say("set " + set_.id + ": the specification");
        start_task(
            program, arguments,
            set_.request + "\n\nThis request is for several repositories: " + names +
                ". You see only the first one. Write one specification with `parts`: for each repository its requirements, components, interfaces and files.");
        return {};
    }

    // -------------------------------------------------------------------------------------------------------------- parts --

    /// Runs each part's task up to a commit that waits for its branch.
    Result<Waits> prepare_parts() {
        std::vector<std::string> waiting;
        int code = 0;
        for (SetPart& part : set_.parts) {
            if (program_.cancel->requested() || program_.cancel->finishing()) {
                return Waits(static_cast<int>(ExitCode::cancelled));
            }
            AF_TRY(auto state, state_of(store_of(part), part.task));
            if (state && (state->status == TaskStatus::aborted || state->status == TaskStatus::completed)) {
                return Error{"AF-SET-004",
                             "task " + part.task + " of repository `" + part.repo + "` is " +
                                 std::string(to_string(state->status)) + ", so the set cannot be finished: no branch was created",
                             file().string(), "agentforge abort " + set_.id + " ends the others", ErrorKind::conflict};
            }
            if (state && is_prepared(*state)) { continue; }
            PartProgram own(program_, part.path, set_.settings);
            say("set " + set_.id + ": " + part.repo +
                (state || part.task.empty() ? "" : ": task " + part.task + " does not exist, so a new one starts"));
            if (state) {
                resume_and_report(own.program(), part.task);
            } else {
                AF_CHECK(store_of(part).remove_if_never_began(part.task));  // It starts again as another task.
                start_part(own.program(), part);
            }
            AF_TRY(state, state_of(store_of(part), part.task));
            if (state && is_prepared(*state)) { continue; }
            waiting.push_back(part.repo + ": " + (state ? waiting_reason(part, *state) : "not started"));
            code = std::max(code, state && !state->waiting_for().empty() ? static_cast<int>(ExitCode::person_needed) : 1);
        }
        if (waiting.empty()) { return Waits(); }
        return print_waiting(waiting, code);
    }

    /// Returns nothing if another process has changed the task since its commit.
    Result<PreparedCommit> prepared_of(const SetPart& part) {
        AF_TRY(const auto state, state_of(store_of(part), part.task));
        return state ? state->prepared.value_or(PreparedCommit()) : PreparedCommit();
    }

    [[nodiscard]] StartArguments arguments_of_part() const {
        StartArguments arguments;
        arguments.goal = set_.pipeline.empty() ? "implement" : "";
        arguments.pipeline = set_.pipeline;
        arguments.no_iterate = true;
        return arguments;
    }

    void start_part(Program& program, SetPart& part) {
        StartArguments arguments = arguments_of_part();
        arguments.entry.spec = specification_of(part).string();
        arguments.set_file = file().string();
        arguments.named = [this, &part](const std::string& task) {
            part.task = task;
            return save();
        };
        start_task(program, arguments, set_.request);
    }

    Waits waits_with(std::vector<std::string> waiting, const TaskState& state) {
        return print_waiting(waiting, !state.waiting_for().empty() ? static_cast<int>(ExitCode::person_needed) : 1);
    }

    Waits print_waiting(const std::vector<std::string>& waiting, int code) {
        if (program_.json_output) {
            json::object object = as_json();
            object["waiting"] = json::array(waiting.begin(), waiting.end());
            program_.print_json(object);
            return code;
        }
        program_.out << "Not done: " << set_.id << ". No branch was created.\n";
        for (const std::string& line : waiting) { program_.out << "  " << printable(line, 600) << "\n"; }
        program_.out << "  continue with: agentforge resume " << set_.id << "\n";
        return code;
    }

    // ---------------------------------------------------------------------------------------------------------- joint test --

    /// Runs the commands that test the parts together, each in a checkout of its repository's part.
    Result<void> test_together() {
        std::map<std::string, std::string> commits;
        for (const SetPart& part : set_.parts) {
            AF_TRY(const PreparedCommit prepared, prepared_of(part));
            commits[part.repo] = prepared.commit;
        }
        std::string results;
        for (const SetPart& part : set_.parts) {
            PartProgram own(program_, part.path, set_.settings);
            const auto progress = make_progress(own.program());
            AF_TRY(const auto project, Project::open(own.program(), *progress));
            AF_CHECK(check_set_test_trusted(*project));
            const std::vector<std::string> command = project->settings().list("delivery.set_test");
            if (command.empty()) { continue; }
            say("set " + set_.id + ": testing the parts together, with the command of " + part.repo);
            AF_TRY(const std::string result, run_together(*project, part, command, commits));
            results += (results.empty() ? "" : "; ") + part.repo + ": " + result;
        }
        set_.test_result = results;
        return save();
    }

    /// Runs the command in checkouts of all parts. `commits`: by repository. Returns `passed`.
    Result<std::string> run_together(Project& project, const SetPart& at, const std::vector<std::string>& command,
                                     const std::map<std::string, std::string>& commits) {
        const fs::path folder = fs::path(project.task_workspace_options().state_directory) / "sets" / set_.id;
        struct Checkouts {
            std::vector<std::pair<const SetPart*, fs::path>> made;
            const std::string& set;
            fs::path folder;
            ~Checkouts() {
                for (const auto& [part, path] : made) { static_cast<void>(Worktree::remove(part->path, path, set)); }
                std::error_code ignored;
                fs::remove_all(folder, ignored);
            }
        } checkouts{{}, set_.id, folder};
        AF_CHECK(make_directories(folder));
        std::map<std::string, std::string> places;
        for (const SetPart& part : set_.parts) {
            const fs::path place = folder / part.repo;
            checkouts.made.emplace_back(&part, place);
            AF_TRY(const Worktree tree, Worktree::ensure(part.path, place, set_.id, commits.at(part.repo)));
            places[part.repo] = tree.path().string();
        }
        AF_TRY(const ProcessRequest request, test_request(at, command, places));
        AF_TRY(const ProcessOutcome outcome, project.processes().run(request, Stop{program_.cancel, std::nullopt}));
        if (outcome.cancelled) {
            return Error{"AF-SET-005", "the test of the parts together was interrupted", at.repo, "agentforge resume " + set_.id,
                         ErrorKind::cancelled};
        }
        if (outcome.exit_code == 0 && !outcome.timed_out) { return std::string("passed"); }
        set_.test_result = at.repo + ": " + (outcome.timed_out ? "timed out" : "exit code " + std::to_string(outcome.exit_code));
        AF_CHECK(save());
        return parts_fail_together(at, outcome);
    }

    /// `places`: the checkout of each repository, which replaces `{repository}` in the command.
    [[nodiscard]] Result<ProcessRequest> test_request(const SetPart& at, const std::vector<std::string>& command,
                                                      const std::map<std::string, std::string>& places) const {
        ProcessRequest request;
        for (std::string word : command) {
            for (const auto& [repo, place] : places) {
                const std::string name = "{" + repo + "}";
                for (std::size_t found = word.find(name); found != std::string::npos;
                     found = word.find(name, found + place.size())) {
                    word.replace(found, name.size(), place);
                }
            }
            AF_CHECK(check_placeholders(word));
            request.argv.push_back(std::move(word));
        }
        request.directory = places.at(at.repo);
        request.environment = base_environment(program_.environment);
        request.environment["PYTHONDONTWRITEBYTECODE"] = "1";
        for (const auto& [repo, place] : places) { request.confinement.readable.push_back(place); }
        request.timeout = std::chrono::minutes(15);
        return request;
    }

    [[nodiscard]] Error parts_fail_together(const SetPart& at, const ProcessOutcome& outcome) const {
        std::string said = sanitize_utf8(outcome.out + outcome.err);
        if (said.size() > 1500) { said = "… " + sanitize_utf8(said.substr(said.size() - 1500)); }
        return {"AF-SET-005",
                "the parts do not pass together, so no branch was created: the command of `" + at.repo + "` " +
                    (outcome.timed_out ? "did not finish within 15 minutes"
                                       : "exited with code " + std::to_string(outcome.exit_code)) +
                    (said.empty() ? "" : ": " + said),
                "delivery.set_test",
                "fix what makes the test fail, then agentforge resume " + set_.id + "; or agentforge abort " + set_.id +
                    " and start again",
                ErrorKind::denied};
    }

    /// Refuses a misspelt `{repository}`: the command would get it unchanged and might pass.
    Result<void> check_placeholders(const std::string& word) const {
        std::vector<std::string> names;
        for (const SetPart& part : set_.parts) { names.push_back(part.repo); }
        for (std::size_t open = word.find('{'); open != std::string::npos; open = word.find('{', open + 1)) {
            const std::size_t close = word.find('}', open);
            if (close == std::string::npos) { return {}; }
            const std::string name = word.substr(open + 1, close - open - 1);
            if (std::ranges::find(names, name) != names.end()) { continue; }
            if (const std::string near = nearest(name, names); !near.empty()) {
                return Error{"AF-SET-016", "`{" + printable(name, 80) + "}` is not a repository of the set", "delivery.set_test",
                             "did you mean `{" + near + "}`?", ErrorKind::invalid};
            }
        }
        return {};
    }

    // ----------------------------------------------------------------------------------------------------------- branches --

    /// Records in the set's file which branches are about to be created, before any is.
    Result<void> intend_branches() {
        for (SetPart& part : set_.parts) {
            AF_TRY(const PreparedCommit prepared, prepared_of(part));
            part.branch = prepared.branch;
            part.commit = prepared.commit;
            AF_CHECK(check_commit(part, prepared));
            AF_TRY(const Repository repository, Repository::open(part.path));
            AF_TRY(const auto there, repository.branch_commit(part.branch));
            if (there && *there != part.commit) {
                return in_the_way(part, Error{"", "the branch exists, at " + *there, "", "", ErrorKind::conflict});
            }
        }
        set_.phase = SetPhase::branching;
        set_.reason.clear();
        return save();
    }

    /// Checks that the commit has the measured tree and the part's base, and names the task in its message.
    Result<void> check_commit(const SetPart& part, const PreparedCommit& prepared) {
        AF_TRY(const auto state, state_of(store_of(part), part.task));
        const auto written = written_commit(part.path, prepared.commit);
        const bool fits = state && written.ok() && written->tree == prepared.tree && written->parent == state->base_commit &&
                          written->message.find(part.task) != std::string::npos;
        if (fits) { return {}; }
        return Error{"AF-SET-018",
                     "commit " + prepared.commit + " of repository `" + part.repo +
                         "` is not the measured change of its task, so no branch was created",
                     store_of(part).paths(part.task).journal().string(),
                     "agentforge audit verify " + part.task + " shows what was changed", ErrorKind::corrupt};
    }

    [[nodiscard]] Error in_the_way(const SetPart& part, const Error& why) const {
        const bool locked = why.kind == ErrorKind::transient;
        return Error{
            "AF-SET-006",
            "cannot create branch " + part.branch + " of repository `" + part.repo + "`, so the set has none: " + why.message,
            part.path.string(),
            (locked ? why.remedy : "rename the conflicting branch (git branch -m)") + ", then agentforge resume " + set_.id,
            ErrorKind::conflict};
    }

    Result<void> make_branches() {
        for (const SetPart& part : set_.parts) {
            AF_TRY(const auto state, state_of(store_of(part), part.task));
            if (state && is_prepared(*state)) { continue; }
            AF_CHECK(back_to_specified("task " + part.task + " of repository `" + part.repo + "` " +
                                       (state ? "is " + std::string(to_string(state->status)) : std::string("is gone"))));
            return Error{"AF-SET-004", set_.reason + ", so the set cannot be finished" + kept_words(), file().string(),
                         "agentforge abort " + set_.id + " ends the others", ErrorKind::conflict};
        }
        for (const SetPart& part : set_.parts) {
            const auto repository = Repository::open(part.path);
            const auto made =
                repository.ok() ? repository->create_branch(part.branch, part.commit) : Result<void>(repository.error());
            if (made.ok()) { continue; }
            Error error = in_the_way(part, made.error());
            AF_CHECK(back_to_specified(error.message));
            error.message += kept_words();
            return error;
        }
        set_.phase = SetPhase::delivering;
        return save();
    }

    /// Removes the branches and goes back to the phase `specified`. If a branch remains, the phase stays `branching`.
    Result<void> back_to_specified(const std::string& why) {
        AF_TRY(kept_, take_branches_back());
        if (kept_.empty()) { set_.phase = SetPhase::specified; }
        set_.reason = why;
        return save();
    }

    [[nodiscard]] std::string kept_words() const {
        std::string words;
        for (const std::string& line : kept_) { words += "; " + line; }
        return words;
    }

    /// Removes the branches that are still at the set's commits. Returns the remaining ones, each with the reason.
    Result<std::vector<std::string>> take_branches_back() {
        std::vector<std::string> kept;
        if (set_.phase != SetPhase::branching && set_.phase != SetPhase::undoing) { return kept; }
        for (auto part = set_.parts.rbegin(); part != set_.parts.rend(); ++part) {
            if (part->branch.empty() || part->commit.empty()) { continue; }
            AF_TRY(const bool removed, take_back_branch(part->path, part->branch, part->commit));
            if (removed) {
                say("set " + set_.id + ": removed branch " + part->branch + " of " + part->repo);
                continue;
            }
            // Another branch of this name is the user's own.
            AF_TRY(const bool stays, branch_holds(part->path, part->branch, part->commit));
            if (stays) {
                kept.push_back("branch " + part->branch + " of " + part->repo +
                               " stays, because it is checked out or has newer commits; `git -C " + part->path.string() +
                               " branch -D " + part->branch + "` removes it");
            }
        }
        return kept;
    }

    /// Each task takes over its branch: records it in its journal, and publishes it if the settings ask for that.
    Result<Waits> deliver_parts() {
        std::vector<std::string> waiting;
        int code = 0;
        for (const SetPart& part : set_.parts) {
            AF_TRY(auto state, state_of(store_of(part), part.task));
            // The branch exists, and the task has nothing left to do.
            if (!state || state->status == TaskStatus::aborted) {
                kept_.push_back(part.repo + ": its task " + (state ? "was aborted" : "is gone") + "; its branch remains");
                continue;
            }
            PartProgram own(program_, part.path, set_.settings);
            // Also runs for a completed task: a killed process may not have written its last files or archive, or removed its
            // worktrees.
            const bool had_ended = state->status == TaskStatus::completed;
            const int ended = resume_and_report(own.program(), part.task);
            code = std::max(code, had_ended ? 0 : ended);
            AF_TRY(state, state_of(store_of(part), part.task));
            if (state && state->status == TaskStatus::completed) { continue; }
            waiting.push_back(part.repo + ": " + (state ? waiting_reason(part, *state) : "its task is gone"));
        }
        if (waiting.empty()) {
            set_.phase = SetPhase::done;
            AF_CHECK(save());
            return Waits();
        }
        if (program_.json_output) {
            json::object object = as_json();
            object["waiting"] = json::array(waiting.begin(), waiting.end());
            program_.print_json(object);
        } else {
            program_.out << "All branches of " << set_.id << " exist, but some tasks have not ended:\n";
            for (const std::string& line : waiting) { program_.out << "  " << printable(line, 600) << "\n"; }
            program_.out << "  continue with: agentforge resume " << set_.id << "\n";
        }
        return Waits(code == 0 ? 1 : code);
    }

    // ----------------------------------------------------------------------------------------------------------- reporting --

    [[nodiscard]] json::object as_json() const {
        json::array parts;
        const bool undone = set_.phase == SetPhase::undone;
        for (const SetPart& each : set_.parts) {
            parts.push_back(json::object{{"repo", each.repo},
                                         {"path", each.path.string()},
                                         {"task_id", each.task},
                                         {"branch", undone ? "" : each.branch},
                                         {"commit", undone ? "" : each.commit}});
        }
        return {{"set_id", set_.id},
                {"phase", to_string(set_.phase)},
                {"success", set_.phase == SetPhase::done},
                {"test_result", set_.test_result},
                {"reason", set_.reason},
                {"parts", std::move(parts)},
                {"kept", json::array(kept_.begin(), kept_.end())}};
    }

    void print_plan(const std::string& given) {
        if (program_.json_output) {
            json::array parts;
            for (std::size_t at = 0; at < plans_.size(); ++at) {
                const PartPlan& plan = plans_[at];
                parts.push_back(json::object{{"repo", set_.parts[at].repo},
                                             {"path", set_.parts[at].path.string()},
                                             {"pipeline", plan.pipeline},
                                             {"delivery", plan.delivery},
                                             {"set_test", json::array(plan.set_test.begin(), plan.set_test.end())},
                                             {"gates", gates_json(plan.gates)}});
            }
            program_.print_json({{"dry_run", true},
                                 {"request", set_.request},
                                 {"specification", text_or_null(given)},
                                 {"parts", std::move(parts)}});
            return;
        }
        program_.out << "Would start a set: \"" << printable(set_.request, 400) << "\"\n  specification  "
                     << (given.empty() ? "written by a task of " + set_.parts.front().repo : printable(given, 400)) << "\n";
        for (std::size_t at = 0; at < plans_.size(); ++at) {
            const PartPlan& plan = plans_[at];
            program_.out << "  " << set_.parts[at].repo << "  pipeline " << plan.pipeline << ", delivery " << plan.delivery
                         << (plan.set_test.empty() ? "" : ", then tests the parts together") << "\n";
            for (const std::string& line : gates_text(plan.gates)) { program_.out << "    " << line << "\n"; }
        }
        program_.out << "Nothing was done. All checks before the start passed.\n";
    }

    void print_result() {
        if (program_.json_output) {
            program_.print_json(as_json());
            return;
        }
        program_.out << (set_.phase == SetPhase::done ? "Done: " : "Undone: ") << set_.id << "\n";
        for (const SetPart& each : set_.parts) {
            if (set_.phase == SetPhase::done) {
                program_.out << "  " << each.repo << "  commit " << each.commit << " on branch " << each.branch << "\n";
            } else {
                program_.out << "  " << each.repo << "  " << (each.task.empty() ? "not started" : each.task)
                             << (kept_.empty() ? ", no branch\n" : "\n");
            }
        }
        for (const std::string& line : kept_) { program_.out << "  " << printable(line, 600) << "\n"; }
        if (!set_.test_result.empty()) { program_.out << "  together: " << printable(set_.test_result, 300) << "\n"; }
    }

    Program& program_;
    fs::path folder_;
    TaskSet set_;
    std::vector<PartPlan> plans_;    ///< Of each part, after the checks.
    std::vector<std::string> kept_;  ///< Remaining branches, each with the reason.
};

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
Result<void> check_fits_set(const StartArguments& arguments) {
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

Error no_such_set(const std::string& id, const std::vector<std::string>& ids, const fs::path& sets) {
    const std::string near = nearest(id, ids);
    return Error{"AF-SET-007", "there is no set `" + printable(id, 120) + "`", sets.string(),
                 near.empty() ? "`agentforge start --repos` names the set that it begins" : "did you mean `" + near + "`?",
                 ErrorKind::not_found};
}

Error several_sets(const std::string& id, std::vector<std::string> candidates, const fs::path& sets) {
    constexpr std::size_t most = 10;
    std::ranges::sort(candidates);
    std::string names;
    for (std::size_t at = 0; at < std::min(most, candidates.size()); ++at) {
        names += (at == 0 ? "" : ", ") + printable(candidates[at], 120);
    }
    if (candidates.size() > most) { names += " and " + std::to_string(candidates.size() - most) + " more"; }
    return Error{"AF-SET-007",
                 "`" + printable(id, 120) + "` " +
                     (candidates.empty() ? std::string("names no set, and there are no sets")
                                         : "does not name one set; candidates: " + names),
                 sets.string(), "Give more of the id.", ErrorKind::conflict};
}

Result<fs::path> folder_of(const Program& program, const std::string& id) {
    AF_TRY(const fs::path sets, sets_folder(program));
    std::vector<std::string> ids;
    std::error_code error;
    for (const fs::directory_entry& each : fs::directory_iterator(sets, error)) {
        if (!is_set_id(each.path().filename().string())) { continue; }
        ids.push_back(each.path().filename().string());
    }
    if (std::ranges::find(ids, id) != ids.end()) { return sets / id; }
    // `set-` alone names no set, even if only one exists.
    const std::string end = id.substr(set_prefix.size());
    std::vector<std::string> found;
    for (const std::string& each : ids) {
        if (!end.empty() && (each.starts_with(id) || each.ends_with(end))) { found.push_back(each); }
    }
    if (found.size() == 1) { return sets / found.front(); }
    return found.empty() && !end.empty() ? no_such_set(id, ids, sets) : several_sets(id, end.empty() ? ids : found, sets);
}

Result<int> begin_set(Program& program, const StartArguments& arguments, const std::string& request) {
    AF_CHECK(check_fits_set(arguments));
    if (program.place_flag.starts_with("--repo ")) {
        return invalid_set_arguments("--repo cannot be used with --repos, which names the set's repositories", "--repo",
                                     "leave out --repo");
    }
    AF_CHECK(check_request(request));
    TaskSet set;
    AF_TRY(set.parts, parts_named(program, arguments.repos));
    AF_TRY(const fs::path sets, sets_folder(program));
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
    const fs::path folder = sets / set.id;
    std::optional<std::string> specification;
    if (!arguments.entry.spec.empty()) {
        AF_TRY(specification, read_file((program.directory / arguments.entry.spec).string(), 16UL << 20U));
    }
    if (set.pipeline.empty() && !program.quiet && !program.json_output) {
        program.err
            << "agentforge: a set implements its request, whatever the request's wording (--pipeline selects another pipeline)"
            << std::endl;
    }
    SetRun run(program, folder, set);
    if (arguments.dry_run) {
        return run.plan(specification ? (program.directory / arguments.entry.spec).lexically_normal().string() : std::string());
    }
    AF_CHECK(run.check_parts_ready());
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
    AF_TRY(const fs::path folder, folder_of(program, id));
    AF_TRY(const FileDescriptor lock, lock_set(folder));
    AF_TRY(TaskSet set, load_set(set_file(folder)));
    SetRun run(program, folder, std::move(set));
    return action(run);
}

}  // namespace

bool is_set_id(std::string_view id) { return id.starts_with(set_prefix); }

Result<TaskSet> find_set(const Program& program, const std::string& id) {
    AF_TRY(const fs::path folder, folder_of(program, id));
    SetListing listing = list_sets(folder.parent_path());
    const auto found = std::ranges::find(listing.sets, folder.filename().string(), &TaskSet::id);
    return found == listing.sets.end() ? load_set(set_file(folder)) : std::move(*found);
}

std::vector<std::string> unfinished_sets(const Program& program, const std::filesystem::path& place) {
    const auto folder = sets_folder(program);
    if (!folder.ok()) { return {}; }
    const SetListing listing = list_sets(*folder);
    std::vector<std::string> lines;
    for (const Error& problem : listing.problems) {
        lines.push_back("cannot read a set: " + printable(problem.message + " (" + problem.where + ")", 400));
    }
    for (const TaskSet& set : listing.sets) {
        const bool here = place.empty() || std::ranges::find(set.parts, place, &SetPart::path) != set.parts.end();
        if (!here || set.has_ended()) { continue; }
        if (set.running) {
            lines.push_back("a process works on set " + printable(set.id, 120));
            continue;
        }
        const bool has_branches = set.phase == SetPhase::branching || set.phase == SetPhase::delivering;
        if (set.phase == SetPhase::undoing) {
            lines.push_back("set " + printable(set.id, 120) + " is not undone yet: agentforge resume " + printable(set.id, 120));
            continue;
        }
        lines.push_back("set " + printable(set.id, 120) + " is not finished" +
                        (has_branches ? ", and some of its branches may exist" : ", and has no branch") + ": agentforge resume " +
                        printable(set.id, 120));
    }
    return lines;
}

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
