// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class EditFile final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {"edit_file",
                "Replaces one piece of text in a file. `search` must be copied exactly from the file, indentation included, without line numbers, and stand there once; add lines around it where it stands more than once.",
                schema_of(R"json({
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File, relative to the workspace"},
    "search": {"type": "string", "description": "The text to replace, as it stands in the file"},
    "replace": {"type": "string", "description": "The text that takes its place; empty deletes it"}
  },
  "required": ["path", "search", "replace"]
})json"),
                ToolEffect::writes, {"path"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        auto change = context.workspace().edit(given.text("path"), given.text("search"), given.text("replace"));
        if (!change.ok()) { return ToolResult::failed(std::move(change).error()); }
        std::string summary = "edited " + change->path + " " + line_counts(*change);
        return ToolResult::done("The file " + change->path + " was changed " + line_counts(*change) + ".\n", std::move(summary), change_data(*change));
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.edit_file", "0.1.0", "Apache-2.0", agentforge::provides_tool<EditFile>("edit_file"))
