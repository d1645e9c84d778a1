// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <ostream>

#include "base/advice.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "pipeline/people/iteration.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/terminal/next_commands.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

struct ResolveArguments {
    std::string id;
    std::string answer;
    bool abort = false;
    bool no_resume = false;
};

/// Adds the item that a task waits for by its state, even if the item's file is lost or damaged.
void add_without_record(PendingList& pending, const TaskStore& tasks, const EscalationStore& store) {
    const auto listing = tasks.list();
    if (!listing.ok()) { return; }  // `status` reports the error.
    for (const TaskSummary& task : listing->tasks) {
        const auto listed = [&task](const PendingItem& item) { return item.task_id == task.task_id; };
        if (task.waiting_for.empty() || std::any_of(pending.items.begin(), pending.items.end(), listed)) { continue; }
        const auto state = read_task_state(tasks, task.task_id);
        const auto open = state.ok() ? open_question(*state) : std::nullopt;
        if (!open) { continue; }
        const auto recorded = store.item(open->id);
        if (recorded.ok()) { continue; }  // The question was answered.
        PendingItem item{open->kind, open->id, task.task_id, state->stage().name, open->text, open->hash, state->updated_at};
        if (recorded.error().kind == ErrorKind::not_found) {
            pending.problems.push_back(store.missing_question_error(item.id, item.task_id));
        }
        const auto later = [&item](const PendingItem& other) { return item.created_at < other.created_at; };
        pending.items.insert(std::find_if(pending.items.begin(), pending.items.end(), later), std::move(item));
    }
}

/// Returns the name that a person types to answer: the task's short id if the task waits for this item now. An action is named by
/// its own id, because another one may follow it.
std::string name_to_type(const TaskStore& tasks, const PendingItem& item) {
    const auto state = item.kind == QuestionKind::action ? Result<TaskState>(TaskState()) : read_task_state(tasks, item.task_id);
    const auto open = state.ok() ? open_question(*state) : std::nullopt;
    return open && open->id == item.id ? short_id(item.task_id) : item.id;
}

int list_escalations(Program& program) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const EscalationStore store(place->agentforge);
    auto pending = store.pending();
    if (!pending.ok()) { return program.fail(pending.error()); }
    const TaskStore tasks(place->agentforge);
    add_without_record(*pending, tasks, store);
    std::vector<PendingItem> open;
    for (const Error& problem : pending->problems) {
        program.err << "agentforge: " << printable_lines(problem.to_string()) << "\n";
    }
    std::copy_if(pending->items.begin(), pending->items.end(), std::back_inserter(open),
                 [&tasks](const PendingItem& item) { return !has_ended(tasks, item.task_id); });
    if (program.json_output) {
        json::array items;
        for (const PendingItem& item : open) {
            items.push_back(json::object{{"id", item.id},
                                         {"kind", to_string(item.kind)},
                                         {"task_id", item.task_id},
                                         {"stage", item.stage},
                                         {"question", item.question},
                                         {"artifact_hash", item.artifact_hash},
                                         {"created_at", item.created_at}});
        }
        program.print_json({{"escalations", std::move(items)}});
        return 0;
    }
    if (open.empty()) { program.out << "Nothing is waiting for a person.\n"; }
    const auto answer = [&](const char* command, const PendingItem& item, const char* rest = "") {
        return program.with_place(std::string(command) + name_to_type(tasks, item) + rest);
    };
    for (const PendingItem& item : open) {
        program.out << item.id << "  since " << item.created_at << "\n  task " << short_id(item.task_id) << ", stage "
                    << item.stage << "\n  ";
        if (item.kind == QuestionKind::approval) {
            program.out << "approval of its artifact; approve, feedback or reject it: " << answer("agentforge approve ", item)
                        << "\n";
        } else if (item.kind == QuestionKind::action) {
            program.out << printable(item.question, 300) << "\n  approve or reject it: " << answer("agentforge approve ", item)
                        << "\n";
        } else {
            program.out << printable(item.question, 2000) << "\n  answer: " << answer("agentforge resolve ", item, " \"…\"")
                        << "\n";
        }
    }
    return 0;
}

