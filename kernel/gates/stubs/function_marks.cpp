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

namespace {

/// Returns the words by which a message shows that this line raised the error: the name of its class, or the beginning of the
/// text of a panic, before the first value that is filled in.
std::vector<std::string> words_of_error(std::string_view code, std::uint64_t number, const std::vector<CodeLiteral>& literals) {
    static const RE2 error(R"(\b(?:raise|throw)\s+(?:new\s+)?(?:[\w$]+(?:\.|::))*([A-Za-z_$][\w$]*))");
    static const RE2 text(R"(^\w?["'`]([^"'`%{$\\]{4,}))");
    std::string word;
    if (RE2::PartialMatch(re2::StringPiece(code.data(), code.size()), error, &word)) { return {word}; }
    std::vector<std::string> words;
    for (const auto& literal : literals) {
        if (literal.line == number && RE2::PartialMatch(literal.value, text, &word)) { words.push_back(word); }
    }
    return words;
}

}  // namespace

std::vector<RefusingFunction> refusing_functions(std::string_view text, const CodeRules& rules) {
    static const RE2 refuses(R"(\b(?:raise|throw|abort|exit)\b|\b(?:panic|bail|unreachable)!?\s*\()");
    const auto read = read_code(text, rules);
    const auto lines = lines_of(read.code);
    std::vector<RefusingFunction> functions;
    for (const auto& function : function_lines(text, rules)) {
        RefusingFunction found{function.name, {}};
        bool any = false;
        for (auto line = function.first; line <= std::min<std::uint64_t>(function.last, lines.size()); ++line) {
            const auto code = lines[line - 1];
            if (!RE2::PartialMatch(re2::StringPiece(code.data(), code.size()), refuses)) { continue; }
            any = true;
            for (auto& word : words_of_error(code, line, read.literals)) { found.errors.insert(std::move(word)); }
        }
        if (any) { functions.push_back(std::move(found)); }
    }
    return functions;
}

bool is_error_of(const RefusingFunction& function, std::string_view message) {
    return std::ranges::any_of(function.errors, [&](const std::string& word) {
        const bool is_name = RE2::FullMatch(word, R"([\w$]+)");
        const auto pattern = R"((?:^|[^\w$]))" + RE2::QuoteMeta(word) + (is_name ? R"((?:[^\w$]|$))" : "");
        return RE2::PartialMatch(re2::StringPiece(message.data(), message.size()), pattern);
    });
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
        for (auto& each : refusing_functions(contents.at(file), language.code)) { named[file].insert(std::move(each.name)); }
    }
    return marked_in(language, contents, named, stop);
}

Result<std::map<std::string, std::vector<RefusingFunction>>> FunctionMarks::refusals(const Language& language,
                                                                                     const std::string& tree) {
    std::map<std::string, std::vector<RefusingFunction>> found;
    if (language.stubs.body.empty() && !language.commands.contains("stubs")) { return found; }
    for (const auto& file : current_.files_to_change()) {
        if (!language.sources.matches(file) || language.belongs_to_tests(file)) { continue; }
        AF_TRY(const auto content, checkout_.file(tree, file));
        if (content && is_valid_utf8(*content)) { found.emplace(file, refusing_functions(*content, language.code)); }
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
