// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class ListFiles final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "list_files",
            "Lists files below a folder, sorted, folders with a trailing '/', files with their size in bytes. Narrow it with a glob such as 'src/**/*.py'.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "Folder, relative to the workspace; default '.'"},
    "glob": {"type": "string", "maxLength": 1000, "description": "Gitignore-style globs, comma-separated, '!' excludes"}
  }
})json"),
            ToolEffect::reads,
            {"path"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        const auto path = given.text("path", ".");
        ListOptions options;
        options.glob = given.text("glob");
        options.limit = max_entries;
        auto listing = context.workspace().list(path, options);
        if (!listing.ok()) { return ToolResult::failed(std::move(listing).error()); }
        std::string text;
        for (const auto& entry : listing->entries) {
            text += entry.path;
            text += entry.directory ? std::string("/\n") : " " + std::to_string(entry.size_bytes) + "\n";
        }
        const auto count = std::to_string(listing->entries.size());
        if (listing->entries.empty()) {
            text = options.glob.empty() ? std::string("The folder is empty.\n") : "No entry matches '" + options.glob + "'.\n";
        }
        if (listing->truncated) { text += "… more than " + count + " entries: give a deeper `path` or a `glob`.\n"; }
        return ToolResult::done(std::move(text), "listed " + path + " (" + count + (listing->truncated ? "+" : "") + " entries)",
                                {{"path", path}, {"entries", listing->entries.size()}, {"truncated", listing->truncated}});
    }

private:
    static constexpr std::size_t max_entries = 300;
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.list_files", "0.1.0", "Apache-2.0", agentforge::provides_tool<ListFiles>("list_files"))