std::string answer_of(const std::optional<ActionDecision>& decision) {
    if (!decision) { return ""; }
    if (!decision->approved) { return "rejected"; }
    return decision->edited ? "approved, changed" : "approved";
}

std::string answer_of(const std::optional<ArtifactDecision>& decision) {
    if (!decision) { return ""; }
    if (decision->decision == "approve") { return "approved"; }
    return decision->decision == "reject" ? "refused" : decision->decision;
}

/// One question, approval or action with its answer, as JSON and as lines.
class ItemReport {
public:
    ItemReport(const ProjectPlace& place, const std::string& id)
        : id_(id), store_(place.agentforge), tasks_(place.agentforge), object_{{"id", id}} {}

    Result<void> read();
    void print(Program& program);

private:
    Result<void> read_action();
    Result<void> read_approval();
    Result<void> read_question();
    void add_from_task(const ApprovalRequest& request);
    void add_options(const Escalation& escalation);
    void add(const char* name, const std::string& value);
    void print_line(Program& program, const std::string& name, const std::string& value);

    const std::string& id_;
    const EscalationStore store_;
    const TaskStore tasks_;
    json::object object_;
    std::vector<std::pair<std::string, std::string>> lines_;
    std::string how_;  ///< The command that answers it. Empty: it was answered.
};

Result<void> ItemReport::read() {
    const auto kind = kind_of(id_);
    if (kind == QuestionKind::action) { return read_action(); }
    return kind == QuestionKind::approval ? read_approval() : read_question();
}

void ItemReport::add(const char* name, const std::string& value) {
    object_[name] = value;
    if (!value.empty()) { lines_.emplace_back(name, value); }
}

Result<void> ItemReport::read_action() {
    AF_TRY(const ApprovalRequest request, store_.approval(id_));
    AF_TRY(const std::optional<ActionDecision> decision, store_.action_decision(id_));
    object_["kind"] = "action";
    add("task_id", request.task_id);
    add("stage", request.stage);
    add("action_hash", request.artifact_hash);
    object_["action"] = request.artifact;
    lines_.emplace_back("action", action_text(request.artifact));
    add("answer", answer_of(decision));
    add("feedback", decision ? decision->feedback : "");
    if (decision && decision->edited) {
        object_["edited"] = *decision->edited;
        lines_.emplace_back("changed to", action_text(*decision->edited));
    }
    if (!decision) { how_ = "agentforge approve | reject " + id_; }
    return {};
}

Result<void> ItemReport::read_approval() {
    AF_TRY(const ApprovalRequest request, store_.approval(id_));
    AF_TRY(const std::optional<ArtifactDecision> decision, store_.artifact_decision(id_));
    object_["kind"] = "approval";
    add("task_id", request.task_id);
    add("stage", request.stage);
    add("artifact_hash", request.artifact_hash);
    add_from_task(request);
    object_["artifact"] = request.artifact;
    lines_.emplace_back("artifact", to_yaml(request.artifact));
    add("answer", answer_of(decision));
    add("feedback", decision ? in_words(Feedback{decision->feedback, decision->issues}) : "");
    if (!decision) { how_ = "agentforge approve | feedback | reject " + id_; }
    return {};
}

void ItemReport::add_from_task(const ApprovalRequest& request) {
    const auto state = read_task_state(tasks_, request.task_id);
    if (!state.ok()) { return; }
    for (const StageState& stage : state->stages) {
        if (stage.name == request.stage && !stage.artifact.empty()) {
            add("artifact_file", (tasks_.paths(request.task_id).root / stage.artifact).string());
        }
    }
    if (state->approval && state->approval->id == id_) {
        records::write_field(object_, "answers", state->feedback_answers);
        for (const std::string& words : words_before_decision(*state)) { lines_.emplace_back("note", words); }
    }
}

