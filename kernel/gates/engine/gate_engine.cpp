// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/gate_engine.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include <re2/re2.h>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "config/gate_words.hpp"
#include "gates/engine/measured_files.hpp"
#include "gates/engine/report_parts.hpp"
#include "gates/failures.hpp"
#include "gates/language/inline_tests.hpp"
#include "gates/language/source_text.hpp"
#include "gates/stubs/scaffold.hpp"
#include "gates/stubs/stubs.hpp"

namespace agentforge::kernel {

GateEngine::GateEngine(std::unique_ptr<TreeCheckout> checkout, ProcessRunner& processes, GateRunner::Options options)
    : checkout_(std::move(checkout)),
      options_(std::move(options)),
      processes_(processes),
      languages_(*checkout_, options_.languages_directory, options_.language) {}

GateEngine::Parts::Parts(GateEngine& engine, GateSettings settings)
    : commands(*engine.checkout_, engine.processes_, engine.options_.scratch_directory, engine.options_.environment,
               std::move(settings), DependencySettings{engine.options_.dependencies_directory, engine.options_.setup},
               engine.options_.log),
      marks(*engine.checkout_, commands, engine.current_),
      suite(engine.languages_, commands, engine.current_, engine.built_),
      red_runs(engine.languages_, commands, suite, marks, engine.current_),
      affected(*engine.checkout_, engine.languages_, commands, suite),
      checks(*engine.checkout_, engine.languages_, commands, engine.current_, engine.built_),
      declarations(*engine.checkout_, engine.languages_, commands, checks),
      tests(*engine.checkout_, engine.languages_, commands, suite, affected) {}

Result<void> GateEngine::prepare() {
    if (parts_ != nullptr) { return {}; }
    AF_TRY(auto settings, GateSettings::read(options_.settings));
    parts_ = std::make_unique<Parts>(*this, std::move(settings));
    return {};
}

Result<GateReport> GateEngine::gate(const GateCall& call, const Stop& stop) {
    AF_CHECK(prepare());
    parts_->commands.trust(call.baseline == nullptr ? call.tree : call.baseline->base_tree);
    const auto& name = call.request.gate;
    const GateFacts facts = gate_facts(name);
    current_.begin(call);
    auto enforcement = Enforcement::every_edit;
    for (const auto& parameter : call.request.parameters) {
        if (name == gate_name::tests && parameter.key() == "scope" && parameter.value() == json::value("affected")) { continue; }
        if (name == gate_name::tests && parameter.key() == "run" && parameter.value().is_int64() &&
            parameter.value().get_int64() > 0) {
            continue;
        }
        if (name == gate_name::fix && parameter.key() == "violation" && parameter.value().is_object()) { continue; }
        const bool known = name == gate_name::conformance && parameter.key() == "enforcement" && parameter.value().is_string() &&
                           (parameter.value().get_string() == "every_edit" || parameter.value().get_string() == "all");
        if (!known) {
            return Error{
                "AF-GATE-006",
                "The gate `" + name + "` does not accept the parameter `" + std::string(parameter.key()) +
                    "`, or not with this value.",
                "",
                "`conformance` takes enforcement: every_edit or all; `tests` takes run, a number, and scope: affected; `fix` takes violation; the others take none.",
                ErrorKind::invalid};
        }
        if (parameter.value().get_string() == "all") { enforcement = Enforcement::phase_end; }
    }
    if (name == gate_name::tests) { return parts_->tests.measure(call, stop); }
    if (name == gate_name::syntax) { return parts_->checks.syntax(call, stop); }
    if (name == gate_name::types) { return parts_->checks.types(call, stop); }
    if (name == gate_name::conformance) { return conformance(call, enforcement, stop); }
    if (!facts.judges_a_stage) {
        return Error{"AF-GATE-001", "There is no gate `" + name + "`.", "",
                     "Known gates: syntax, types, conformance, tests, red, green, refactor, fix, deliver.", ErrorKind::invalid};
    }
    if (call.baseline == nullptr || call.baseline->base_tree.empty()) {
        return Error{"AF-GATE-004", "The gate `" + name + "` was called without a baseline to measure against.", "",
                     "This is a defect of the caller: a phase gate needs a baseline.", ErrorKind::internal};
    }
    return facts.judges_tests ? red(call, stop) : after_red(call, stop);
}

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

constexpr std::size_t most_measured_bytes = 2UL << 20U;  // Per file. Larger files are not searched either.

/// Returns why violations of a source file may be missing, or empty. `command`: the reason that the language's command gave.
std::string why_not_measured(const std::string& content, const std::string& command) {
    if (content.size() > most_measured_bytes) { return "larger than " + std::to_string(most_measured_bytes >> 20U) + " MiB"; }
    return content.find('\0') == std::string::npos ? command : "binary: it has a zero byte";
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

Result<std::vector<ConformanceCheck>> GateEngine::checks(Enforcement enforcement) {
    if (!checks_) {
        AF_TRY(auto loaded, load_checks(options_.conformance_directories, parts_->commands.settings().thresholds));
        checks_ = std::move(loaded);
    }
    auto checks = *checks_;
    std::erase_if(checks, [&](const auto& check) { return check.enforcement > enforcement; });
    return checks;
}

/// A file in one tree.
struct GateEngine::FileVersion {
    std::string path;
    std::string content;
    std::vector<Metric> metrics;
    std::string not_measured = {};  ///< Why the language's command did not measure it, or only in part. Empty: it did.
};

namespace {

/// The complexity and length of each function in a file's text.
std::vector<Metric> metrics_of_text(const std::string& path, const std::string& content, const CodeRules& code) {
    std::vector<Metric> metrics;
    for (const auto& function : functions_of(read_code(content, code), code)) {
        metrics.push_back({"complexity", path, function.first_line, function.name, function.complexity});
        metrics.push_back({"function-length", path, function.first_line, function.name,
                           static_cast<std::int64_t>(function.last_line - function.first_line + 1)});
    }
    return metrics;
}

Error not_a_line_of_metrics(const Language& language, const json::object& line) {
    return {"AF-GATE-003", "The command `metrics` of " + language.name + " wrote output in the wrong format.",
            ellipsis(to_json_line(line), 500),
            "A line with `not_measured` needs a `file` of the command's input, and the reason as a string.",
            ErrorKind::unavailable};
}

Metric metric_of(const json::object& line, const std::string& path) {
    return {text_of(line, "metric"), path, static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_of(line, "line"))),
            text_of(line, "name"), integer_of(line, "value")};
}

}  // namespace

