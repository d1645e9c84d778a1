// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class DeleteFile final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {"delete_file",
                "Deletes one file.",
                schema_of(R"json({
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File, relative to the workspace"}
  },
  "required": ["path"]
})json"),
                ToolEffect::writes,
                {"path"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        auto change = context.workspace().remove(given.text("path"));
        if (!change.ok()) { return ToolResult::failed(std::move(change).error()); }
        std::string summary = "deleted " + change->path + " " + line_counts(*change);
        return ToolResult::done("The file " + change->path + " was deleted.\n", std::move(summary), change_data(*change));
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.delete_file", "0.1.0", "Apache-2.0", agentforge::provides_tool<DeleteFile>("delete_file"))
