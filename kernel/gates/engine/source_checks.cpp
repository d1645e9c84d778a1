// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/source_checks.hpp"

#include <algorithm>
#include <map>

#include "base/counted.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_words.hpp"
#include "gates/engine/measured_files.hpp"
#include "gates/engine/report_parts.hpp"

namespace agentforge::kernel {
namespace {

Violation make_violation(std::string check, std::string contract, const std::string& file, std::uint64_t line,
                         std::string message) {
    return {std::move(check), std::move(contract), "critical", file, line, std::move(message), ""};
}

}  // namespace

Result<GateReport> SourceChecks::syntax(const GateCall& call, const Stop& stop) {
    GateReport report;
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto changes, measured_files(checkout_, call));
    json::array files;
    for (const auto& change : changes) {
        if (found->sources.matches(change.path)) { files.emplace_back(change.path); }
    }
    const auto command = found->commands.find("syntax");
    const bool as_text = command != found->commands.end() && !command->second.error.empty();
    if (command == found->commands.end()) {
        // In a compiled language the build checks the syntax.
        report.passed = true;
        report.facts = {{"files_checked", 0}, {"syntax_passing", true}, {"syntax_check", "by the build"}};
        report.summary = found->name + " syntax is checked by its build";
        return report;
    }
    const auto count = files.size();
    report.facts = {{"files_checked", static_cast<std::int64_t>(count)}};
    if (count > 0 && as_text) {
        std::vector<std::string> names;
        for (const auto& file : files) { names.emplace_back(file.get_string()); }
        AF_TRY(report.violations, syntax_errors(*found, command->second, call.tree, names, stop));
        report.facts["confinement"] = commands_.last_confinement();
        for (const auto& each : report.violations) {
            report.blocking_issues.push_back(each.file + ":" + std::to_string(each.line) + ": " + each.message);
        }
    } else if (count > 0) {
        const json::object input{{"root", checkout_.path().string()}, {"files", std::move(files)}};
        AF_TRY(const auto lines, commands_.run_for_lines(*found, "syntax", call.tree, input, stop));
        report.facts["confinement"] = commands_.last_confinement();
        for (const auto& line : lines) {
            if (line.if_contains("end") != nullptr) { break; }
            const auto number = static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_of(line, "line")));
            report.violations.push_back(
                make_violation("syntax", "syntax", text_of(line, "file"), number, text_of(line, "message")));
            report.blocking_issues.push_back(text_of(line, "file") + ":" + std::to_string(number) + ": " +
                                             text_of(line, "message"));
        }
    }
    report.passed = report.violations.empty();
    report.facts["syntax_passing"] = report.passed;
    report.summary = report.passed ? counted(count, "file", "files") + " without syntax errors"
                                   : counted(report.violations.size(), "syntax error", "syntax errors");
    return report;
}

Result<std::vector<Violation>> SourceChecks::compile_errors(const Language& language, const TypeChecker& checker,
                                                            const std::string& tree, const Stop& stop, bool& installed) {
    return checker.command.argv.empty() ? build_errors(language, checker, tree, stop)
                                        : type_errors(language, checker, tree, stop, installed);
}

Result<std::vector<Violation>> SourceChecks::type_errors(const Language& language, const TypeChecker& checker,
                                                         const std::string& tree, const Stop& stop, bool& installed) {
    auto command = checker.command;
    command.name = "types";
    AF_TRY(const auto outcome, commands_.run(language, command, tree, "", stop, false));
    installed = outcome.has_value();
    std::vector<Violation> found;
    if (!installed) { return found; }
    for (auto& error : find_messages(checker.command.error, outcome->out + "\n" + outcome->err, checkout_.path().string())) {
        found.push_back(make_violation(checker.name, "types", error.file, error.line, ellipsis(error.message, 500)));
    }
    if (found.empty() && (outcome->exit_code != 0 || outcome->timed_out)) {
        found.push_back(make_violation(checker.name, "types", "", 0,
                                       outcome->timed_out
                                           ? checker.name + " did not finish in time"
                                           : checker.name + " ended with exit code " + std::to_string(outcome->exit_code) + ": " +
                                                 ellipsis(sanitize_utf8(outcome->out + outcome->err), 300)));
    }
    return found;
}

