// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class CreateFile final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "create_file",
            "Creates a file with the given content, and its folders. Replaces a file that this task created; refuses to replace one that existed before.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "New file, relative to the workspace"},
    "content": {"type": "string", "description": "The whole content; end it with a newline"}
  },
  "required": ["path", "content"]
})json"),
            ToolEffect::writes,
            {"path"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        auto change = context.workspace().create(given.text("path"), given.text("content"));
        if (!change.ok()) { return ToolResult::failed(std::move(change).error()); }
        const std::string what = change->created ? "created" : "replaced";
        std::string summary = what + " " + change->path + " " + line_counts(*change);
        return ToolResult::done("The file " + change->path + " was " + what + ".\n", std::move(summary), change_data(*change));
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.create_file", "0.1.0", "Apache-2.0", agentforge::provides_tool<CreateFile>("create_file"))
