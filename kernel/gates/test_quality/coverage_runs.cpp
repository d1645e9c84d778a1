// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/coverage_runs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "gates/failures.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {
namespace {

std::string coverage_text(const json::object& line, const char* key) {
    const auto* found = line.if_contains(key);
    return found != nullptr && found->is_string() ? ellipsis(std::string(found->get_string()), 300) : std::string{};
}

std::uint64_t coverage_number(const json::object& line, const char* key) {
    const auto* found = line.if_contains(key);
    return found != nullptr && found->is_int64() && found->get_int64() > 0 ? static_cast<std::uint64_t>(found->get_int64()) : 0;
}

}  // namespace

namespace {

/// A source file with changed lines.
struct ChangedSource {
    std::string path;
    std::set<std::uint64_t> changed;
    CodeText text;
    std::vector<std::string> lines;
    std::vector<ComparedLiteral> special;  ///< Changed comparisons with a value of the tests.
};

/// Returns the literals that distinguish tests from each other. From a file with other code, takes only those of its tests.
Result<std::set<std::string>> values_of_tests(TreeCheckout& checkout, const Language& language, const std::string& tree,
                                              const std::vector<std::string>& tests) {
    std::set<std::string> known;
    for (const auto& file : tests) {
        AF_TRY(const auto content, checkout.file(tree, file));
        if (!content) { continue; }
        const auto text = language.may_hold_tests(file) ? split_inline_tests(*content, language.inline_begins).tests : *content;
        known.merge(informative_literals(read_code(text, language.code)));
    }
    return known;
}

/// `changed`: path → numbers of changed lines. `known`: the values of the tests.
Result<std::vector<ChangedSource>> read_changed_sources(TreeCheckout& checkout, const Language& language, const std::string& tree,
                                                        const json::object& changed, const std::set<std::string>& known) {
    std::vector<ChangedSource> sources;
    for (const auto& entry : changed) {
        ChangedSource source;
        source.path = std::string(entry.key());
        AF_TRY(const auto content, checkout.file(tree, source.path));
        const auto code = language.may_hold_tests(source.path)
                              ? split_inline_tests(content.value_or(""), language.inline_begins).lines
                              : content.value_or("");
        source.text = read_code(code, language.code);
        for (const auto line : lines_of(source.text.code)) { source.lines.emplace_back(line); }
        for (const auto& number : entry.value().get_array()) {
            const auto line = static_cast<std::uint64_t>(number.to_number<std::int64_t>());
            if (line <= source.lines.size() && contains_word(source.lines[line - 1])) { source.changed.insert(line); }
        }
        source.special = compared_literals(source.text, language.code, known);
        std::erase_if(source.special, [&](const auto& each) { return !source.changed.contains(each.line); });
        sources.push_back(std::move(source));
    }
    return sources;
}

/// Adds the changed lines that the report counts, and which of them it counts zero times.
void add_counted_lines(const ChangedSource& source, const std::map<std::uint64_t, std::uint64_t>& counts, Coverage& result) {
    for (const auto line : source.changed) {
        const auto count = counts.find(line);
        if (count == counts.end()) { continue; }
        ++result.lines;
        if (count->second == 0) { result.missing.push_back({source.path, line, "", {}}); }
    }
}

/// A source that no report lists is in no program that the tests run, so none of its functions ran.
void add_unreported_lines(const ChangedSource& source, const CodeRules& code, Coverage& result) {
    for (const auto& function : functions_of(source.text, code)) {
        for (const auto line : source.changed) {
            if (line <= function.first_line || line > function.last_line) { continue; }
            ++result.lines;
            result.missing.push_back({source.path, line, "", {}});
        }
    }
}

}  // namespace

Result<Coverage> CoverageRuns::coverage_by_lines(const Language& language, const std::string& tree, const json::object& changed,
                                                 const std::vector<std::string>& tests, bool special_only, const Stop& stop) {
    Coverage result;
    AF_TRY(const auto known, values_of_tests(checkout_, language, tree, tests));
    AF_TRY(const auto sources, read_changed_sources(checkout_, language, tree, changed, known));
    const bool suspicious =
        std::any_of(sources.begin(), sources.end(), [](const auto& source) { return !source.special.empty(); });
    if (special_only && !suspicious) {
        result.reason = "no changed line compares with a value of the tests";
        return result;
    }
    AF_TRY(const auto* runner, commands_.runner(language, tree));
    const auto& argv = runner->coverage->argv;
    const bool takes_files = std::any_of(
        argv.begin(), argv.end(), [](const auto& argument) { return argument == "{files}" || argument == "{directories}"; });
    const auto key = tree + (takes_files ? hash_of(json::array(tests.begin(), tests.end())) : std::string{});
    LanguageCommands::LinesRun run;
    if (const auto cached = lines_.find(key); cached != lines_.end()) {
        run = cached->second;
    } else {
        AF_TRY(run, commands_.lines_run(language, tree, tests, stop));
        if (run.measured) { lines_.emplace(key, run); }
    }
    result.measured = run.measured;
    (run.failed ? result.problem : result.reason) = run.reason;
    std::vector<std::string> some{"the tests"};
    if (takes_files) {
        some.assign(tests.begin(), tests.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(tests.size(), 5)));
    }
    for (const auto& source : sources) {
        const auto counts = run.counts.find(source.path);
        // True if the first executable line at or up to 3 lines after this one ran.
        const auto ran = [&](std::uint64_t line) {
            if (counts == run.counts.end()) { return false; }
            const auto at = counts->second.lower_bound(line);
            return at != counts->second.end() && at->first <= line + 3 && at->second > 0;
        };
        for (const auto& each : source.special) {
            if (run.measured && !ran(each.depends)) { continue; }
            result.special.push_back({source.path, each.line, each.value, run.measured ? some : std::vector<std::string>{}});
        }
        if (!run.measured) { continue; }
        if (counts != run.counts.end()) {
            add_counted_lines(source, counts->second, result);
        } else {
            add_unreported_lines(source, language.code, result);
        }
    }
    return result;
}