Result<std::vector<Violation>> SourceChecks::build_errors(const Language& language, const TypeChecker& checker,
                                                          const std::string& tree, const Stop& stop) {
    // Gates of later phases measure the same tree again.
    if (commands_.has_no_overlay() && built_.contains(tree)) { return std::vector<Violation>{}; }
    AF_TRY(const auto built, commands_.build(language, tree, current_.judges_a_stage(), stop));
    std::vector<Violation> found;
    if (built.built) {
        if (commands_.has_no_overlay()) { built_.add(tree); }
        return found;
    }
    const auto messages = checker.command.error.empty()
                              ? built.errors
                              : find_messages(checker.command.error, built.output, checkout_.path().string());
    for (const auto& error : messages) {
        found.push_back(make_violation(checker.name, "types", error.file, error.line, ellipsis(error.message, 500)));
    }
    if (found.empty()) { found.push_back(make_violation(checker.name, "types", "", 0, built.problem)); }
    return found;
}

Result<std::vector<Violation>> SourceChecks::syntax_errors(const Language& language, const LanguageCommand& command,
                                                           const std::string& tree, const std::vector<std::string>& files,
                                                           const Stop& stop) {
    std::vector<Violation> found;
    // `{file}`: the program reads one file per call.
    const bool one_by_one = std::any_of(command.argv.begin(), command.argv.end(),
                                        [](const auto& argument) { return argument.find("{file}") != std::string::npos; });
    for (std::size_t at = 0; at < files.size(); at += one_by_one ? 1 : files.size()) {
        const auto some = one_by_one ? std::vector<std::string>{files[at]} : files;
        AF_TRY(const auto outcome, commands_.run(language, command, tree, "", stop, true, some));
        const auto text = outcome->out + outcome->err;
        const auto before = found.size();
        for (auto& error : find_messages(command.error, text, checkout_.path().string())) {
            found.push_back(make_violation("syntax", "syntax", error.file, error.line, ellipsis(error.message, 500)));
        }
        if (found.size() == before && (outcome->exit_code != 0 || outcome->timed_out)) {
            found.push_back(make_violation(
                "syntax", "syntax", some.front(), 0,
                outcome->timed_out
                    ? "the check did not finish in time"
                    : "the check ended with exit code " + std::to_string(outcome->exit_code) + ": " + last_output_line(text)));
        }
    }
    return found;
}

Result<GateReport> SourceChecks::types(const GateCall& call, const Stop& stop) {
    GateReport report;
    report.passed = true;
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto* declared, languages_.type_checker(call.tree));
    // True because no required checker complained; the fact `type_check` tells that none ran.
    report.facts = {{"type_check_passing", true}, {"type_check", "not configured"}};
    report.summary = no_type_checker;
    if (declared == nullptr) { return report; }
    report.facts["type_checker"] = declared->name;
    bool installed = false;
    const bool by_build = declared->command.argv.empty();
    const auto check = [&](const std::string& tree) { return compile_errors(*found, *declared, tree, stop, installed); };
    installed = by_build;
    AF_TRY(auto errors, check(call.tree));
    if (!installed) {
        report.facts["type_check"] = "not installed";
        report.summary = declared->name + " is configured but not installed: " + std::string(types_not_checked);
        return report;
    }
    report.facts["type_check"] = "checked";
    report.facts["confinement"] = commands_.last_confinement();
    std::int64_t known = 0;
    if (!errors.empty() && call.baseline != nullptr && !call.baseline->base_tree.empty()) {
        AF_TRY(const auto before, check(call.baseline->base_tree));
        std::map<std::string, std::size_t> counts;
        for (const auto& error : before) { ++counts[error.file + "\n" + error.message]; }
        std::erase_if(errors, [&](const Violation& error) {
            auto& left = counts[error.file + "\n" + error.message];
            if (left == 0) { return false; }
            --left;
            ++known;
            return true;
        });
    }
    for (const auto& error : errors) {
        report.blocking_issues.push_back(error.file + ":" + std::to_string(error.line) + ": " + error.message);
    }
    report.passed = errors.empty();
    report.facts["type_check_passing"] = report.passed;
    report.facts["type_errors"] = static_cast<std::int64_t>(errors.size());
    report.facts["type_errors_before"] = known;
    report.summary = report.passed ? declared->name + " found no new errors"
                                   : declared->name + " found " + counted(errors.size(), "new error", "new errors");
    report.violations = std::move(errors);
    return report;
}

}  // namespace agentforge::kernel
