// SPDX-License-Identifier: Apache-2.0
#include "gates/conformance/conformance_gate.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/counted.hpp"
#include "config/gate_names.hpp"
#include "gates/engine/measured_files.hpp"
#include "gates/engine/report_parts.hpp"
#include "gates/language/inline_tests.hpp"

namespace agentforge::kernel {
namespace {

/// True if a line belongs to the tests: the file is a test file, or the line is in the tests it contains beside other code.
bool stands_in_tests(const Language& language, const std::vector<std::string>& named, const std::string& path,
                     const std::string& content, std::uint64_t line) {
    if (!language.may_hold_tests(path)) {
        return language.belongs_to_tests(path) || std::find(named.begin(), named.end(), path) != named.end();
    }
    const auto text_at = [line](std::string_view text) {
        for (std::uint64_t number = 1; number < line && !text.empty(); ++number) {
            const auto end = text.find('\n');
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
        return text.substr(0, text.find('\n'));
    };
    return text_at(split_inline_tests(content, language.inline_begins).lines) != text_at(content);
}

/// Lists the first five lines that no test runs.
std::string first_missing_lines(const Coverage& measured) {
    std::string lines;
    for (std::size_t index = 0; index < std::min<std::size_t>(measured.missing.size(), 5); ++index) {
        lines += (index == 0 ? "" : ", ") + measured.missing[index].file + ":" + std::to_string(measured.missing[index].line);
    }
    if (measured.missing.size() > 5) { lines += " and " + std::to_string(measured.missing.size() - 5) + " more"; }
    return lines;
}

}  // namespace

/// One call of the gate `conformance`.
class ConformanceGate::Measurement {
public:
    Measurement(ConformanceGate& gate, const GateCall& call, Enforcement enforcement, const Stop& stop)
        : gate_(gate), call_(call), enforcement_(enforcement), stop_(stop) {}

    Result<GateReport> measure();

private:
    Result<void> read_versions();
    Result<void> measure_coverage();
    void report_coverage(const Coverage& measured);
    void add_untested_percent(const Coverage& measured);
    void judge_findings();
    [[nodiscard]] std::vector<Finding> found_in(const ConformanceSearch& search, const std::vector<FileVersion>& versions) const;
    void excuse_locked_test(Finding& finding) const;
    void block(const Violation& violation);
    void sum_up(std::size_t total, std::size_t fresh);