Result<void> ItemReport::read_question() {
    AF_TRY(const Escalation escalation, store_.escalation(id_));
    AF_TRY(const std::optional<Resolution> resolution, store_.resolution(id_));
    object_["kind"] = "escalation";
    add("task_id", escalation.task_id);
    add("stage", escalation.stage);
    add("issue", escalation.issue);
    add("question", escalation.question);
    add_options(escalation);
    object_["context"] = escalation.context;
    if (!escalation.context.empty()) { lines_.emplace_back("context", to_json_pretty(escalation.context)); }
    object_["answer"] = nullptr;
    if (resolution) {
        object_["answer"] = resolution->context;
        lines_.emplace_back("answer", resolution->abort ? "end the task" : to_json_line(resolution->context));
    } else {
        how_ = "agentforge resolve " + id_ + " \"…\"";
    }
    return {};
}

void ItemReport::add_options(const Escalation& escalation) {
    json::array options;
    for (const std::string& option : escalation.options) {
        options.emplace_back(option);
        lines_.emplace_back("option", option);
    }
    object_["options"] = std::move(options);
}

void ItemReport::print(Program& program) {
    if (program.json_output) {
        program.print_json(object_);
        return;
    }
    if (!how_.empty() && has_ended(tasks_, std::string(object_.at("task_id").as_string()))) {
        how_ = "not possible: the task has ended";
    }
    program.out << printable(id_, 300) << "\n";
    for (const auto& [name, value] : lines_) { print_line(program, name, value); }
    if (!how_.empty()) { program.out << "  answer it     " << how_ << "\n"; }
}

void ItemReport::print_line(Program& program, const std::string& name, const std::string& value) {
    if (value.find('\n') != std::string::npos) {
        program.out << "  " << name << "\n";
        print_quoted(program.out, value);
        return;
    }
    program.out << "  " << name << std::string(std::max<std::size_t>(1, 14 - name.size()), ' ') << printable_lines(value) << "\n";
}

/// Prints an action's tool and arguments, to be edited.
int show_action_to_edit(Program& program, const ProjectPlace& place, const std::string& id) {
    if (kind_of(id) != QuestionKind::action) {
        return program.fail(Error{"AF-ESC-046", id + " is not an action", "--action", "omit the flag", ErrorKind::invalid});
    }
    const auto request = EscalationStore(place.agentforge).approval(id);
    if (!request.ok()) { return program.fail(request.error()); }
    const json::object action = action_of(*request);
    if (program.json_output) {
        program.print_json(action);
    } else {
        program.out << to_yaml(action);
    }
    return 0;
}

int show_escalation(Program& program, const std::string& id, bool only_action) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    if (only_action) { return show_action_to_edit(program, *place, id); }
    ItemReport report(*place, id);
    if (const auto read = report.read(); !read.ok()) { return program.fail(read.error()); }
    report.print(program);
    return 0;
}

/// Replaces a task's id, or a unique part of it, by the id of its open question. Keeps a question's id.
Result<std::string> question_named(const ProjectPlace& place, const std::string& name) {
    if (kind_of(name) == QuestionKind::escalation) { return name; }
    const TaskStore tasks(place.agentforge);
    AF_TRY(const std::string id, resolve_task(tasks, name));
    AF_TRY(const TaskState state, read_task_state(tasks, id));
    if (const auto open = open_question(state); open && open->kind == QuestionKind::escalation) { return open->id; }
    return with_status_and_command(
        Error{"AF-ESC-091", "task " + short_id(id) + " has no open question", "", see_status, ErrorKind::invalid}, tasks, id);
}

