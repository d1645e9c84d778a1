// SPDX-License-Identifier: Apache-2.0
// Lists the places where a mark such as TODO was left in the files of the workspace.
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

namespace example {
using namespace agentforge;

class TemplateNameTool final : public Tool {
    ToolSpec spec() const override {
        const char* parameters = R"({"type": "object", "properties": {"mark": {"type": "string", "maxLength": 100}, "glob": {"type": "string"}}})";
        return {"template_name", "Lists each occurrence of a mark (default TODO) in the files that match a glob.", schema_of(parameters), ToolEffect::reads, {}};
    }
    ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        const std::string mark = given.text("mark", "TODO");
        if (mark.find_first_not_of(" \t") == std::string::npos || mark.find('\n') != std::string::npos) {
            return ToolResult::failed({"EXAMPLE-001", "The mark is blank or has more than one line", "mark", "Give one word, such as FIXME.", ErrorKind::invalid});
        }
        const auto found = context.workspace().search({.pattern = mark, .literal = true, .ignore_case = false, .glob = given.text("glob"), .limit = 200});
        if (!found.ok()) { return ToolResult::failed(found.error()); }
        std::string text = found->hits.empty() ? "No " + mark + " is left.\n" : "";
        for (const SearchHit& hit : found->hits) { text += hit.path + ":" + std::to_string(hit.line) + ": " + hit.text + "\n"; }
        if (found->truncated) { text += "There are more: give a glob.\n"; }
        return ToolResult::done(text, std::to_string(found->hits.size()) + " times " + mark, {{"hits", found->hits.size()}});
    }
};

}  // namespace example
AGENTFORGE_PLUGIN("org.example.template_name", "0.1.0", "Apache-2.0", agentforge::provides_tool<example::TemplateNameTool>("template_name"))
