// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <ostream>
#include <set>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

struct RemindArguments {
    std::string task;
    bool resume_answered = false;
};

/// A context for calls outside a task. Messages go to standard error.
class RemindContext final : public CallContext {
public:
    explicit RemindContext(Program& program) : program_(program) {}
    [[nodiscard]] bool cancelled() const noexcept override { return program_.cancel != nullptr && program_.cancel->requested(); }
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override { return std::nullopt; }
    void log(LogLevel level, std::string_view message, const json::object&) override {
        if (level >= LogLevel::warning) { progress(message); }
    }
    void progress(std::string_view text) override {
        if (!program_.quiet && !program_.json_output) {
            program_.err << "agentforge: " << printable_lines(std::string(text)) << "\n";
        }
    }
    [[nodiscard]] std::chrono::system_clock::time_point now() override { return std::chrono::system_clock::now(); }

private:
    Program& program_;
};

json::object remind_json(const PendingItem& item, const ProcessedDue& done) {
    json::array names;
    for (const std::string& name : done.notified) { names.emplace_back(name); }
    json::array problems;
    for (const Error& error : done.problems) {
        problems.push_back(
            json::object{{"code", error.code}, {"message", error.message}, {"where", error.where}, {"remedy", error.remedy}});
    }
    return {{"id", item.id},
            {"task_id", item.task_id},
            {"notified_by", std::move(names)},
            {"reminder", done.reminder},
            {"settled", done.deadline_answer},
            {"overdue", done.overdue},
            {"problems", std::move(problems)}};
}

void print_processed(Program& program, const PendingItem& item, const ProcessedDue& done, const AnswerDeadline& deadline) {
    if (!done.deadline_answer.empty()) {
        program.out << item.id << ": no answer by " << deadline.time << "; "
                    << (done.deadline_answer == "abort" ? "the task will end"
                                                        : "the answer is \"" + printable(deadline.default_answer, 200) + "\"")
                    << ". Continue with: agentforge resume " << short_id(item.task_id) << "\n";
    } else if (!done.notified.empty()) {
        std::string names;
        for (const std::string& name : done.notified) { names += (names.empty() ? "" : ", ") + printable(name, 80); }
        program.out << item.id << ": notified by " << names
                    << (done.reminder == 0 ? "" : " (reminder " + std::to_string(done.reminder) + ")")
                    << (done.overdue ? ", its deadline was " + deadline.time : "") << "\n";
    }
}

int exit_code_of_remind(bool cancelled, bool failed) {
    if (cancelled) { return static_cast<int>(ExitCode::cancelled); }
    return failed ? static_cast<int>(ExitCode::failed) : 0;
}

/// Sends due notifications and enforces deadlines. Adds to `answered_by_deadline` each task with a question whose deadline
/// has passed and supplied the answer.
int process_due_questions(Program& program, const RemindArguments& arguments, std::set<std::string>& answered_by_deadline) {
    const auto progress = make_progress(program);
    auto opened = Project::open(program, *progress);
    if (!opened.ok()) { return program.fail(opened.error()); }
    Project& project = **opened;
    std::optional<std::string> only;
    if (!arguments.task.empty()) {
        auto id = resolve_task(project.tasks(), arguments.task);
        if (!id.ok()) { return program.fail(id.error()); }
        only = *id;
    }
    const auto pending = project.escalations().pending(only);
    if (!pending.ok()) { return program.fail(pending.error()); }
    for (const Error& problem : pending->problems) {
        program.err << "agentforge: " << printable_lines(problem.to_string()) << "\n";
    }
    RemindContext context(program);
    json::array items;
    bool anything_done = false;
    bool failed = false;
    for (const PendingItem& item : pending->items) {
        if (context.cancelled()) { break; }
        if (has_ended(project.tasks(), item.task_id)) { continue; }
        const ProcessedDue done = project.handlers().process_due(item.id, context, only.has_value());
        if (!done.deadline_answer.empty()) { answered_by_deadline.insert(item.task_id); }
        anything_done = anything_done || !done.notified.empty() || !done.deadline_answer.empty();
        failed = failed || !done.problems.empty();
        if (done.notified.empty() && done.deadline_answer.empty() && done.problems.empty() && !done.overdue) { continue; }
        if (program.json_output) {
            items.push_back(remind_json(item, done));
            continue;
        }
        const auto deadline = project.escalations().answer_deadline(item.id);
        print_processed(program, item, done, deadline.ok() ? *deadline : AnswerDeadline());
        for (const Error& problem : done.problems) {
            program.err << "agentforge: " << printable_lines(problem.to_string()) << "\n";
        }
    }
    const int code = exit_code_of_remind(context.cancelled(), failed);
    if (program.json_output) {
        program.print_json({{"processed", std::move(items)}});
    } else if (!anything_done && !failed && !program.quiet) {
        program.out << "Nothing is due.\n";
    }
    return code;
}

int run_remind(Program& program, const RemindArguments& arguments) {
    std::set<std::string> answered_by_deadline;
    int code = process_due_questions(program, arguments, answered_by_deadline);
    for (const std::string& task : answered_by_deadline) {
        if (!arguments.resume_answered || program.cancel->requested()) { break; }
        // Continues each task like `resume`, with the task's own model and delivery.
        code = std::max(code, resume_and_report(program, task));
    }
    return code;
}

}  // namespace

void add_remind(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<RemindArguments>();
    const Command command = add_subcommand(app, "remind", "Send reminders and apply deadlines; for cron");
    add_option(*command, "task", arguments->task,
               "Only this task's questions (its id, or a unique part), and retry failed notifications at once")
        ->type_name("TASK");
    const Option resume_answered = add_flag(*command, "--resume", arguments->resume_answered,
                                            "Resume each task whose question was settled because its deadline passed");
    add_flag(*command, "--json", program.json_output, "Print JSON")->excludes(resume_answered);
    add_flag(*command, "-q,--quiet", program.quiet, "Print nothing if nothing was done");
    command->footer("Example:  agentforge remind --quiet        (every five minutes from cron, see docs/escalation.md)");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_remind(program, *arguments); }; });
}

}  // namespace agentforge::kernel
