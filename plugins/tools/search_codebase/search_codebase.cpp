// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

#include <set>

namespace {

using namespace agentforge;

class SearchCodebase final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "search_codebase",
            "Searches all text files line by line with a regular expression (RE2: no look-around, no back-references) and shows path:line: text. Narrow it with a glob such as '*.py'.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "RE2 regular expression"},
    "glob": {"type": "string", "maxLength": 1000, "description": "Gitignore-style globs, comma-separated, '!' excludes"},
    "ignore_case": {"type": "boolean"}
  },
  "required": ["pattern"]
})json"),
            ToolEffect::reads,
            {}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        SearchQuery query;
        query.pattern = given.text("pattern");
        query.glob = given.text("glob");
        query.ignore_case = given.flag("ignore_case");
        query.limit = max_hits;
        auto found = context.workspace().search(query);
        if (!found.ok()) { return ToolResult::failed(std::move(found).error()); }
        std::string text;
        std::set<std::string> files;
        for (const auto& hit : found->hits) {
            text += hit.path + ":" + std::to_string(hit.line) + ": " + hit.text + "\n";
            files.insert(hit.path);
        }
        if (found->hits.empty()) {
            text = "Nothing matches '" + query.pattern + "'" + (query.glob.empty() ? "" : " in files like '" + query.glob + "'") +
                   ".\n";
        }
        if (found->truncated) {
            text +=
                found->hits.size() >= max_hits
                    ? "… there are more hits than these " + std::to_string(max_hits) + ": narrow the pattern or give a glob.\n"
                    : std::string(
                          "… the search stopped before all files were seen (a search reads at most 20,000 files or 128 MiB, "
                          "100 folders deep): give a glob that names fewer files.\n");
        }
        return ToolResult::done(
            std::move(text),
            "searched '" + query.pattern.substr(0, 60) + "': " + std::to_string(found->hits.size()) +
                (found->truncated ? "+" : "") + " hits in " + std::to_string(files.size()) + " files",
            {{"pattern", query.pattern}, {"hits", found->hits.size()}, {"files", files.size()}, {"truncated", found->truncated}});
    }

private:
    static constexpr std::size_t max_hits = 60;
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.search_codebase", "0.1.0", "Apache-2.0",
                  agentforge::provides_tool<SearchCodebase>("search_codebase"))
