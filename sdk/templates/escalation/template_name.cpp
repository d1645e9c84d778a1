// SPDX-License-Identifier: Apache-2.0
// Questions and answers as files of one folder, for a person, a bot or a synchronised folder to pick up:
//   <id>.question.txt   what is asked, written by notify
//   <id>.answer.txt     its first line is the answer; `abort` ends the task. For an approval `yes`, or `no` and what to change.
// The folder is `inbox` below the folder of the project's questions, or the setting `folder` (absolute).
//
// Threads: no state but the settings, so any thread may call. Where the caller waits (a deadline), the file is looked for until then.
#include <agentforge/plugin.hpp>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace example {
using namespace agentforge;

class TemplateNameChannel final : public EscalationHandler {
public:
    explicit TemplateNameChannel(const json::object& settings) {
        for (const auto& [key, value] : settings) {
            if (key != "folder" || !value.is_string()) { throw std::invalid_argument("`" + std::string(key) + "` is not a setting of template_name; there is `folder`, a text"); }
            folder_ = std::string(value.get_string());
            if (!folder_.is_absolute()) { throw std::invalid_argument("`folder` must be an absolute path, not " + folder_.string()); }
        }
    }

    std::string name() const override { return "template_name"; }

    Result<void> notify(const Escalation& asked, CallContext& context) override {
        std::string text = asked.question + "\n";
        for (const std::string& option : asked.options) { text += "- " + option + "\n"; }
        return write(asked.directory, asked.id, text + "\nWhy: " + asked.issue + "\nStage " + asked.stage + " of " + asked.task_id + "\n", context);
    }

    Result<std::optional<Resolution>> wait_for_resolution(const Escalation& asked, CallContext& context) override {
        AF_TRY(const auto line, answer(asked.directory, asked.id, context));
        if (!line) { return std::optional<Resolution>(); }
        Resolution resolution;
        resolution.resolved_by = "template_name";
        resolution.abort = *line == "abort";
        if (!resolution.abort) { resolution.context["answer"] = *line; }
        return std::optional<Resolution>(std::move(resolution));
    }

    Result<void> notify_approval(const ApprovalRequest& asked, CallContext& context) override {
        return write(asked.directory, asked.id, "Is this right? `yes`, or `no` and what to change.\n\n" + json::serialize(asked.artifact) + "\n", context);
    }

    Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& asked, CallContext& context) override {
        AF_TRY(const auto line, answer(asked.directory, asked.id, context));
        if (!line) { return std::optional<Approval>(); }
        if (*line != "yes" && *line != "no" && !line->starts_with("no ")) {
            return Error{"EXAMPLE-002", "An approval is answered with `yes`, or `no` and what to change, not with `" + *line + "`", file(asked.directory, asked.id, "answer").string(),
                         "Correct the file; it is read again.", ErrorKind::invalid};
        }
        Approval approval;
        approval.approved = *line == "yes";
        approval.artifact_hash = asked.artifact_hash;      // What was shown is what is decided on.
        approval.decided_by = "template_name";
        if (line->size() > 3 && !approval.approved) { approval.feedback = line->substr(3); }
        return std::optional<Approval>(std::move(approval));
    }

private:
    std::filesystem::path file(const std::string& directory, const std::string& id, const char* what) const {
        return (folder_.empty() ? std::filesystem::path(directory) / "inbox" : folder_) / (id + "." + what + ".txt");
    }

    Result<void> write(const std::string& directory, const std::string& id, const std::string& text, CallContext& context) const {
        if (id.empty() || id.find('/') != std::string::npos) { return Error{"EXAMPLE-001", "The question's id is not a file name", id, "", ErrorKind::internal}; }
        const std::filesystem::path target = file(directory, id, "question");
        std::error_code problem;
        std::filesystem::create_directories(target.parent_path(), problem);
        std::ofstream out(target, std::ios::trunc);
        if (!(out << text).flush()) { return Error{"EXAMPLE-003", "The question cannot be written", target.string(), "Make its folder writable.", ErrorKind::io}; }
        context.progress(id + ": see " + target.string());
        return {};
    }

    /// Empty: nobody has answered yet.
    Result<std::optional<std::string>> answer(const std::string& directory, const std::string& id, CallContext& context) const {
        for (;;) {
            std::ifstream in(file(directory, id, "answer"));
            std::string line;
            if (in) { std::getline(in, line); }
            while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) { line.pop_back(); }
            if (!line.empty()) { return std::optional<std::string>(line); }
            const auto deadline = context.deadline();
            if (!deadline || *deadline <= std::chrono::steady_clock::now() || context.cancelled()) { return std::optional<std::string>(); }
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    }

    std::filesystem::path folder_;
};

}  // namespace example
AGENTFORGE_PLUGIN("org.example.template_name", "0.1.0", "Apache-2.0", agentforge::provides_escalation<example::TemplateNameChannel>("template_name"))
