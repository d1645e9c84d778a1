// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/change_checks.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <re2/re2.h>

#include "base/text.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"
#include "gates/test_quality/request_names.hpp"
#include "gates/test_quality/same_code.hpp"
#include "gates/test_quality/test_quality.hpp"

namespace agentforge::kernel {
namespace {

/// Returns the text of each function with one of these names, and its first line.
std::map<std::string, std::pair<std::uint64_t, std::string>> texts_of_functions(std::string_view text,
                                                                                const std::set<std::string>& names,
                                                                                const CodeRules& rules) {
    std::map<std::string, std::pair<std::uint64_t, std::string>> result;
    const auto lines = lines_of(text);
    for (const auto& function : function_lines(text, rules)) {
        if (!names.contains(function.name) || function.last > lines.size()) { continue; }
        std::string written;
        for (auto line = function.first; line <= function.last; ++line) { written += std::string(lines[line - 1]) + "\n"; }
        result.insert_or_assign(function.name, std::pair{function.first, std::move(written)});
    }
    return result;
}

}  // namespace

Result<void> ChangeChecks::add_unwritten_stubs(const GateCall& call, const Language& language, std::vector<std::string>& places,
                                               const Stop& stop) {
    // Counts only bodies with an explicit mark: an empty body or a constant may be intended.
    static const RE2 unwritten(R"(\.\.\.|\b(?:pass|raise|throw|panic|todo|unimplemented|abort)\b)");
    for (const auto& [file, names] : current_.to_be_changed()) {
        AF_TRY(const auto now, checkout_.file(call.tree, file));
        AF_TRY(const auto before, checkout_.file(call.baseline->base_tree, file));
        if (!now || !before || !is_valid_utf8(*now)) { continue; }
        const auto functions = texts_of_functions(*now, names, language.code);
        const auto old = texts_of_functions(*before, names, language.code);
        AF_TRY(const auto marked, marks_.marked_in(language, {{file, *now}}, {}, stop));
        for (const auto& [name, written] : functions) {
            const auto known = old.find(name);
            const bool same =
                known != old.end() && known->second.second == written.second && RE2::PartialMatch(written.second, unwritten);
            const bool is_stub =
                marked.contains(file) &&
                RE2::PartialMatch(marked.at(file), RE2::QuoteMeta(language.skeleton_marker + " " + name) + R"(\b)");
            if (same && is_stub) { places.push_back(file + ":" + std::to_string(written.first)); }
        }
    }
    return {};
}

Result<std::vector<std::string>> ChangeChecks::skeletons_left(const GateCall& call, const Stop& stop) {
    std::vector<std::string> places;
    AF_TRY(const auto* found, languages_.of(call.tree));
    if (found->skeleton_marker.empty()) { return places; }
    AF_TRY(const auto changes, checkout_.changes(call.baseline->base_tree, call.tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !found->sources.matches(change.path) || found->belongs_to_tests(change.path)) { continue; }
        AF_TRY(const auto now, checkout_.file(call.tree, change.path));
        AF_TRY(const auto before,
               checkout_.file(call.baseline->base_tree, change.old_path.empty() ? change.path : change.old_path));
        const auto at = now ? now->find(found->skeleton_marker) : std::string::npos;
        if (at == std::string::npos || (before && before->find(found->skeleton_marker) != std::string::npos)) { continue; }
        places.push_back(change.path + ":" +
                         std::to_string(1 + std::count(now->begin(), now->begin() + static_cast<std::ptrdiff_t>(at), '\n')));
    }
    AF_CHECK(add_unwritten_stubs(call, *found, places, stop));
    return places;
}

Result<std::vector<std::string>> ChangeChecks::removed_functions(const GateCall& call) {
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto changes, checkout_.changes(call.baseline->base_tree, call.tree));
    std::vector<std::pair<std::string, std::string>> before_names;  // File and function.
    std::set<std::string> now_names;
    for (const auto& change : changes) {
        const std::string& path = change.old_path.empty() ? change.path : change.old_path;
        if (!found->sources.matches(path) || found->belongs_to_tests(path)) { continue; }
        AF_TRY(const auto now, checkout_.file(call.tree, change.path));
        AF_TRY(const auto before, checkout_.file(call.baseline->base_tree, path));
        for (const auto& function : function_lines(before.value_or(""), found->code)) {
            before_names.emplace_back(path, function.name);
        }
        for (const auto& function : function_lines(now.value_or(""), found->code)) { now_names.insert(function.name); }
    }
    const std::string asked = call.baseline->request + "\n" + json::serialize(call.baseline->specification);
    std::vector<std::string> removed;
    for (const auto& [file, name] : before_names) {
        if (name.starts_with('_') || now_names.contains(name) ||
            RE2::PartialMatch(asked, "(?:^|\\W)" + RE2::QuoteMeta(name) + "(?:\\W|$)")) {
            continue;
        }
        removed.push_back(file + ": " + name);
    }
    return removed;
}

Result<std::vector<std::string>> ChangeChecks::unnamed_files(const GateCall& call) {
    static const RE2 lock_of_dependencies(R"((?:^|/)(?:[^/]*[.-]lock(?:\.\w+)?|go\.sum|npm-shrinkwrap\.json)$)");
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto changes, checkout_.changes(call.baseline->base_tree, call.tree));
    const std::string asked = call.baseline->request + "\n" + json::serialize(call.baseline->specification);
    std::vector<std::string> unnamed;
    for (const auto& change : changes) {
        const bool is_known = found->sources.matches(change.path) || found->belongs_to_tests(change.path) ||
                              is_documentation(*found, change.path) || RE2::PartialMatch(change.path, lock_of_dependencies);
        const std::string name = change.path.substr(change.path.rfind('/') + 1);
        if (!is_known && asked.find(name) == std::string::npos) { unnamed.push_back(change.path); }
    }
    return unnamed;
}