Result<void> GateEngine::measure_by_command(const Language& language, const std::vector<FileVersion*>& files, const Stop& stop) {
    constexpr std::size_t most_bytes = 4UL << 20U;  // Per call of the command, which has a timeout.
    for (std::size_t begin = 0; begin < files.size();) {
        json::array inputs;
        std::size_t bytes = 0;
        const auto first = begin;
        for (; begin < files.size() && (begin == first || bytes + files[begin]->content.size() <= most_bytes); ++begin) {
            bytes += files[begin]->content.size();
            inputs.push_back(json::object{{"path", std::to_string(begin) + "/" + files[begin]->path},
                                          {"content", sanitize_utf8(files[begin]->content)}});
        }
        AF_TRY(const auto lines,
               parts_->commands.run_for_lines(language, "metrics", "", json::object{{"files", std::move(inputs)}}, stop));
        for (const auto& line : lines) {
            const auto file = text_of(line, "file");
            const auto slash = file.find('/');
            const auto index = std::strtoull(file.c_str(), nullptr, 10);
            const bool is_sent =
                slash != std::string::npos && index >= first && index < begin && files[index]->path == file.substr(slash + 1);
            if (line.if_contains("not_measured") != nullptr) {
                auto reason = text_of(line, "not_measured");
                if (!is_sent || reason.empty()) { return not_a_line_of_metrics(language, line); }
                files[index]->not_measured = std::move(reason);
            } else if (is_sent) {
                files[index]->metrics.push_back(metric_of(line, files[index]->path));
            }
        }
    }
    return {};
}

