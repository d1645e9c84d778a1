// SPDX-License-Identifier: Apache-2.0
#include "gates/conformance/source_findings.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "gates/engine/report_parts.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t most_measured_bytes = 2UL << 20U;  // Per file. Larger files are not searched either.

/// Returns why violations of a source file may be missing, or empty. `command`: the reason that the language's command gave.
std::string why_not_measured(const std::string& content, const std::string& command) {
    if (content.size() > most_measured_bytes) { return "larger than " + std::to_string(most_measured_bytes >> 20U) + " MiB"; }
    return content.find('\0') == std::string::npos ? command : "binary: it has a zero byte";
}

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

Result<std::vector<ConformanceCheck>> SourceFindings::checks(Enforcement enforcement) {
    if (!checks_) {
        AF_TRY(auto loaded, load_checks(directories_, commands_.settings().thresholds));
        checks_ = std::move(loaded);
    }
    auto checks = *checks_;
    std::erase_if(checks, [&](const auto& check) { return check.enforcement > enforcement; });
    return checks;
}

Result<void> SourceFindings::measure_by_command(const Language& language, const std::vector<FileVersion*>& files,
                                                const Stop& stop) {
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
               commands_.run_for_lines(language, "metrics", "", json::object{{"files", std::move(inputs)}}, stop));
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

Result<void> SourceFindings::measure(const Language& language, const std::vector<ConformanceCheck>& checks,
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

Result<std::vector<Finding>> SourceFindings::find(const std::string& tree, const std::vector<std::string>& paths,
                                                  const Stop& stop, std::vector<UnmeasuredFile>* not_measured) {
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(const auto checks, this->checks(Enforcement::phase_end));
    AF_TRY(const auto files, checkout_.files(tree));
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
        AF_TRY(auto content, checkout_.file(tree, file));
        if (content) {
            versions.push_back({file, std::move(*content), {}});
        } else {
            miss(file, "too large, unreadable, or with hard links");
        }
    }
    AF_CHECK(measure(*found, checks, {&versions}, stop));
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

}  // namespace agentforge::kernel