Result<std::vector<std::string>> ChangeChecks::unmentioned_names(const GateCall& call, const std::vector<std::string>& tests) {
    auto names = exact_names(call.baseline->request);
    const bool is_whole = checkout_.top() == checkout_.path();  // Else another part of the tree may have them.
    if (names.empty() || !is_whole || call.baseline->specification.empty()) { return std::vector<std::string>(); }
    // A title or a description asks for nothing.
    auto asked = call.baseline->specification;
    for (const char* field : {"title", "description"}) { asked.erase(field); }
    std::string covered = json::serialize(asked) + "\n";
    for (const auto& test : tests) {
        AF_TRY(const auto content, checkout_.file(call.tree, test));
        covered += test + "\n" + content.value_or("") + "\n";
    }
    for (const auto& test : call.baseline->held_out.files) {
        AF_TRY(const auto content, checkout_.file(call.baseline->held_out.tree, test));
        covered += content.value_or("") + "\n";
    }
    AF_TRY(const auto changes, checkout_.changes(call.baseline->base_tree, call.tree));
    std::string before;
    std::string now;
    for (const auto& change : changes) {
        covered += change.path + "\n" + change.old_path + "\n";
        AF_TRY(const auto was, checkout_.file(call.baseline->base_tree, change.old_path.empty() ? change.path : change.old_path));
        AF_TRY(const auto is, checkout_.file(call.tree, change.path));
        before += was.value_or("") + "\n";
        now += is.value_or("") + "\n";
    }
    std::erase_if(names, [&](const std::string& name) {
        if (has_name(covered, name)) { return true; }
        // A file may be meant as a help: `returns the Result of src/result.ts`.
        const auto file = name.substr(name.rfind('/') + 1);
        const auto stem = file.substr(0, file.find('.'));
        const bool is_file = stem != file && !std::isdigit(static_cast<unsigned char>(file.front()));
        if (is_file && (has_name(covered, file) || has_name(covered, stem) || has_name(now, stem))) { return true; }
        return has_name(before, name) && !has_name(now, name);
    });
    return names;
}

Result<std::optional<std::string>> ChangeChecks::changed_code(const GateCall& call) {
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto changes, checkout_.changes(call.baseline->base_tree, call.tree));
    for (const auto& change : changes) {
        if (found->belongs_to_tests(change.path) || is_documentation(*found, change.path)) { continue; }
        if (change.status != 'M' || !found->sources.matches(change.path)) { return change.path; }
        AF_TRY(const auto now, checkout_.file(call.tree, change.path));
        AF_TRY(const auto before,
               checkout_.file(call.baseline->base_tree, change.old_path.empty() ? change.path : change.old_path));
        if (!same_code(before.value_or(""), now.value_or(""), found->code)) { return change.path; }
    }
    return std::nullopt;
}

Result<std::vector<std::string>> ChangeChecks::tests_naming_new_data(const GateCall& call, const std::string& red_tree,
                                                                     const std::vector<std::string>& tests) {
    std::vector<std::string> found;
    AF_TRY(const auto* known, languages_.of(call.tree));
    AF_TRY(const auto changes, checkout_.changes(red_tree, call.tree));
    for (const auto& change : changes) {
        if (change.status != 'A' || known->sources.matches(change.path) || known->belongs_to_tests(change.path) ||
            is_documentation(*known, change.path)) {
            continue;
        }
        const std::string name = change.path.substr(change.path.rfind('/') + 1);
        if (call.baseline->request.find(name) != std::string::npos) { continue; }
        for (const auto& test : tests) {
            AF_TRY(const auto content, checkout_.file(call.tree, test));
            if (content && content->find(name) != std::string::npos) { found.push_back(test + " names " + change.path); }
        }
    }
    return found;
}

Result<std::vector<std::string>> ChangeChecks::repeats_of_tests(const std::string& red_tree, const std::string& tree,
                                                                const std::vector<std::string>& tests) {
    std::vector<std::string> repeats;
    AF_TRY(const auto* found, languages_.of(tree));
    std::vector<TestLine> lines;
    for (const auto& file : tests) {
        AF_TRY(const auto content, checkout_.file(tree, file));
        if (!content) { continue; }
        const auto text = found->may_hold_tests(file) ? split_inline_tests(*content, found->inline_begins).tests : *content;
        auto some = test_lines(file, read_code(text, found->code));
        std::move(some.begin(), some.end(), std::back_inserter(lines));
    }
    AF_TRY(const auto changes, checkout_.changes(red_tree, tree));
    for (const auto& change : changes) {
        if (change.status == 'D' || !found->sources.matches(change.path) || found->belongs_to_tests(change.path)) { continue; }
        AF_TRY(const auto now, checkout_.file(tree, change.path));
        AF_TRY(const auto before, checkout_.file(red_tree, change.old_path.empty() ? change.path : change.old_path));
        const auto code = found->may_hold_tests(change.path) ? split_inline_tests(now.value_or(""), found->inline_begins).lines
                                                             : now.value_or("");
        for (const auto& each :
             repeated_values(read_code(code, found->code), changed_line_numbers(code, before.value_or("")), lines)) {
            repeats.push_back(change.path + ":" + std::to_string(each.line) + " repeats " + ellipsis(each.what, 200));
        }
    }
    return repeats;
}

}  // namespace agentforge::kernel