namespace {

/// Reads the output of the language's command `coverage`.
void add_reported_lines(const std::vector<json::object>& lines, Coverage& result) {
    result.measured = true;
    std::map<std::string, std::size_t> measured_lines;
    std::map<std::string, std::vector<CoveredLine>> unseen;
    for (const auto& line : lines) {
        if (line.if_contains("end") != nullptr) { break; }
        if (line.if_contains("not_measured") != nullptr) {
            result.measured = false;
            result.reason = coverage_text(line, "not_measured");
            continue;
        }
        CoveredLine each{coverage_text(line, "file"), coverage_number(line, "line"), coverage_text(line, "special"), {}};
        if (const auto* names = line.if_contains("tests"); names != nullptr && names->is_array()) {
            for (const auto& name : names->get_array()) {
                if (name.is_string()) { each.tests.push_back(ellipsis(std::string(name.get_string()), 300)); }
            }
        }
        if (!each.special.empty()) {
            result.special.push_back(std::move(each));
            continue;
        }
        ++measured_lines[each.file];
        if (coverage_number(line, "count") == 0) { unseen[each.file].push_back(std::move(each)); }
    }
    // The command measures only the test process. A file without a measured line may be a program that the tests start.
    bool elsewhere = false;
    for (const auto& [file, count] : measured_lines) {
        auto& missing = unseen[file];
        if (missing.size() == count) {
            elsewhere = true;
            continue;
        }
        result.lines += count;
        std::move(missing.begin(), missing.end(), std::back_inserter(result.missing));
    }
    if (elsewhere && result.lines == 0) {
        result.measured = false;
        result.reason = "no changed line ran in the tests' own process; programs that the tests start are not measured";
    }
}

}  // namespace

Result<Coverage> CoverageRuns::measure(const std::string& base_tree, const std::string& tree,
                                       const std::vector<std::string>& tests, bool special_only, const Stop& stop) {
    Coverage result;
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(const auto* runner, commands_.runner(*found, tree));
    const bool by_lines = runner != nullptr && runner->coverage;
    if ((!by_lines && !found->commands.contains("coverage")) || tests.empty() || base_tree.empty()) { return result; }
    AF_TRY(const auto changes, checkout_.changes(base_tree, tree));
    json::object changed;
    for (const auto& change : changes) {
        if (change.status == 'D' || !found->sources.matches(change.path) || found->belongs_to_tests(change.path)) { continue; }
        AF_TRY(const auto now, checkout_.file(tree, change.path));
        AF_TRY(const auto before, checkout_.file(base_tree, change.old_path.empty() ? change.path : change.old_path));
        if (!now) { continue; }
        json::array lines;
        for (const auto number : changed_line_numbers(*now, before.value_or(""))) {
            lines.emplace_back(static_cast<std::int64_t>(number));
        }
        if (!lines.empty()) { changed[change.path] = std::move(lines); }
    }
    if (changed.empty()) { return result; }
    if (by_lines) { return coverage_by_lines(*found, tree, changed, tests, special_only, stop); }
    AF_CHECK(checkout_.check_out(tree));
    json::array files;
    for (const auto& file : tests) { files.emplace_back(file); }
    const json::object input{{"root", checkout_.path().string()},
                             {"files", std::move(files)},
                             {"changed", std::move(changed)},
                             {"marker", found->skeleton_marker}};
    const auto lines = commands_.run_for_lines(*found, "coverage", tree, input, stop);
    if (!lines.ok()) {
        if (!is_failed_command(lines.error())) { return lines.error(); }  // The failure is not about the tree.
        constexpr std::string_view said = "agentforge: not measured: ";
        if (const auto at = lines.error().where.rfind(said); at != std::string::npos) {
            result.reason = first_line(std::string_view(lines.error().where).substr(at + said.size()));
            return result;
        }
        auto& why = lines.error().kind == ErrorKind::timeout ? result.reason : result.problem;
        why = lines.error().message + (lines.error().where.empty() ? "" : " (" + last_output_line(lines.error().where) + ")");
        return result;
    }
    add_reported_lines(*lines, result);
    return result;
}

}  // namespace agentforge::kernel