Result<void> GateEngine::measure_files(const Language& language, const std::vector<ConformanceCheck>& checks,
                                       const std::vector<std::vector<FileVersion>*>& files, const Stop& stop) {
    std::vector<FileVersion*> all;
    for (auto* versions : files) {
        for (auto& version : *versions) {
            const bool is_measured = language.sources.matches(version.path) && version.content.size() <= most_measured_bytes;
            if (is_measured) { all.push_back(&version); }
        }
    }
    if (language.commands.contains("metrics")) { return measure_by_command(language, all, stop); }
    const bool by_function = std::any_of(checks.begin(), checks.end(), [](const auto& check) {
        return check.metric == "complexity" || check.metric == "function-length";
    });
    if (!by_function || language.code.empty()) { return {}; }
    for (auto* version : all) {
        auto metrics = metrics_of_text(version->path, version->content, language.code);
        std::move(metrics.begin(), metrics.end(), std::back_inserter(version->metrics));
    }
    return {};
}

Result<std::vector<Finding>> GateEngine::findings(const std::string& tree, const std::vector<std::string>& paths,
                                                  const Stop& stop, std::vector<UnmeasuredFile>* not_measured) {
    AF_CHECK(prepare());
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(const auto checks, this->checks(Enforcement::phase_end));
    AF_TRY(const auto files, checkout_->files(tree));
    const bool measures = found->commands.contains("metrics") || !found->code.empty();
    const auto miss = [&](const std::string& file, std::string reason) {
        if (not_measured == nullptr || !measures || reason.empty() || !found->sources.matches(file)) { return; }
        not_measured->push_back({file, std::move(reason)});
    };
    std::set<std::string> wanted;
    for (auto path : paths) {
        while (path.ends_with('/')) { path.pop_back(); }
        wanted.insert(path);
    }
    const auto is_wanted = [&](const std::string& file) {
        if (wanted.empty() || wanted.contains(".") || wanted.contains("") || wanted.contains(file)) { return true; }
        for (auto slash = file.find('/'); slash != std::string::npos; slash = file.find('/', slash + 1)) {
            if (wanted.contains(file.substr(0, slash))) { return true; }
        }
        return false;
    };
    std::vector<FileVersion> versions;
    for (const auto& file : files) {
        if (!is_wanted(file)) { continue; }
        AF_TRY(auto content, checkout_->file(tree, file));
        if (content) {
            versions.push_back({file, std::move(*content), {}});
        } else {
            miss(file, "too large, unreadable, or with hard links");
        }
    }
    AF_CHECK(measure_files(*found, checks, {&versions}, stop));
    const ConformanceSearch search(checks, *found);
    std::vector<Finding> all;
    for (const auto& version : versions) {
        auto some = search.find(version.path, version.content, version.metrics);
        std::move(some.begin(), some.end(), std::back_inserter(all));
        miss(version.path, why_not_measured(version.content, version.not_measured));
        // The user named a file of another language: reports that most checks skip it.
        if (not_measured != nullptr && wanted.contains(version.path) && !found->sources.matches(version.path)) {
            not_measured->push_back({version.path, "not a " + found->name + " source: only the checks for all files apply"});
        }
    }
    return all;
}

/// One call of the gate `conformance`.
class GateEngine::ConformanceGate {
public:
    ConformanceGate(GateEngine& engine, const GateCall& call, Enforcement enforcement, const Stop& stop)
        : engine_(engine), call_(call), enforcement_(enforcement), stop_(stop) {}

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