    ConformanceGate& gate_;
    const GateCall& call_;
    const Enforcement enforcement_;
    const Stop& stop_;
    const Language* language_ = nullptr;
    std::vector<ConformanceCheck> checks_;
    std::vector<FileVersion> now_;     ///< Each file as it is,
    std::vector<FileVersion> before_;  ///< and as in the user's commit.
    std::set<std::string> broken_;     ///< Checks with a violation that blocks.
    std::int64_t blocking_ = 0;
    GateReport report_;
};

Result<GateReport> ConformanceGate::measure(const GateCall& call, Enforcement enforcement, const Stop& stop) {
    return Measurement(*this, call, enforcement, stop).measure();
}

Result<GateReport> ConformanceGate::Measurement::measure() {
    AF_TRY(language_, gate_.languages_.of(call_.tree));
    AF_TRY(checks_, gate_.findings_.checks(enforcement_));
    AF_CHECK(read_versions());
    AF_CHECK(gate_.findings_.measure(*language_, checks_, {&before_, &now_}, stop_));  // One command measures both.
    if (language_->commands.contains("metrics") && !now_.empty()) {
        report_.facts["confinement"] = gate_.commands_.last_confinement();
    }
    AF_CHECK(measure_coverage());
    judge_findings();
    return std::move(report_);
}

Result<void> ConformanceGate::Measurement::read_versions() {
    auto& checkout = gate_.checkout_;
    AF_TRY(const auto changes, measured_files(checkout, call_));
    for (const auto& change : changes) {
        AF_TRY(auto content, checkout.file(call_.tree, change.path));
        if (!content) { continue; }
        now_.push_back({change.path, std::move(*content), {}});
        if (call_.baseline == nullptr || call_.baseline->base_tree.empty()) { continue; }
        AF_TRY(auto old, checkout.file(call_.baseline->base_tree, change.old_path.empty() ? change.path : change.old_path));
        if (old) { before_.push_back({change.path, std::move(*old), {}}); }
    }
    return {};
}

Result<void> ConformanceGate::Measurement::measure_coverage() {
    const bool covered =
        std::any_of(checks_.begin(), checks_.end(), [](const auto& check) { return check.metric == "untested-percent"; });
    if (!covered || !call_.request.paths.empty() || call_.baseline == nullptr || now_.empty()) { return {}; }
    AF_TRY(const auto tests, gate_.languages_.test_files(call_.tree));
    AF_TRY(auto measured, gate_.coverage_.measure(call_.baseline->base_tree, call_.tree, tests, false, stop_));
    // The message may quote a held-out test.
    if (!measured.problem.empty() && !call_.baseline->held_out.files.empty()) { measured.problem = "its command failed"; }
    report_coverage(measured);
    if (!measured.problem.empty() || !measured.missing.empty()) { add_untested_percent(measured); }
    return {};
}

void ConformanceGate::Measurement::report_coverage(const Coverage& measured) {
    report_.facts["coverage"] = measured.summary();
    if (!measured.measured) { return; }
    report_.facts["coverage_percent"] = 100 - measured.percent_missing();
    report_.facts["coverage_lines"] = static_cast<std::int64_t>(measured.lines);
}

/// Measures the whole change as one number, so that a tiny file with one uncovered error path does not fail it.
void ConformanceGate::Measurement::add_untested_percent(const Coverage& measured) {
    const auto version = std::find_if(now_.begin(), now_.end(), [&](const auto& each) {
        return measured.missing.empty() ? language_->sources.matches(each.path) && !language_->belongs_to_tests(each.path)
                                        : each.path == measured.missing.front().file;
    });
    if (version == now_.end()) { return; }
    version->metrics.push_back(
        {"untested-percent", version->path, measured.missing.empty() ? 0 : measured.missing.front().line,
         measured.problem.empty() ? first_missing_lines(measured) : "coverage could not be measured: " + measured.problem,
         measured.problem.empty() ? measured.percent_missing() : 100});
}

void ConformanceGate::Measurement::judge_findings() {
    const ConformanceSearch search(checks_, *language_);
    auto current = found_in(search, now_);
    const auto total = current.size();
    auto fresh = only_new(std::move(current), found_in(search, before_));
    for (auto& finding : fresh) {
        excuse_locked_test(finding);
        if (finding.blocks) { block(finding.violation); }
        report_.violations.push_back(std::move(finding.violation));
    }
    sum_up(total, fresh.size());
}

std::vector<Finding> ConformanceGate::Measurement::found_in(const ConformanceSearch& search,
                                                            const std::vector<FileVersion>& versions) const {
    std::vector<Finding> findings;
    for (const auto& version : versions) {
        auto some = search.find(version.path, version.content, version.metrics);
        std::move(some.begin(), some.end(), std::back_inserter(findings));
    }
    return findings;
}

/// Violations in locked tests do not block: RED's gate judged them, and later stages cannot change them.
void ConformanceGate::Measurement::excuse_locked_test(Finding& finding) const {
    const bool locked =
        call_.baseline != nullptr && !call_.baseline->red_tree.empty() && !gate_facts(call_.request.gate).judges_tests;
    if (!locked) { return; }
    auto& violation = finding.violation;
    const auto version = std::find_if(now_.begin(), now_.end(), [&](const auto& each) { return each.path == violation.file; });
    if (version == now_.end() ||
        !stands_in_tests(*language_, call_.baseline->test_files, version->path, version->content, violation.line)) {
        return;
    }
    finding.blocks = false;
    violation.severity = "minor";
    violation.message += " It is in a locked test, so it is reported and does not block.";
}

void ConformanceGate::Measurement::block(const Violation& violation) {
    ++blocking_;
    broken_.insert(violation.check_id);
    report_.blocking_issues.push_back(violation.file + ":" + std::to_string(violation.line) + ": " + violation.message + " (" +
                                      violation.check_id + ")" + (violation.fix_hint.empty() ? "" : ". " + violation.fix_hint));
}

void ConformanceGate::Measurement::sum_up(std::size_t total, std::size_t fresh) {
    report_.passed = blocking_ == 0;
    report_.facts["conformance_passing"] = report_.passed;
    report_.facts["checks_total"] = static_cast<std::int64_t>(checks_.size());
    report_.facts["checks_passing"] = static_cast<std::int64_t>(checks_.size() - broken_.size());
    report_.facts["violations_new"] = static_cast<std::int64_t>(fresh);
    report_.facts["violations_blocking"] = blocking_;
    report_.facts["violations_before"] = static_cast<std::int64_t>(total - fresh);
    report_.summary = report_.passed ? counted(checks_.size(), "check", "checks") + " on " +
                                           counted(now_.size(), "file", "files") + ", nothing new that blocks"
                                     : counted(static_cast<std::size_t>(blocking_), "new violation", "new violations");
}

}  // namespace agentforge::kernel
