// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/edit_views.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

const char* what_is_wrong(const Arguments& given, int forms) {
    if (forms == 0) { return "none of them is given."; }
    if (forms > 1) { return "more than one of them is given."; }
    return given.has("search") ? "'replace' is missing." : "'search' is missing.";
}

class EditFile final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "edit_file",
            "Replaces pieces of text in a file, all or none. `search` must be copied exactly from the file, indentation included, without line numbers, and must occur exactly once; if it occurs more than once, include more surrounding lines. Several pieces go into `edits`; `content` replaces the whole file.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File, relative to the workspace"},
    "search": {"type": "string", "description": "The text to replace, exactly as in the file"},
    "replace": {"type": "string", "description": "The new text; if empty, the old text is deleted"},
    "edits": {
      "type": "array", "minItems": 1, "description": "Several pieces of the file as it is now",
      "items": {"type": "object", "properties": {"search": {"type": "string"}, "replace": {"type": "string"}}, "required": ["search", "replace"]}
    },
    "content": {"type": "string", "description": "The whole new content of a file you have read"}
  },
  "required": ["path"]
})json"),
            ToolEffect::writes,
            {"path"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        FileEdit edit;
        edit.path = given.text("path");
        if (auto form = read_form(given, arguments, edit); !form.ok()) { return ToolResult::failed(std::move(form).error()); }
        AtomicEdits* workspace = atomic_edits(context.workspace());
        if (workspace == nullptr) { return ToolResult::failed(no_atomic_edits("edit_file")); }
        auto done = workspace->apply({edit});
        if (!done.ok()) { return ToolResult::failed(std::move(done).error()); }
        const Change& change = done->front().change;
        json::object data = change_data(change);
        // If the text did not match byte for byte, only the file itself shows the result.
        if (done->front().tolerant) { data["views"] = edit_views(context.workspace(), *done); }
        return ToolResult::done("The file " + change.path + " was changed " + line_counts(change) + ".\n",
                                "edited " + change.path + " " + line_counts(change), std::move(data));
    }

private:
    /// Reads `search` with `replace`, or `edits`, or `content`.
    static Result<void> read_form(const Arguments& given, const json::object& arguments, FileEdit& edit) {
        const bool piece = given.has("search") || given.has("replace");
        const int forms = (piece ? 1 : 0) + (given.has("edits") ? 1 : 0) + (given.has("content") ? 1 : 0);
        if (forms != 1 || (piece && !(given.has("search") && given.has("replace")))) {
            return Error{"AF-TOOL-052",
                         std::string("'edit_file' needs either 'search' and 'replace', or 'edits', or 'content'; ") +
                             what_is_wrong(given, forms),
                         "edit_file", "Give one of the three forms.", ErrorKind::invalid};
        }
        if (given.has("content")) {
            edit.kind = FileEditKind::overwrite;
            edit.content = given.text("content");
            return {};
        }
        const auto add = [&](const Arguments& from, std::string label) {
            Hunk hunk;
            hunk.search = from.text("search");
            hunk.replace = from.text("replace");
            hunk.label = std::move(label);
            edit.hunks.push_back(std::move(hunk));
        };
        if (piece) {
            add(given, "");
            return {};
        }
        for (const json::value& one : arguments.at("edits").as_array()) {
            add(Arguments(one.as_object()), "Edit " + std::to_string(edit.hunks.size() + 1));
        }
        return {};
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.edit_file", "0.1.0", "Apache-2.0", agentforge::provides_tool<EditFile>("edit_file"))
