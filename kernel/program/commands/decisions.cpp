// SPDX-License-Identifier: Apache-2.0

#include <iostream>
#include <utility>

#include "aggregate/figures.hpp"
#include "base/files.hpp"
#include "base/yaml.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/editor.hpp"
#include "program/terminal/next_commands.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

struct DecisionArguments {
    std::string what;  ///< A task's id, or the id of an item that waits.
    std::string feedback;
    std::optional<std::string> hash;
    std::string edited;  ///< A file, or `-`.
    std::string file;    ///< Structured feedback; `-` is standard input.
    std::string reason;  ///< Reason of a rejection.
    bool exit = false;
    bool revises = false;  ///< The command is `feedback`.
    bool edit = false;
    bool no_resume = false;
    bool approved = false;
};

constexpr std::uint64_t max_edited_bytes = 1UL << 20U;

/// Returns the changed action from a file, or from an editor on the proposed action.
Result<std::optional<json::object>> changed(Program& program, const EscalationStore& store, const DecisionArguments& arguments) {
    std::string text;
    std::string source = arguments.edited;
    if (arguments.edit) {
        AF_TRY(const ApprovalRequest asked, store.approval(arguments.what));
        AF_CHECK(store.check_unanswered(asked.id));  // Checked before a person writes an answer.
        AF_TRY(text, edit_text(program, to_yaml(action_of(asked)), asked.id + ".yaml"));
        source = "the changed action";
    } else if (arguments.edited == "-") {
        text.assign(max_edited_bytes + 1, '\0');
        std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(std::cin.gcount()));
        source = "standard input";
    } else if (!arguments.edited.empty()) {
        AF_TRY(text, read_file(std::filesystem::path(arguments.edited).is_absolute() ? std::filesystem::path(arguments.edited)
                                                                                     : program.directory / arguments.edited,
                               max_edited_bytes));
    } else {
        return std::optional<json::object>();
    }
    AF_TRY(YamlDocument document, parse_yaml(text, source, YamlLimits{.max_bytes = max_edited_bytes}));
    if (!document.value.is_object()) {
        return Error{"AF-ESC-043", "the changed action is not a mapping", source,
                     "give `tool` and `arguments`, as `agentforge escalations show ID --action` prints them", ErrorKind::invalid};
    }
    return std::optional(std::move(document.value.get_object()));
}

/// Reads structured feedback about the artifact that the task shows.
Result<Feedback> feedback_from_file(Program& program, const ProjectPlace& place, const DecisionArguments& arguments) {
    std::string text;
    if (arguments.file == "-") {
        text.assign(max_edited_bytes + 1, '\0');
        std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
        text.resize(static_cast<std::size_t>(std::cin.gcount()));
    } else {
        AF_TRY(text, read_file(std::filesystem::path(arguments.file).is_absolute() ? std::filesystem::path(arguments.file)
                                                                                   : program.directory / arguments.file,
                               max_edited_bytes));
    }
    AF_TRY(const YamlDocument document, parse_yaml(text, arguments.file == "-" ? "standard input" : arguments.file,
                                                   YamlLimits{.max_bytes = max_edited_bytes}));
    FeedbackPlace about;
    const TaskStore tasks(place.agentforge);
    std::string task = arguments.what;
    if (kind_of(arguments.what)) {
        AF_TRY(const ApprovalRequest asked, EscalationStore(place.agentforge).approval(arguments.what));
        task = asked.task_id;
    }
    AF_TRY(const std::string id, resolve_task(tasks, task));
    AF_TRY(const TaskState state, read_task_state(tasks, id));
    if (state.approval) {
        about = {state.task_id, state.stage().name, state.stage().history.empty() ? 0 : state.stage().history.back().version};
    }
    return read_feedback(document, about);
}

/// True if the words are feedback, not a task: several words that name no task.
bool is_comment(const DecisionArguments& arguments) {
    return arguments.revises && arguments.feedback.empty() && arguments.file.empty() &&
           arguments.what.find_first_of(" \t\n") != std::string::npos;
}

/// Sets `what` to the only task that waits for an approval.
Result<void> choose_task(Program& program, DecisionArguments& arguments) {
    AF_TRY(const ProjectPlace place, ProjectPlace::find(program));
    const bool quiet = program.quiet;
    program.quiet = quiet && (arguments.approved || arguments.revises);  // Names the task that loses its artifact.
    auto task = task_or_only(program, TaskStore(place.agentforge), "", "waits for an approval",
                             [](const TaskOverview& each) { return state_name(each) == "awaiting_approval"; });
    program.quiet = quiet;
    AF_TRY(arguments.what, std::move(task));
    return {};
}

