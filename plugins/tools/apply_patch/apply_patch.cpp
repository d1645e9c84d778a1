// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/edit_views.hpp>
#include <agentforge/plugin.hpp>

#include "patch.hpp"

namespace {

using namespace agentforge;

const char* what_was_done(const FileEdited& file) {
    if (file.change.created) { return "created"; }
    if (file.change.after_sha256.empty()) { return "deleted"; }
    return file.moved_from.empty() ? "changed" : "moved";
}

class ApplyPatch final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "apply_patch",
            "Changes several files at once, all or nothing. Between `*** Begin Patch` and `*** End Patch`, for each file: `*** Update File: path`, then "
            "hunks, each `@@` or `@@ line above the place`, then lines with ` ` (kept, about 3 around), `-` or `+` before them; or `*** Add File: path` with `+` "
            "lines; or `*** Delete File: path`. `*** Move to: path` may follow an update's first line.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "patch": {"type": "string", "description": "The whole patch; paths relative to the workspace"}
  },
  "required": ["patch"]
})json"),
            ToolEffect::writes,
            {}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        auto edits = patch::read_patch(Arguments(arguments).text("patch"));
        if (!edits.ok()) { return ToolResult::failed(std::move(edits).error()); }
        AtomicEdits* workspace = atomic_edits(context.workspace());
        if (workspace == nullptr) { return ToolResult::failed(no_atomic_edits("apply_patch")); }
        auto done = workspace->apply(*edits);
        if (!done.ok()) { return ToolResult::failed(std::move(done).error()); }
        std::string output;
        std::string summary;
        json::array files;
        for (const FileEdited& file : *done) {
            const Change& change = file.change;
            const std::string line = std::string(what_was_done(file)) + " " +
                                     (file.moved_from.empty() ? "" : file.moved_from + " to ") + change.path + " " +
                                     line_counts(change);
            output += line + "\n";
            summary += (summary.empty() ? "" : ", ") + line;
            files.push_back(change_data(change));
            if (!file.moved_from.empty()) { files.back().get_object()["moved_from"] = file.moved_from; }
        }
        json::object data{{"files", std::move(files)}, {"views", edit_views(context.workspace(), *done)}};
        return ToolResult::done("The patch was applied:\n" + output,
                                done->size() == 1 ? summary : std::to_string(done->size()) + " files: " + summary,
                                std::move(data));
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.apply_patch", "0.1.0", "Apache-2.0", agentforge::provides_tool<ApplyPatch>("apply_patch"))
