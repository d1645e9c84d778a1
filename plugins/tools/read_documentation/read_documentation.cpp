// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

#include <algorithm>

namespace {

using namespace agentforge;

constexpr const char* documents = "README*, *.md, *.rst, docs/**, doc/**, !node_modules/, !vendor/, !.venv/, !venv/, !build/";
constexpr std::size_t max_documents = 200;
constexpr std::size_t max_listed = 40;
constexpr std::size_t max_headings = 12;
constexpr std::size_t max_sections = 4;
constexpr std::size_t max_section_bytes = 3000;

/// One heading and the text below it, up to the next heading.
struct Section {
    std::string path;
    std::uint64_t line = 0;
    std::string heading;
    std::string text;
    std::size_t score = 0;
};

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

bool is_document(std::string_view path) {
    const auto slash = path.rfind('/');
    const auto name = lower(slash == std::string_view::npos ? path : path.substr(slash + 1));
    return name.starts_with("readme") || name.ends_with(".md") || name.ends_with(".rst") || name.ends_with(".txt") ||
           name.ends_with(".adoc");
}

/// `===` under a line makes it a heading in reStructuredText (and Markdown).
bool is_underline(std::string_view line, std::string_view above) {
    return line.size() >= 3 && !above.empty() && line.size() + 2 >= above.size() &&
           std::string_view("=-~^\"#*+").find(line.front()) != std::string_view::npos &&
           line.find_first_not_of(line.front()) == std::string_view::npos;
}

std::vector<std::string_view> split_lines(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto line = text.substr(0, end);
        if (line.ends_with('\r')) { line.remove_suffix(1); }
        lines.push_back(line);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return lines;
}

std::vector<Section> sections_of(const std::string& path, std::string_view text) {
    std::vector<Section> sections;
    sections.push_back({path, 1, "", "", 0});
    const auto lines = split_lines(text);
    bool fenced = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto line = lines[i];
        if (line.starts_with("```") || line.starts_with("~~~")) { fenced = !fenced; }
        const auto level = line.find_first_not_of('#');
        const bool hashes = !fenced && level != std::string_view::npos && level > 0 && level <= 6 && line[level] == ' ';
        const bool underlined = !fenced && i + 1 < lines.size() && !line.starts_with(' ') && is_underline(lines[i + 1], line) &&
                                !is_underline(line, "   ");
        if (hashes || underlined) {
            sections.push_back({path, i + 1, std::string(hashes ? line.substr(level + 1) : line), "", 0});
        }
        sections.back().text.append(line) += "\n";
    }
    if (sections.front().text.find_first_not_of(" \n\t") == std::string::npos) { sections.erase(sections.begin()); }
    return sections;
}

std::vector<std::string> words_of(std::string_view topic) {
    std::vector<std::string> words;
    std::string word;
    for (const char c : lower(topic) + " ") {
        const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
        if (part) {
            word += c;
            continue;
        }
        if (word.size() > 1) { words.push_back(word); }
        word.clear();
    }
    return words;
}

/// Words of the topic in the heading weigh most, then how many of them the text contains, then how often.
std::size_t score(const Section& section, const std::vector<std::string>& words) {
    const auto heading = lower(section.heading);
    const auto text = lower(section.text);
    std::size_t total = 0;
    for (const auto& word : words) {
        if (heading.find(word) != std::string::npos) { total += 20; }
        if (lower(section.path).find(word) != std::string::npos) { total += 5; }
        std::size_t times = 0;
        for (auto at = text.find(word); at != std::string::npos && times < 5; at = text.find(word, at + word.size())) { ++times; }
        if (times > 0) { total += 5 + times; }
    }
    return total;
}

class ReadDocumentation final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "read_documentation",
            "Without a topic: lists the project's documents (README, docs/, *.md, *.rst) and their headings. With a topic: shows the sections that fit it best.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "topic": {"type": "string", "maxLength": 500, "description": "A few words, such as 'configuration file'"}
  }
})json"),
            ToolEffect::reads,
            {}};
    }

    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        auto listing = context.workspace().list(".", {true, documents, max_documents});
        if (!listing.ok()) { return ToolResult::failed(std::move(listing).error()); }
        std::vector<Section> sections;
        std::size_t count = 0;
        std::string skipped;
        for (const auto& entry : listing->entries) {
            if (!is_document(entry.path)) { continue; }
            auto view = context.workspace().read(entry.path);
            if (!view.ok()) {
                skipped += "(" + entry.path + " was not read: " + view.error().message + ")\n";
                continue;
            }
            ++count;
            for (auto& section : sections_of(entry.path, view->content)) { sections.push_back(std::move(section)); }
        }
        if (listing->truncated) {
            skipped += "(only the first " + std::to_string(max_documents) + " documents were looked at)\n";
        }
        if (count == 0) {
            return ToolResult::done("The project has no documentation (README, docs/, *.md, *.rst).\n" + skipped,
                                    "no documentation", {{"documents", 0}});
        }
        const auto words = words_of(given.text("topic"));
        if (words.empty()) { return headings(sections, count, skipped); }
        return best(sections, words, given.text("topic"), count, skipped);
    }

private:
    static ToolResult headings(const std::vector<Section>& sections, std::size_t count, const std::string& skipped) {
        std::string text;
        std::string path;
        std::size_t shown = 0;
        std::size_t files = 0;
        for (const auto& section : sections) {
            if (section.path != path) {
                path = section.path;
                shown = 0;
                if (++files > max_listed) { break; }
                text += path + "\n";
            }
            if (section.heading.empty() || ++shown > max_headings) { continue; }
            text += "  " + std::to_string(section.line) + "  " + section.heading.substr(0, 120) + "\n";
        }
        if (count > max_listed) { text += "… and " + std::to_string(count - max_listed) + " more documents\n"; }
        text += "Give a topic to see sections.\n";
        return ToolResult::done(text + skipped, "listed " + std::to_string(count) + " documents", {{"documents", count}});
    }

    static ToolResult best(std::vector<Section>& sections, const std::vector<std::string>& words, const std::string& topic,
                           std::size_t count, const std::string& skipped) {
        for (auto& section : sections) { section.score = score(section, words); }
        std::stable_sort(sections.begin(), sections.end(), [](const Section& a, const Section& b) { return a.score > b.score; });
        std::string text;
        std::size_t shown = 0;
        for (const auto& section : sections) {
            if (shown == max_sections || section.score == 0) { break; }
            ++shown;
            text += "== " + section.path + ":" + std::to_string(section.line) + "\n";
            if (section.text.size() <= max_section_bytes) {
                text += section.text + "\n";
                continue;
            }
            const auto cut = section.text.rfind('\n', max_section_bytes);
            text += section.text.substr(0, cut == std::string::npos ? max_section_bytes : cut) +
                    "\n… (the section continues in the file)\n\n";
        }
        if (shown == 0) { text = "None of the " + std::to_string(count) + " documents says anything on '" + topic + "'.\n"; }
        return ToolResult::done(text + skipped, "documentation on '" + topic + "': " + std::to_string(shown) + " sections",
                                {{"topic", topic}, {"documents", count}, {"sections", shown}});
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.read_documentation", "0.1.0", "Apache-2.0",
                  agentforge::provides_tool<ReadDocumentation>("read_documentation"))
