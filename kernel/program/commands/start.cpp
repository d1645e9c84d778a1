// SPDX-License-Identifier: Apache-2.0
// The commands that start a task: start, design, implement, review, test, document.
#include <memory>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "git/repository.hpp"
#include "program/command_line.hpp"
#include "program/commands/detach.hpp"
#include "program/commands/sets.hpp"
#include "program/project/chosen_task.hpp"
#include "program/start/request_input.hpp"
#include "program/start/start_options.hpp"
#include "program/start/task_start.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

/// Prepares another review of a task's delivered commit. The task itself does not change.
void review_again(StartArguments& arguments) {
    arguments.takes_path = false;
    arguments.prepare = [task = arguments.request, base = arguments.base](Project& project,
                                                                          PipelineTemplate&) -> Result<std::string> {
        AF_TRY(const std::string id, resolve_task(project.tasks(), task));
        AF_TRY(const TaskState state, read_task_state(project.tasks(), id));
        if (state.commit.empty()) {
            return Error{
                "AF-CLI-177",
                "task " + id + " has no delivered commit to review again (it is " + std::string(to_string(state.status)) + ")",
                "", "`agentforge resume " + short_id(id) + "` continues it; the pipeline loop reviews before it delivers",
                ErrorKind::conflict};
        }
        *base = TaskBase{state.commit, delivered_tree(state), state.branch};
        AF_TRY(const Repository repository, Repository::open(project.place().root));
        std::string files;
        AF_TRY(const auto changes, repository.diff(delivery_base(state).tree, delivered_tree(state)));
        for (const TreeChange& change : changes) { files += "\n- " + change.path; }
        return "Review again what task " + id + " has delivered as commit " + state.commit +
               ". The request was: " + ellipsis(state.request, 4000) + "\nChanged files:" + ellipsis(files, 8000);
    };
}

int run_start(Program& program, StartArguments arguments) {
    if (arguments.skip_verify) {
        program.fail(Error{"AF-CLI-010", "--skip-verify does not exist: every change is verified", "",
                           "to stop earlier, use --exit-after STAGE", ErrorKind::invalid});
        return static_cast<int>(ExitCode::usage);
    }
    if (arguments.wait) { program.settings.emplace_back("escalation.wait_seconds", "604800"); }
    const auto request = request_of(program, arguments);
    if (!request.ok()) { return program.fail(request.error()); }
    if (arguments.force) { review_again(arguments); }
    // Errors in the request itself come first.
    const bool from_spec = arguments.words_from_spec && request->empty();
    if (const auto words = from_spec ? Result<void>() : check_request(*request); !words.ok()) {
        return program.fail(words.error());
    }
    if (!arguments.repos.empty()) { return start_set(program, arguments, *request); }
    const auto work = [&] { return start_task(program, arguments, *request); };
    return arguments.detach ? detach(program, work) : work();
}

/// A command that begins a task. `goal`: the command's purpose; empty if the request decides.
struct StartCommand {
    const char* name;
    const char* description;
    const char* goal;
    const char* footer;
    const char* verb = nullptr;    ///< What to do with a path given as the request. Null: a path is not allowed.
    bool words_from_spec = false;  ///< The request may be left out.
};

constexpr StartCommand start_commands[] = {
    {"start", "Turn a request into a verified commit", "",
     "Examples:\n"
     "  agentforge start \"Add OAuth2 authentication\"\n"
     "  agentforge start \"Add a cache\" --supervised --exit-after spec\n"
     "  agentforge start \"Add a cache\" --interactive\n"
     "  agentforge start \"Add a cache\" --dry-run\n"
     "  agentforge start \"Add a cache\" --detach\n"
     "  agentforge start \"Add a field to the user events\" --repos schema,analytics\n"
     "  agentforge start \"Add a cache\" --set llm.backend=cli --set llm.preset=claude"},
    {"design", "Turn a request into a reviewed specification", "design",
     "Examples:\n"
     "  agentforge design \"Add OAuth2 authentication\"\n"
     "  agentforge design \"Add a cache\" --iterate\n"
     "  agentforge design \"Add a cache\" --no-iterate"},
    {"implement", "Turn a request into a verified commit, even if the request's wording suggests another pipeline", "implement",
     "Examples:\n"
     "  agentforge implement \"Plan B for slow disks: a cache\"\n"
     "  agentforge implement --from-spec spec.yaml \"Add a cache\"\n"
     "  agentforge implement --from-spec spec.yaml --from-tests tests/cache \"Add a cache\"\n"
     "  agentforge implement --from-task TASK \"Add the cache that was designed\"\n"
     "  agentforge implement \"Add a cache\" --supervised"},
    {"review", "Review code without changing it", "review",
     "Examples:\n"
     "  agentforge review src/auth\n"
     "  agentforge review 1f2e3d4c --force\n"
     "  agentforge review \"How do we handle expired tokens?\" --model large",
     "Review"},
    {"test", "Write tests for a specification, and no code", "test",
     "Examples:\n"
     "  agentforge contracts template specification > spec.yaml\n"
     "  agentforge test --spec spec.yaml\n"
     "  agentforge test --from-task TASK",
     nullptr, true},
    {"document", "Document code, and change only documents", "document",
     "Examples:\n"
     "  agentforge document src/auth\n"
     "  agentforge document \"Explain the retry rules in the README\"",
     "Document"},
};

const char* description_of_request(const StartArguments& arguments) {
    if (arguments.takes_path) { return "A file or folder, or a request in your own words; `-` reads it from standard input"; }
    if (arguments.words_from_spec) { return "What to test, in your own words (default: the specification's title)"; }
    return "What to do, in your own words; `-` reads it from standard input";
}

void add_start_command(CLI::App& app, Program& program, const StartCommand& kind) {
    auto arguments = std::make_shared<StartArguments>();
    arguments->goal = kind.goal;
    arguments->takes_path = kind.verb != nullptr;
    if (kind.verb != nullptr) { arguments->verb = kind.verb; }
    arguments->words_from_spec = kind.words_from_spec;
    const Command command = add_subcommand(app, kind.name, kind.description);
    const Option request = *add_option(*command, "request", arguments->request, description_of_request(*arguments))
                                ->type_name(arguments->takes_path ? "PATH|REQUEST" : "REQUEST");
    if (!kind.words_from_spec) { request->required()->may_be_empty(); }
    if (arguments->goal.empty()) {
        add_option(*command, "--pipeline", arguments->pipeline,
                   "Use this pipeline (default: pipeline.default if set, else chosen from the words of the request)")
            ->type_name("PIPELINE");
    }
    if (arguments->goal.empty()) {
        add_option(*command, "--repos", arguments->repos,
                   "Work on these known repositories together: a task in each, and branches in all of them or in none")
            ->type_name("NAME,NAME");
    }
    add_entry_options(command, arguments->entry);
    add_task_options(command, program, arguments);
    if (arguments->goal == "review") {
        add_flag(*command, "--force", arguments->force,
                 "Review a task's delivered change again; give the task's id as the request");
    }
    add_flag(*command, "--skip-verify", arguments->skip_verify)->hidden();
    command->footer(kind.footer);
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_start(program, *arguments); }; });
}

}  // namespace

void add_start(CLI::App& app, Program& program, std::string_view name) {
    for (const StartCommand& kind : start_commands) {
        if (kind.name == name) { add_start_command(app, program, kind); }
    }
}

}  // namespace agentforge::kernel
