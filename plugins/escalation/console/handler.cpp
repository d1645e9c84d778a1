// SPDX-License-Identifier: Apache-2.0
#include "handler.hpp"

#include <array>
#include <charconv>
#include <pwd.h>
#include <unistd.h>

namespace agentforge::escalation_console {
namespace {

constexpr std::size_t preview_bytes = 1'500;

std::string person() {
    std::array<char, 4'096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) { return entry.pw_name; }
    return "uid " + std::to_string(::getuid());
}

/// Every line of another's text begins with a bar, so that it cannot pass for ours.
std::string with_bars(std::string_view text) {
    std::string block = "  | ";
    for (const char letter : shown(text)) {
        block += letter;
        if (letter == '\n') { block += "  | "; }
    }
    return block + "\n";
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

/// The number of an option, from 1; 0 where the text is none.
std::size_t number_of(const std::string& text) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

/// The given terminal, or the process's own for this question.
class Asked {
public:
    explicit Asked(Terminal* given) : own_(given == nullptr ? std::make_unique<Terminal>() : nullptr), terminal_(given == nullptr ? own_.get() : given) {}
    Terminal* operator->() const { return terminal_; }

private:
    std::unique_ptr<Terminal> own_;
    Terminal* terminal_;
};

void say_it_cannot(const std::string& id, CallContext& context) {
    context.progress(id + ": there is no terminal to ask on; answer with `agentforge resolve`, `approve` or `reject`");
}

}  // namespace

Result<void> ConsoleHandler::notify(const Escalation& escalation, CallContext& context) {
    context.progress(escalation.id + ": " + one_line(escalation.stage) + " has a question");
    return {};
}

Result<std::optional<Resolution>> ConsoleHandler::wait_for_resolution(const Escalation& escalation, CallContext& context) {
    const std::lock_guard alone(one_question_);
    const Asked terminal(given_.get());
    if (!terminal->usable()) { say_it_cannot(escalation.id, context); return std::optional<Resolution>(); }
    if (time_is_up(context)) { return std::optional<Resolution>(); }

    std::string text = "\nQuestion " + one_line(escalation.id) + " (task " + one_line(escalation.task_id) + ", stage " + one_line(escalation.stage) + ")\n";
    if (!escalation.issue.empty()) { text += with_bars(escalation.issue); }
    if (!escalation.question.empty() && escalation.question != escalation.issue) { text += with_bars(escalation.question); }
    for (std::size_t i = 0; i < escalation.options.size(); ++i) { text += "  " + std::to_string(i + 1) + ") " + one_line(escalation.options[i]) + "\n"; }
    const std::string prompt = escalation.options.empty() ? "Answer (or 'abort'; empty: later): " : "Number or answer (or 'abort'; empty: later): ";
    terminal->discard_typed_ahead();
    terminal->write(text + prompt);
    for (;;) {
        const std::optional<std::string> line = terminal->read_line(context);
        const std::string said = line ? trimmed(*line) : "";
        if (said.empty()) { terminal->write("\n"); return std::optional<Resolution>(); }
        Resolution resolution;
        resolution.resolved_by = person();
        if (said == "abort") { resolution.abort = true; return std::optional<Resolution>(std::move(resolution)); }
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
    context.progress(request.id + ": the result of " + one_line(request.stage) + " waits for approval");
    return {};
}

Result<std::optional<Approval>> ConsoleHandler::wait_for_approval(const ApprovalRequest& request, CallContext& context) {
    const std::lock_guard alone(one_question_);
    const Asked terminal(given_.get());
    if (!terminal->usable()) { say_it_cannot(request.id, context); return std::optional<Approval>(); }
    if (time_is_up(context)) { return std::optional<Approval>(); }

    std::string preview = json::serialize(request.artifact);
    if (preview.size() > preview_bytes) { preview = preview.substr(0, preview_bytes) + " …"; }
    terminal->discard_typed_ahead();
    terminal->write("\nApproval " + one_line(request.id) + " (task " + one_line(request.task_id) + ", stage " + one_line(request.stage) + ", artifact " +
                    one_line(request.artifact_hash) + ")\n" + with_bars(preview) + "Approve? [y/n/feedback] ");
    const std::optional<std::string> line = terminal->read_line(context);
    const std::string said = line ? trimmed(*line) : "";
    if (said.empty()) { terminal->write("\n"); return std::optional<Approval>(); }
    Approval approval;
    approval.artifact_hash = request.artifact_hash;
    approval.decided_by = person();
    approval.approved = said == "y" || said == "Y" || said == "yes";
    if (!approval.approved && said != "n" && said != "N" && said != "no") { approval.feedback = said; }
    return std::optional<Approval>(std::move(approval));
}

}  // namespace agentforge::escalation_console
