// SPDX-License-Identifier: Apache-2.0
// DELIVER: has the change described, writes the changelog, delivers the verified tree. The kernel makes the commit (or the
// patch): it runs one last gate on the very tree that it delivers.
#include <agentforge/json_fields.hpp>
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

#include <algorithm>

namespace {

using namespace agentforge;

constexpr std::string_view changelog = "CHANGELOG.md";
constexpr std::string_view hook_refuses = "AF-GIT-047";

/// Makes one list item, whatever line breaks the model used.
std::string item(std::string_view entry) {
    std::string text = "- ";
    bool blank = true;
    for (const char character : entry) {
        const bool space = character == ' ' || character == '\n' || character == '\r' || character == '\t';
        if (space && blank) { continue; }
        text += space ? ' ' : character;
        blank = space;
    }
    while (text.ends_with(' ')) { text.pop_back(); }
    return text.starts_with("- - ") ? text.substr(2) : text;
}

/// Inserts the entry under "Unreleased". Adds that section if the changelog has none.
std::string with_entry(const std::string& text, const std::string& entry) {
    const std::string line = item(entry) + "\n";
    if (text.find(line) != std::string::npos) { return text; }  // An earlier attempt wrote it.
    if (text.empty()) { return "# Changelog\n\n## Unreleased\n\n" + line; }
    std::size_t begin = 0;
    while (begin < text.size()) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string heading = text.substr(begin, end - begin);
        if (heading.starts_with("## ") && heading.find("nreleased") != std::string::npos) {
            std::size_t at = std::min(end + 1, text.size());
            while (at < text.size() && text[at] == '\n') { ++at; }
            const bool section_is_empty = at >= text.size() || text[at] == '#';
            const std::string before = text.substr(0, std::min(end + 1, text.size()));
            return before + (before.ends_with('\n') ? "\n" : "\n\n") + line + (section_is_empty && at < text.size() ? "\n" : "") +
                   text.substr(at);
        }
        if (heading.starts_with("## ")) { return text.substr(0, begin) + "## Unreleased\n\n" + line + "\n" + text.substr(begin); }
        begin = end + 1;
    }
    return text + (text.ends_with('\n') ? "" : "\n") + "\n## Unreleased\n\n" + line;
}

/// Without a specification, the commit is about the request.
std::string title_for(const StageInput& input) {
    const auto specification = input.artifacts.find("specification");
    if (specification != input.artifacts.end()) { return text_of(specification->second, "title"); }
    constexpr std::size_t longest = 72;
    std::string title = input.request.substr(0, input.request.find_first_of("\r\n"));
    if (title.size() <= longest) { return title; }
    const std::size_t space = title.rfind(' ', longest);
    return title.substr(0, space == std::string::npos ? longest : space);
}

class DeliverStage final : public ToolBasedStage {
public:
    explicit DeliverStage(const json::object& settings) : prompt_(text_of(settings, "prompt")) {
        const json::value* needs = settings.if_contains("needs");
        if (needs == nullptr || !needs->is_array()) { return; }
        needs_.clear();
        for (const json::value& each : needs->get_array()) {
            if (each.is_string()) { needs_.emplace_back(each.get_string()); }
        }
    }

    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "deliver";
        info.description = "Writes the changelog, commits the verified tree and reports.";
        info.output_contract = "delivery_report";
        info.output_fields = {"summary", "changelog_entry"};
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override { return require_artifacts(context.input(), needs_); }

    [[nodiscard]] std::string user_message(StageContext&) override {
        if (!prompt_.empty()) { return prompt_; }
        return "Describe the finished change for those who will use it.\n"
               "The code is frozen and every gate has passed. Update documentation that the change makes untrue (Markdown and docs/ only). Then "
               "hand in with `complete`: a summary for the commit message, one changelog entry, and the documentation you touched. The changelog "
               "and the commit are made for you.";
    }

protected:
    [[nodiscard]] StageResult finish(json::object artifact, const AgentOutcome&, StageContext& context) override {
        for (const char* field : {"summary", "changelog_entry"}) {
            if (!text_of(artifact, field).empty()) { continue; }
            return StageResult::failed(Error{"AF-STAGE-003", std::string("Missing output field: ") + field, "",
                                             "require it in the stage's contract, as delivery_report does", ErrorKind::invalid});
        }
        Workspace& files = context.workspace();
        std::string before;
        if (files.exists(changelog)) {
            ReadOptions whole;
            whole.max_bytes = 16ULL << 20U;
            auto view = files.read(changelog, whole);
            if (!view.ok()) { return StageResult::failed(std::move(view).error()); }
            if (view->truncated) {
                return StageResult::failed(Error{"AF-STAGE-040", "CHANGELOG.md is too long to be rewritten",
                                                 std::string(changelog), "split it and resume the task", ErrorKind::invalid});
            }
            before = std::move(view->content);
        }
        const std::string after = with_entry(before, text_of(artifact, "changelog_entry"));
        if (auto written = files.create(changelog, after, true); !written.ok()) {
            return StageResult::failed(std::move(written).error());
        }

        DeliveryRequest request;
        request.title = title_for(context.input());
        request.body = text_of(artifact, "summary");
        auto delivery = context.deliver(request);
        if (!delivery.ok() && delivery.error().code == hook_refuses && context.input().artifacts.contains("implementation")) {
            // The developer must fix what a hook finds wrong; the hook's output says what.
            return StageResult::cycle("implementation", delivery.error().message);
        }
        if (!delivery.ok()) { return StageResult::failed(std::move(delivery).error()); }
        context.progress(delivery->commit.empty() ? "wrote the patch; no commit was requested"
                                                  : "committed " + delivery->commit.substr(0, 12) + " on " + delivery->branch);
        return StageResult::completed(std::move(artifact));
    }

private:
    std::string prompt_;
    std::vector<std::string> needs_{"specification", "implementation"};
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.deliver", "0.1.0", "Apache-2.0", agentforge::provides_stage<DeliverStage>("deliver"))
