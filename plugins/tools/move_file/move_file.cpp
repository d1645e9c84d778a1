// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class MoveFile final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {"move_file",
                "Moves or renames one file, and creates missing folders. Never overwrites a file.",
                schema_of(R"json({
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File, relative to the workspace"},
    "to": {"type": "string", "description": "New path with the file's name, relative to the workspace"}
  },
  "required": ["path", "to"]
})json"),
                ToolEffect::writes,
                {"path", "to"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        auto change = context.workspace().move(given.text("path"), given.text("to"));
        if (!change.ok()) { return ToolResult::failed(std::move(change).error()); }
        std::string summary = "moved " + given.text("path") + " to " + change->path;
        return ToolResult::done("The file " + given.text("path") + " is now " + change->path + ".\n", std::move(summary),
                                change_data(*change));
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.move_file", "0.1.0", "Apache-2.0", agentforge::provides_tool<MoveFile>("move_file"))