int run_decision(Program& program, DecisionArguments& arguments) {
    if (is_comment(arguments)) { arguments.feedback = std::exchange(arguments.what, ""); }
    if (arguments.revises && arguments.feedback.empty() && arguments.file.empty()) {
        program.fail(Error{"AF-CLI-162", "no feedback is given", arguments.what,
                           "say what to change as the second argument, or in a file: --file FILE", ErrorKind::invalid});
        return static_cast<int>(ExitCode::usage);
    }
    if (arguments.what.empty() && !arguments.edit) {
        if (const auto chosen = choose_task(program, arguments); !chosen.ok()) { return program.fail(chosen.error()); }
    }
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const EscalationStore store(place->agentforge);
    PersonDecision decision{.approved = arguments.approved, .feedback = arguments.feedback, .hash = arguments.hash};
    if (arguments.exit) { decision.decision = "exit"; }
    if (!arguments.reason.empty()) {
        decision.decision = "reject";
        decision.feedback = arguments.reason;
    }
    if (!arguments.file.empty()) {
        auto feedback = feedback_from_file(program, *place, arguments);
        if (!feedback.ok()) { return program.fail(feedback.error()); }
        decision.feedback = std::move(feedback->overall);
        decision.issues = std::move(feedback->issues);
    }
    std::string task = arguments.what;
    if (const auto kind = kind_of(arguments.what)) {
        if (kind == QuestionKind::escalation) {
            return program.fail(Error{"AF-ESC-044", arguments.what + " is a question, not an approval", "",
                                      "answer it: agentforge resolve " + arguments.what + " \"…\"", ErrorKind::invalid});
        }
        const auto asked = store.approval(arguments.what);
        if (!asked.ok()) { return program.fail(asked.error()); }
        task = asked->task_id;
        decision.id = arguments.what;
    } else if (arguments.edit) {
        return program.fail(Error{"AF-ESC-042", "--edit needs the id of an action", arguments.what,
                                  "name it (ACT-…); `agentforge escalations list` lists it", ErrorKind::invalid});
    }
    auto edited = changed(program, store, arguments);
    if (!edited.ok()) { return program.fail(edited.error()); }
    decision.edited = std::move(*edited);
    return with_task(program, task, [&](Project& project, const std::string& id) {
        const auto decided = project.controller().decide(id, decision);
        if (!decided.ok()) { return program.fail(with_status_and_command(decided.error(), project.tasks(), id)); }
        return resume_with_answer(program, project, id, *decided, arguments.no_resume);
    });
}

using Arguments = std::shared_ptr<DecisionArguments>;

Command add_decision(CLI::App& app, Program& program, const char* name, const char* help, const Arguments& arguments) {
    const Command command = add_subcommand(app, name, help);
    add_option(*command, "task", arguments->what,
               "A task's id, or a unique part, or APR-… or ACT-… (default: the only task that waits for an approval)")
        ->type_name("TASK");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_decision(program, *arguments); }; });
    return command;
}

void add_common_options(const Command& command, Program& program, const Arguments& arguments) {
    add_option_function(
        command, "--hash", [arguments](const std::string& hash) { arguments->hash = hash; },
        "Act only if the hash of the pending item begins with this (at least 6 characters)")
        ->type_name("HASH");
    add_flag(command, "--no-resume", arguments->no_resume, "Only answer; continue later with `agentforge resume`");
    add_run_output(command, program);
}

void add_approve(CLI::App& app, Program& program) {
    const auto arguments = std::make_shared<DecisionArguments>();
    arguments->approved = true;
    const Command approve =
        add_decision(app, program, "approve", "Approve the pending artifact or action, and continue", arguments);
    approve->footer(
        "Examples:\n"
        "  agentforge approve 1f2e3d4c\n"
        "  agentforge approve ACT-20260102-add-oauth2-1f2e3d4c-green-7\n"
        "  agentforge approve ACT-20260102-add-oauth2-1f2e3d4c-green-7 --edited action.yaml");
    const Option edit =
        add_flag(approve, "--edit", arguments->edit, "Change the action in your editor first (VISUAL, EDITOR, or vi)");
    add_option(approve, "--edited", arguments->edited,
               "Run this action instead: a YAML or JSON file with its `tool` and `arguments`; `-` is standard input")
        ->type_name("FILE")
        ->excludes(edit);
    add_flag(approve, "--exit", arguments->exit, "Approve the artifact and end the task with it")->excludes(edit);
    add_common_options(approve, program, arguments);
}

void add_reject(CLI::App& app, Program& program) {
    const auto arguments = std::make_shared<DecisionArguments>();
    const Command reject =
        add_decision(app, program, "reject",
                     "Reject the pending artifact (the task goes back a stage or ends) or action (it is not run)", arguments);
    reject->footer(
        "Examples:\n"
        "  agentforge reject 1f2e3d4c\n"
        "  agentforge reject ACT-20260102-add-oauth2-1f2e3d4c-green-7 --feedback \"Put it into lib/\"");
    const Option instead =
        add_option(reject, "--feedback", arguments->feedback,
                   "What to do instead; an artifact's stage runs again with it, as with `agentforge feedback`");
    instead->type_name("COMMENT");
    add_option(reject, "--reason", arguments->reason, "The reason; if the task goes back a stage, that stage sees it")
        ->type_name("TEXT")
        ->excludes(instead);
    add_common_options(reject, program, arguments);
}

void add_feedback(CLI::App& app, Program& program) {
    const auto arguments = std::make_shared<DecisionArguments>();
    arguments->revises = true;
    const Command feedback =
        add_decision(app, program, "feedback", "Request changes to the pending artifact; its stage runs again", arguments);
    feedback->footer(
        "Examples:\n"
        "  agentforge feedback 1f2e3d4c \"Add rate limiting to the specification\"\n"
        "  agentforge feedback 1f2e3d4c --file feedback.yaml");
    const Option comment = *add_option(feedback, "text", arguments->feedback, "What to change")->type_name("COMMENT");
    add_option(feedback, "--file", arguments->file,
               "Read the requested changes from a YAML file (docs/iteration.md); `-` is standard input")
        ->type_name("FILE")
        ->excludes(comment);
    add_common_options(feedback, program, arguments);
}

}  // namespace

void add_decisions(CLI::App& app, Program& program) {
    add_approve(app, program);
    add_reject(app, program);
    add_feedback(app, program);
}

}  // namespace agentforge::kernel
