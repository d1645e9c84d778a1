// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/function_marks.hpp"

#include <algorithm>

#include <re2/re2.h>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "gates/language/source_text.hpp"
#include "gates/stubs/stubs.hpp"

namespace agentforge::kernel {

Result<ChangedSources> changed_sources(TreeCheckout& checkout, const Language& language, const std::string& red_tree,
                                       const std::string& tree) {
    ChangedSources sources;
    AF_TRY(const auto changes, checkout.changes(red_tree, tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !language.sources.matches(change.path) || language.belongs_to_tests(change.path)) {
            continue;
        }
        AF_TRY(auto now, checkout.file(tree, change.path));
        AF_TRY(const auto before, checkout.file(red_tree, change.old_path.empty() ? change.path : change.old_path));
        if (!now) { continue; }
        sources.lines[change.path] = changed_line_numbers(*now, before.value_or(""));
        sources.contents[change.path] = std::move(*now);
    }
    return sources;
}

std::set<std::string> refusing_functions(std::string_view text, const CodeRules& rules) {
    static const RE2 refuses(R"(\b(?:raise|throw|abort|exit)\b|\b(?:panic|bail|unreachable)!?\s*\()");
    const auto read = read_code(text, rules);
    const auto lines = lines_of(read.code);
    std::set<std::string> names;
    for (const auto& function : function_lines(text, rules)) {
        for (auto line = function.first; line <= std::min<std::uint64_t>(function.last, lines.size()); ++line) {
            const auto code = lines[line - 1];
            if (RE2::PartialMatch(re2::StringPiece(code.data(), code.size()), refuses)) { names.insert(function.name); }
        }
    }
    return names;
}

Result<std::map<std::string, std::string>> FunctionMarks::marked_stubs(const Language& language, const std::string& tree,
                                                                       const Stop& stop) {
    constexpr std::size_t most_files = 5000;
    std::map<std::string, std::string> contents;
    if (language.stubs.body.empty() && !language.commands.contains("stubs")) { return contents; }
    AF_TRY(const auto files, checkout_.files(tree));
    std::size_t read = 0;
    for (const auto& file : files) {
        if (!language.sources.matches(file) || language.belongs_to_tests(file) || ++read > most_files) { continue; }
        AF_TRY(auto content, checkout_.file(tree, file));
        if (content && is_valid_utf8(*content)) { contents.emplace(file, std::move(*content)); }
    }
    auto named = current_.to_be_changed();
    for (const auto& file : current_.files_of_removal()) {
        if (!contents.contains(file)) { continue; }
        named[file].merge(refusing_functions(contents.at(file), language.code));
    }
    return marked_in(language, contents, named, stop);
}

Result<std::map<std::string, std::set<std::string>>> FunctionMarks::functions_to_change(const Language& language,
                                                                                        const std::string& tree) {
    std::map<std::string, std::set<std::string>> found;
    if (language.stubs.body.empty() && !language.commands.contains("stubs")) { return found; }
    for (const auto& file : current_.files_to_change()) {
        if (!language.sources.matches(file) || language.belongs_to_tests(file)) { continue; }
        AF_TRY(const auto content, checkout_.file(tree, file));
        if (!content || !is_valid_utf8(*content)) { continue; }
        for (const auto& function : function_lines(*content, language.code)) { found[file].insert(function.name); }
    }
    return found;
}

Result<std::map<std::string, std::string>> FunctionMarks::marked_named(const Language& language, const std::string& tree,
                                                                       const std::map<std::string, std::set<std::string>>& named,
                                                                       const Stop& stop) {
    std::map<std::string, std::string> contents;
    for (const auto& [file, names] : named) {
        AF_TRY(auto content, checkout_.file(tree, file));
        if (content) { contents.emplace(file, std::move(*content)); }
    }
    return marked_in(language, contents, named, stop);
}

Result<std::map<std::string, std::string>> FunctionMarks::marked_in(const Language& language,
                                                                    const std::map<std::string, std::string>& contents,
                                                                    const std::map<std::string, std::set<std::string>>& named,
                                                                    const Stop& stop) {
    if (language.commands.contains("stubs")) {
        json::object names;
        for (const auto& [file, some] : named) { names[file] = json::array(some.begin(), some.end()); }
        return marked_by_command(language, {{"contents", json::value_from(contents)}, {"named", std::move(names)}}, stop);
    }
    std::map<std::string, std::string> marked;
    for (const auto& [file, content] : contents) {
        auto text = mark_stubs(content, language.code, language.stubs, language.skeleton_marker,
                               named.contains(file) ? named.at(file) : std::set<std::string>{});
        if (text != content) { marked.emplace(file, std::move(text)); }
    }
    return marked;
}

Result<std::map<std::string, std::string>> FunctionMarks::marked_by_command(const Language& language, json::object input,
                                                                            const Stop& stop) {
    std::map<std::string, std::string> marked;
    input["marker"] = language.skeleton_marker;
    AF_TRY(const auto lines, commands_.run_for_lines(language, "stubs", "", input, stop));
    for (const auto& line : lines) {
        if (line.if_contains("path") != nullptr) { marked.emplace(text_of(line, "path"), text_of(line, "content")); }
    }
    return marked;
}

Result<std::map<std::string, std::string>> FunctionMarks::marked_changes(const Language& language, const ChangedSources& sources,
                                                                         Mark mark, const Stop& stop) {
    if (language.commands.contains("stubs")) {
        json::object input{{"contents", json::value_from(sources.contents)},
                           {"lines", json::value_from(sources.lines)},
                           {"idle", mark == Mark::idle}};
        return marked_by_command(language, std::move(input), stop);
    }
    std::map<std::string, std::string> marked;
    for (const auto& [path, content] : sources.contents) {
        auto text = mark_functions_at(content, language.code, language.stubs, sources.lines.at(path), language.skeleton_marker,
                                      mark == Mark::fail_test);
        if (text != content) { marked.emplace(path, std::move(text)); }
    }
    return marked;
}

}  // namespace agentforge::kernel
