// SPDX-License-Identifier: Apache-2.0
#include "program/start/start_options.hpp"

namespace agentforge::kernel {

namespace {

void add_exit_options(const Command& command, const std::shared_ptr<StartArguments>& arguments) {
    const Option exit_after =
        *add_option(*command, "--exit-after", arguments->exit_after, "End after this stage, with its verified artifact")
             ->type_name("STAGE");
    add_option_function(
        *command, "--through",
        [arguments](const std::string& stage) {
            arguments->exit_after = stage;
            arguments->exit_flag = "--through";
        },
        "The same as --exit-after")
        ->type_name("STAGE")
        ->excludes(exit_after);
}

/// Options for asking a person: when, and whether the command waits for the answer.
void add_asking_options(const Command& command, StartArguments& arguments) {
    add_flag(*command, "--supervised", arguments.supervised, "Ask for approval between stages");
    add_flag(*command, "--interactive", arguments.interactive,
             "Ask before every action of an agent: you approve, change or reject it");
    add_option(*command, "--approve", arguments.approve, "Ask for approval after this stage; may be repeated")
        ->type_name("STAGE")
        ->repeatable();
    const Option iterate =
        add_flag(*command, "--iterate", arguments.iterate,
                 "Stop at each artifact that can be revised: you approve it, ask for changes, go back or end there");
    const Option iterate_at =
        *add_option(*command, "--iterate-at", arguments.iterate_at, "The same, but only for this stage; may be repeated")
             ->type_name("STAGE")
             ->repeatable();
    iterate_at->excludes(iterate);
    add_flag(*command, "--no-iterate", arguments.no_iterate,
             "Never stop to show an artifact, even on a terminal; accept each one that satisfies its contract")
        ->excludes(iterate)
        ->excludes(iterate_at);
    add_flag(*command, "--wait", arguments.wait, "If a person is needed, wait for the answer instead of ending with code 22");
}

void add_model_options(const Command& command, Program& program) {
    const Option backend =
        *add_option_function(
             *command, "--backend", [&program](const std::string& name) { program.settings.emplace_back("llm.backend", name); },
             "Model backend for this run: anthropic, openai, cli or replay; auto takes the first that is reachable")
             ->type_name("BACKEND");
    add_option_function(
        *command, "--model", [&program](const std::string& name) { program.settings.emplace_back("llm.model", name); },
        "Model name for this run")
        ->type_name("NAME");
    add_option_function(
        *command, "--transcript",
        [&program](const std::string& file) {
            program.settings.emplace_back("llm.backend", "replay");
            program.settings.emplace_back("llm.transcript", file);
        },
        "Take the model's answers from this recorded transcript (the replay backend)")
        ->type_name("FILE")
        ->excludes(backend);
    add_option_function(
        *command, "--record", [&program](const std::string& file) { program.settings.emplace_back("llm.record", file); },
        "Record the model's answers into this transcript")
        ->type_name("FILE");
}

void add_limit_options(const Command& command, Program& program) {
    struct PartTimeout {
        const char* option;
        const char* setting;
        const char* description;
    };
    static constexpr PartTimeout timeouts[] = {
        {"--planner-timeout", "orchestration.stages.planner.timeout",
         "Time limit for the agents of planning stages (orchestration.planner_timeout)"},
        {"--executor-timeout", "orchestration.stages.executor.timeout",
         "Time limit for the agents of executing stages (orchestration.executor_timeout)"},
        {"--verifier-timeout", "orchestration.stages.verifier.timeout",
         "Time limit for the agents of verifying stages (orchestration.verifier_timeout)"},
        {"--reviewer-timeout", "orchestration.stages.reviewer.timeout",
         "Time limit for the agents of reviewing stages (orchestration.reviewer_timeout)"}};
    for (const PartTimeout& each : timeouts) {
        add_option_function(
            *command, each.option,
            [&program, &each](const std::string& seconds) { program.settings.emplace_back(each.setting, seconds); },
            each.description)
            ->type_name("SECONDS");
    }
    add_option_function(
        *command, "--cycle-limit",
        [&program](const std::string& times) { program.settings.emplace_back("orchestration.cycle_limit", times); },
        "How many times work may go back to a stage before a person decides (orchestration.cycle_limit)")
        ->type_name("N");
}

}  // namespace

void add_task_options(const Command& command, Program& program, const std::shared_ptr<StartArguments>& arguments) {
    add_exit_options(command, arguments);
    add_option(*command, "--compare-to", arguments->compare_to,
               "At the end, compare the new task with this one, as `agentforge compare` does")
        ->type_name("TASK");
    add_flag(*command, "--include-uncommitted", arguments->include_uncommitted,
             "Start from your checkout with its uncommitted changes, not from the last commit");
    add_asking_options(command, *arguments);
    add_model_options(command, program);
    add_option_function(
        *command, "--deliver", [&program](const std::string& type) { program.settings.emplace_back("delivery.type", type); },
        "What to deliver: commit, branch, files or pr (default: delivery.type, `commit`)")
        ->type_name("TYPE")
        ->one_of({"commit", "branch", "files", "pr"});
    add_limit_options(command, program);
    const Option dry_run =
        add_flag(*command, "--dry-run", arguments->dry_run, "Check everything and show what would be done, without doing it");
    add_flag(*command, "--detach", arguments->detach, "Continue in the background; follow it with `agentforge attach`")
        ->excludes(dry_run);
    add_run_output(command, program);
}

}  // namespace agentforge::kernel
