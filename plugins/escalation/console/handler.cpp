// SPDX-License-Identifier: Apache-2.0
#include "handler.hpp"

#include "readable.hpp"

#include <poll.h>
#include <pwd.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>

namespace agentforge::escalation_console {
namespace {

constexpr std::size_t most_lines = 40;  ///< Limit for what is shown unasked.
constexpr std::size_t most_evidence_lines = 16;

std::string person() {
    std::array<char, 4'096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) { return entry.pw_name; }
    return "uid " + std::to_string(::getuid());
}

/// Puts a bar before every line of foreign text, so that it cannot pass for ours.
std::string with_bars(std::string_view text) {
    std::string block = "  | ";
    for (const char letter : shown(text)) {
        block += letter;
        if (letter == '\n') { block += "  | "; }
    }
    return block + "\n";
}

/// The first lines, and the number of further ones.
struct Preview {
    std::string text;
    std::size_t more = 0;
};

Preview preview_of(const std::string& text, std::size_t lines) {
    const auto all = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    if (all <= lines) { return {text, 0}; }
    std::size_t end = 0;
    for (std::size_t line = 0; line < lines; ++line) { end = text.find('\n', end) + 1; }
    return {text.substr(0, end), all - lines};
}

std::string one_line(std::string_view text) {
    std::string line = shown(text);
    for (char& letter : line) {
        if (letter == '\n') { letter = ' '; }
    }
    return line;
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string::npos) { return ""; }
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

bool time_is_up(CallContext& context) {
    const auto deadline = context.deadline();
    return context.cancelled() || (deadline && *deadline <= std::chrono::steady_clock::now());
}

/// Returns the number of an option, from 1; 0 if the text is not a number.
std::size_t number_of(const std::string& text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

/// The given terminal, or the process's own for this question.
class Asked {
public:
    explicit Asked(Terminal* given)
        : own_(given == nullptr ? std::make_unique<Terminal>() : nullptr), terminal_(given == nullptr ? own_.get() : given) {}
    Terminal* operator->() const { return terminal_; }

private:
    std::unique_ptr<Terminal> own_;
    Terminal* terminal_;
};

/// Waits until the deadline: an answer may still arrive through another channel.
void wait_without_terminal(const std::string& id, CallContext& context) {
    context.progress(id + ": there is no terminal to ask on; answer with `agentforge resolve`, `approve` or `reject`");
    while (!time_is_up(context)) { ::poll(nullptr, 0, 50); }
}

/// The random digits at the end of a task's id, which every command takes.
std::string short_task(const std::string& task_id) {
    const std::string line = one_line(task_id);
    return line.substr(line.rfind('-') + 1);
}

bool is_action(const ApprovalRequest& request) { return request.id.starts_with("ACT-"); }

/// Returns what is decided on in readable form: an action without its place, which is in the line above.
json::object shown_part(const ApprovalRequest& request) {
    if (!is_action(request)) { return request.artifact; }
    json::object part;
    for (const char* key : {"role", "tool", "arguments"}) {
        if (const json::value* value = request.artifact.if_contains(key)) { part[key] = *value; }
    }
    return part;
}

}  // namespace

Result<void> ConsoleHandler::notify(const Escalation& escalation, CallContext& context) {
    context.progress(escalation.id + ": " + one_line(escalation.stage) + " has a question");
    return {};
}

Result<std::optional<Resolution>> ConsoleHandler::wait_for_resolution(const Escalation& escalation, CallContext& context) {
    const std::lock_guard alone(one_question_);
    const Asked terminal(given_.get());
    if (!terminal->usable()) {
        wait_without_terminal(escalation.id, context);
        return std::optional<Resolution>();
    }
    if (time_is_up(context)) { return std::optional<Resolution>(); }

    std::string text = "\nQuestion (task " + short_task(escalation.task_id) + ", stage " + one_line(escalation.stage) + ")\n";
    if (!escalation.issue.empty()) { text += with_bars(escalation.issue); }
    if (!escalation.question.empty() && escalation.question != escalation.issue) { text += with_bars(escalation.question); }
    if (!escalation.context.empty()) {
        const Preview evidence = preview_of(readable(escalation.context), most_evidence_lines);
        text += "  what is known:\n" + with_bars(evidence.text) +
                (evidence.more == 0 ? ""
                                    : "  | … " + std::to_string(evidence.more) + " more lines: agentforge escalations show " +
                                          one_line(escalation.id) + "\n");
    }
    for (std::size_t i = 0; i < escalation.options.size(); ++i) {
        text += "  " + std::to_string(i + 1) + ") " + one_line(escalation.options[i]) + "\n";
    }
    const std::string prompt =
        escalation.options.empty() ? "Answer (or 'abort'; empty: later): " : "Number or answer (or 'abort'; empty: later): ";
    terminal->discard_typed_ahead();
    terminal->write(text + prompt);
    for (;;) {
        const std::optional<std::string> line = terminal->read_line(context);
        const std::string said = line ? trimmed(*line) : "";
        if (said.empty()) {
            terminal->write("\n");
            return std::optional<Resolution>();
        }
        Resolution resolution;
        resolution.resolved_by = person();
        if (said == "abort") {
            resolution.abort = true;
            return std::optional<Resolution>(std::move(resolution));
        }
        const std::size_t number = number_of(said);
        if (!escalation.options.empty() && number > escalation.options.size()) {
            terminal->write("There are " + std::to_string(escalation.options.size()) + " options. " + prompt);
            continue;
        }
        const bool chosen = !escalation.options.empty() && number != 0;
        resolution.context["answer"] = chosen ? escalation.options[number - 1] : said;
        return std::optional<Resolution>(std::move(resolution));
    }
}

Result<void> ConsoleHandler::notify_approval(const ApprovalRequest& request, CallContext& context) {
    context.progress(request.id + (is_action(request) ? ": an action in " + one_line(request.stage) + " waits"
                                                      : ": the result of " + one_line(request.stage) + " waits for approval"));
    return {};
}

namespace {

json::object editable_part(const ApprovalRequest& request) {
    json::object part;
    for (const char* key : {"tool", "arguments"}) {
        if (const json::value* value = request.artifact.if_contains(key)) { part[key] = *value; }
    }
    return part;
}

/// Asks for one approval until a line decides it.
class ApprovalDialog {
public:
    /// `drafts`: edits of actions, by id.
    ApprovalDialog(const ApprovalRequest& request, const Asked& terminal, std::map<std::string, std::string>& drafts,
                   CallContext& context)
        : request_(request),
          terminal_(terminal),
          drafts_(drafts),
          context_(context),
          action_(is_action(request)),
          whole_(readable(shown_part(request))),
          preview_(preview_of(whole_, most_lines)),
          prompt_(std::string(action_ ? "Do it? [y/n/e" : "Approve? [y/n/x/c") + (preview_.more == 0 ? "] " : "/v] ")) {}