int run_resolve(Program& program, const ResolveArguments& arguments) {
    if (arguments.answer.empty() && !arguments.abort) {
        program.fail(Error{"AF-CLI-011", "no answer is given", arguments.id,
                           "give it as the second argument, or --abort to end the task", ErrorKind::invalid});
        return static_cast<int>(ExitCode::usage);
    }
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    if (const auto kind = kind_of(arguments.id); kind && kind != QuestionKind::escalation) {
        return program.fail(Error{
            "AF-ESC-090", printable(arguments.id, 120) + " is not a question but needs approval", "",
            "decide on it: agentforge approve " + printable(arguments.id, 120) + ", agentforge feedback or agentforge reject",
            ErrorKind::invalid});
    }
    const auto question = question_named(*place, arguments.id);
    if (!question.ok()) { return program.fail(question.error()); }
    const auto escalation = EscalationStore(place->agentforge).escalation(*question);
    if (!escalation.ok()) { return program.fail(escalation.error()); }
    const auto progress = make_progress(program);
    auto project = Project::open(program, *progress, escalation->task_id);
    if (!project.ok()) { return program.fail(project.error()); }
    Resolution resolution;
    resolution.abort = arguments.abort;
    if (!arguments.answer.empty()) { resolution.context["answer"] = (*project)->secrets().redactor->redact(arguments.answer); }
    resolution.resolved_by = "user";
    if (const auto written = (*project)->escalations().resolve(*question, resolution); !written.ok()) {
        return program.fail(with_status_and_command(written.error(), (*project)->tasks(), escalation->task_id));
    }
    return resume_with_answer(program, **project, escalation->task_id, *question, arguments.no_resume);
}

}  // namespace

bool has_ended(const TaskStore& tasks, const std::string& task_id) {
    const auto state = tasks.load_state(task_id);
    if (!state.ok()) { return false; }
    const json::value* status = state->if_contains("status");
    return status != nullptr && (*status == "aborted" || *status == "completed");
}

void add_escalations(CLI::App& app, Program& program) {
    const Command group =
        add_subcommand(app, "escalations", "List and show what waits for a person: questions, approvals and actions");
    group->require_subcommand();
    group->footer(
        "Examples:\n  agentforge escalations list\n  agentforge escalations show ESC-20260102-add-oauth2-1f2e3d4c-clarify-1");
    const Command list = add_subcommand(*group, "list", "List open questions, approvals and actions");
    add_flag(*list, "--json", program.json_output, "Print JSON");
    list->footer("Example:  agentforge escalations list --json");
    list->callback([&program] {
        program.pages = true;
        program.command = [&program] { return list_escalations(program); };
    });

    auto shown = std::make_shared<std::string>();
    const Command show =
        add_subcommand(*group, "show", "Show one question, approval or action with its context, its options and its answer");
    auto only_action = std::make_shared<bool>(false);
    add_option(*show, "id", *shown, "The id (ESC-…, APR-… or ACT-…)")->type_name("ID")->required();
    add_flag(*show, "--json", program.json_output, "Print JSON");
    add_flag(*show, "--action", *only_action,
             "Print only an action's tool and arguments, as YAML to edit and give to `approve --edited`");
    show->footer(
        "Examples:\n  agentforge escalations show ESC-20260102-add-oauth2-1f2e3d4c-clarify-1\n  agentforge escalations show ACT-20260102-add-oauth2-1f2e3d4c-green-7 --action > action.yaml");
    show->callback([&program, shown, only_action] {
        program.pages = true;
        program.command = [&program, shown, only_action] { return show_escalation(program, *shown, *only_action); };
    });

    auto arguments = std::make_shared<ResolveArguments>();
    const Command resolve = add_subcommand(app, "resolve", "Answer an escalation and continue its task");
    add_option(*resolve, "id", arguments->id, "The escalation's id (ESC-…), or its task's id, or a unique part of the task's id")
        ->type_name("ESCALATION")
        ->required();
    const Option answer = *add_option(*resolve, "answer", arguments->answer, "The answer")->type_name("ANSWER");
    add_flag(*resolve, "--abort", arguments->abort, "End the task instead")->excludes(answer);
    add_flag(*resolve, "--no-resume", arguments->no_resume, "Only answer; continue later with `agentforge resume`");
    add_run_output(resolve, program);
    resolve->footer("Example:  agentforge resolve 1f2e3d4c \"Yes, require PKCE\"");
    resolve->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_resolve(program, *arguments); }; });
}

}  // namespace agentforge::kernel
