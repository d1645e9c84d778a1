// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class ReadFile final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "read_file",
            "Reads a text file. Each line begins with its number and a tab, which are not part of the file. Give first_line and last_line to read part of a long file.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File, relative to the workspace"},
    "first_line": {"type": "integer", "minimum": 1},
    "last_line": {"type": "integer", "minimum": 1}
  },
  "required": ["path"]
})json"),
            ToolEffect::reads,
            {"path"}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        ReadOptions options;
        options.first_line = given.number("first_line", 1);
        options.last_line = given.number("last_line", 0);
        options.max_bytes = max_bytes;
        auto read = context.workspace().read(given.text("path"), options);
        if (!read.ok()) { return ToolResult::failed(std::move(read).error()); }
        const FileView& view = *read;
        std::string text;
        bool crlf = false;
        std::uint64_t line = view.first_line;
        std::string_view rest = view.content;
        while (!rest.empty()) {
            const auto end = rest.find('\n');
            auto one = rest.substr(0, end);
            if (line > view.first_line && text.size() + one.size() > max_bytes) { break; }
            rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
            if (one.ends_with('\r')) {
                crlf = true;
                one.remove_suffix(1);
            }
            text += std::to_string(line++) + "\t";
            text.append(one) += "\n";
        }
        if (view.total_lines == 0) { text = "(the file is empty)\n"; }
        const bool truncated = view.truncated || !rest.empty();
        const auto last_line = view.total_lines == 0 ? 0 : line - 1;
        const auto range = std::to_string(view.first_line) + "-" + std::to_string(last_line);
        if (truncated) {
            text +=
                "(lines " + range + " of " + std::to_string(view.total_lines) + "; give first_line and last_line for others)\n";
        }
        if (crlf) { text += "(lines end in CRLF, and edits keep that)\n"; }
        json::object data{{"path", view.path},
                          {"sha256", view.sha256},
                          {"first_line", view.first_line},
                          {"last_line", last_line},
                          {"total_lines", view.total_lines}};
        return ToolResult::done(std::move(text), "read " + view.path + (truncated ? ":" + range : ""), std::move(data));
    }

private:
    static constexpr std::uint64_t max_bytes = 15ULL * 1024;  ///< With line numbers it fits what the host keeps.
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.read_file", "0.1.0", "Apache-2.0", agentforge::provides_tool<ReadFile>("read_file"))