    /// Returns nothing if the answer comes later. `editor`: empty for the person's own.
    std::optional<Approval> ask(const std::string& editor);

private:
    void show();
    [[nodiscard]] std::string legend() const;
    void take(const std::string& said, const std::string& editor);
    void end_with(const std::string& said);
    void edit(const std::string& editor);
    void decide(bool approved, std::optional<std::string> feedback = std::nullopt);

    const ApprovalRequest& request_;
    const Asked& terminal_;
    std::map<std::string, std::string>& drafts_;
    CallContext& context_;
    const bool action_;
    const std::string whole_;
    const Preview preview_;
    const std::string prompt_;
    std::optional<Approval> decision_;
    bool over_ = false;
};

std::optional<Approval> ApprovalDialog::ask(const std::string& editor) {
    show();
    while (!over_) {
        const std::optional<std::string> line = terminal_->read_line(context_);
        take(line ? trimmed(*line) : "", editor);
    }
    return std::move(decision_);
}

void ApprovalDialog::show() {
    terminal_->discard_typed_ahead();
    terminal_->write((action_ ? "\nAction " + one_line(request_.id) : std::string("\nApproval")) + " (task " +
                     short_task(request_.task_id) + ", stage " + one_line(request_.stage) + ", hash " +
                     one_line(request_.artifact_hash).substr(0, 12) + ")\n" + with_bars(preview_.text) +
                     (preview_.more == 0 ? "" : "  | … " + std::to_string(preview_.more) + " more lines\n") + legend() + prompt_);
}

std::string ApprovalDialog::legend() const {
    const std::string view = preview_.more == 0 ? "" : "   v show all of it";
    return action_ ? "  y yes   n no   e edit it first" + view + "\n  or say what to do instead; an empty line decides later\n"
                   : "  y yes   n reject it   x yes, and end the task here   c yes, and add stages" + view +
                         "\n  or say what to change; an empty line decides later\n";
}

void ApprovalDialog::take(const std::string& said, const std::string& editor) {
    if (said.empty()) {
        terminal_->write("\n");
        over_ = true;
    } else if (said == "y" || said == "Y" || said == "yes") {
        decide(true);
    } else if (said == "n" || said == "N" || said == "no") {
        decide(false);
    } else if (!action_ && (said == "x" || said == "c" || said.starts_with("c "))) {
        end_with(said);
    } else if (said == "v" && preview_.more > 0) {
        terminal_->write(with_bars(whole_) + prompt_);
    } else if (said == "e" && action_) {
        edit(editor);
    } else if (said.size() == 1) {  // A mistyped letter is not feedback.
        terminal_->write("`" + said + "` is none of these. " + prompt_);
    } else {
        decide(false, said);
    }
}

/// A yes with more to say comes as text.
void ApprovalDialog::end_with(const std::string& said) {
    if (said == "x") { return decide(true, "exit"); }
    decide(true, said.size() > 2 ? "extend " + trimmed(said.substr(2)) : "extend");
}

void ApprovalDialog::edit(const std::string& editor) {
    const std::string proposed = readable(editable_part(request_));
    const auto draft = drafts_.find(request_.id);
    const std::string before = draft == drafts_.end() ? proposed : draft->second;
    const auto edited =
        terminal_->edit(before, request_.id + ".yaml", editor.empty() ? editor_of_environment() : editor, context_);
    if (edited && *edited != proposed) {
        drafts_[request_.id] = *edited;
        return decide(true, *edited);
    }
    over_ = time_is_up(context_);
    if (!over_) { terminal_->write((edited ? "It is unchanged. " : "The editor failed. ") + prompt_); }
}

void ApprovalDialog::decide(bool approved, std::optional<std::string> feedback) {
    decision_.emplace();
    decision_->artifact_hash = request_.artifact_hash;
    decision_->decided_by = person();
    decision_->approved = approved;
    decision_->feedback = std::move(feedback);
    over_ = true;
}

}  // namespace

Result<std::optional<Approval>> ConsoleHandler::wait_for_approval(const ApprovalRequest& request, CallContext& context) {
    const std::lock_guard alone(one_question_);
    const Asked terminal(given_.get());
    if (!terminal->usable()) {
        wait_without_terminal(request.id, context);
        return std::optional<Approval>();
    }
    if (time_is_up(context)) { return std::optional<Approval>(); }
    return ApprovalDialog(request, terminal, drafts_, context).ask(editor_);
}

}  // namespace agentforge::escalation_console