    GateEngine& engine_;
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

Result<GateReport> GateEngine::conformance(const GateCall& call, Enforcement enforcement, const Stop& stop) {
    return ConformanceGate(*this, call, enforcement, stop).measure();
}

Result<GateReport> GateEngine::ConformanceGate::measure() {
    AF_TRY(language_, engine_.languages_.of(call_.tree));
    AF_TRY(checks_, engine_.checks(enforcement_));
    AF_CHECK(read_versions());
    AF_CHECK(engine_.measure_files(*language_, checks_, {&before_, &now_}, stop_));  // One command measures both.
    if (language_->commands.contains("metrics") && !now_.empty()) {
        report_.facts["confinement"] = engine_.parts_->commands.last_confinement();
    }
    AF_CHECK(measure_coverage());
    judge_findings();
    return std::move(report_);
}

Result<void> GateEngine::ConformanceGate::read_versions() {
    auto& checkout = *engine_.checkout_;
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

Result<void> GateEngine::ConformanceGate::measure_coverage() {
    const bool covered =
        std::any_of(checks_.begin(), checks_.end(), [](const auto& check) { return check.metric == "untested-percent"; });
    if (!covered || !call_.request.paths.empty() || call_.baseline == nullptr || now_.empty()) { return {}; }
    AF_TRY(const auto tests, engine_.languages_.test_files(call_.tree));
    AF_TRY(auto measured, engine_.coverage(call_.baseline->base_tree, call_.tree, tests, false, stop_));
    // The message may quote a held-out test.
    if (!measured.problem.empty() && !call_.baseline->held_out.files.empty()) { measured.problem = "its command failed"; }
    report_coverage(measured);
    if (!measured.problem.empty() || !measured.missing.empty()) { add_untested_percent(measured); }
    return {};
}

void GateEngine::ConformanceGate::report_coverage(const Coverage& measured) {
    report_.facts["coverage"] = measured.summary();
    if (!measured.measured) { return; }
    report_.facts["coverage_percent"] = 100 - measured.percent_missing();
    report_.facts["coverage_lines"] = static_cast<std::int64_t>(measured.lines);
}

/// Measures the whole change as one number, so that a tiny file with one uncovered error path does not fail it.
void GateEngine::ConformanceGate::add_untested_percent(const Coverage& measured) {
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

void GateEngine::ConformanceGate::judge_findings() {
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

std::vector<Finding> GateEngine::ConformanceGate::found_in(const ConformanceSearch& search,
                                                           const std::vector<FileVersion>& versions) const {
    std::vector<Finding> findings;
    for (const auto& version : versions) {
        auto some = search.find(version.path, version.content, version.metrics);
        std::move(some.begin(), some.end(), std::back_inserter(findings));
    }
    return findings;
}

/// Violations in locked tests do not block: RED's gate judged them, and later stages cannot change them.
void GateEngine::ConformanceGate::excuse_locked_test(Finding& finding) const {
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

void GateEngine::ConformanceGate::block(const Violation& violation) {
    ++blocking_;
    broken_.insert(violation.check_id);
    report_.blocking_issues.push_back(violation.file + ":" + std::to_string(violation.line) + ": " + violation.message + " (" +
                                      violation.check_id + ")" + (violation.fix_hint.empty() ? "" : ". " + violation.fix_hint));
}

void GateEngine::ConformanceGate::sum_up(std::size_t total, std::size_t fresh) {
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

Result<std::vector<std::pair<std::string, std::string>>> GateEngine::scaffold(const std::string& tree) {
    return scaffold_of(*checkout_, languages_, tree);
}

Result<std::vector<std::pair<std::string, std::string>>> GateEngine::skeleton(const std::string& tree,
                                                                              const std::vector<SkeletonInterface>& interfaces,
                                                                              const Stop& stop) {
    AF_CHECK(prepare());
    return parts_->declarations.skeleton(tree, interfaces, stop);
}

Result<void> GateEngine::try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                      const Stop& stop) {
    AF_CHECK(prepare());
    return parts_->declarations.try_skeleton(tree, interfaces, stop);
}

Result<std::vector<SetupStep>> GateEngine::setup_steps(const std::string& tree) {
    AF_CHECK(prepare());
    AF_TRY(const auto* found, languages_.of(tree));
    return parts_->commands.setup_steps(*found, tree);
}

Result<void> GateEngine::set_up(const std::string& tree, const Stop& stop) {
    AF_CHECK(prepare());
    AF_TRY(const auto* found, languages_.of(tree));
    return parts_->commands.set_up(*found, tree, stop);
}

}  // namespace agentforge::kernel
