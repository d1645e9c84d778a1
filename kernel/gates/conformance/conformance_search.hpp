// SPDX-License-Identifier: Apache-2.0
// The conformance engine: checks as data, the violations of a file, and which of them are new.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/host.hpp>

#include "gates/language/language.hpp"

namespace agentforge::kernel {

enum class Enforcement : unsigned char { every_edit = 1, phase_end };

/// One check. A pattern check searches each line; a metric check compares a measured number with its threshold.
struct ConformanceCheck {
    std::string id;
    std::string description = {};  ///< For people: what it is about. May be empty.
    std::string category;          ///< style, architecture, pattern, security, quality
    std::string severity;          ///< minor (reported), major and critical (block)
    Enforcement enforcement = Enforcement::every_edit;
    std::vector<std::string> applies_to;  ///< Globs. `@sources` and `@tests` are the language's; `!` excludes.
    std::vector<std::string> patterns;    ///< RE2. A line that matches any of them is a violation.
    std::vector<std::string> allow;       ///< RE2. A line that matches one of them is skipped.
    std::string metric;                   ///< line-length, file-length, or one that the language's `metrics` command measures.
    std::int64_t threshold = 0;           ///< A higher value is a violation.
    std::string message;                  ///< `{name}`, `{value}` and `{threshold}` are filled in.
    std::string fix_hint;
    std::string where;  ///< File, line and column of its declaration.

    [[nodiscard]] bool blocks() const noexcept { return severity != "minor"; }
};

/// Loads the checks from all *.yaml in the directories, in order. A later directory adds checks, or changes fields of one with
/// the same id (`enabled: false` removes it). A missing directory has none. `thresholds` override by id. Errors: `invalid`
/// AF-GATE-020 with file, line and field; AF-GATE-021 a threshold for an unknown check.
[[nodiscard]] Result<std::vector<ConformanceCheck>> load_checks(
    const std::vector<std::string>& directories, const std::map<std::string, std::int64_t, std::less<>>& thresholds);

/// A number that a language's `metrics` command measured.
struct Metric {
    std::string metric;
    std::string file;
    std::uint64_t line = 0;
    std::string name;
    std::int64_t value = 0;
};

/// A violation, with what identifies it in another version of the file.
struct Finding {
    Violation violation;
    std::string key;  ///< The line's text, or the name of the function. Empty: the whole file.
    bool blocks = true;
    /// The nearest non-trivial lines around it, without indentation. They distinguish lines with the same text.
    std::string above = {};
    std::string below = {};
};

/// A source file that was not measured or not searched, or only in part.
struct UnmeasuredFile {
    std::string file;
    std::string reason;  ///< In words, without a full stop: `line 3: SyntaxError: …`. May quote the file.
};

/// Searches files for violations of the checks. Compiles the patterns once.
class ConformanceSearch {
public:
    ConformanceSearch(const std::vector<ConformanceCheck>& checks, const Language& language);
    ~ConformanceSearch();
    ConformanceSearch(const ConformanceSearch&) = delete;
    ConformanceSearch& operator=(const ConformanceSearch&) = delete;
    /// Searches one file. Files that are not UTF-8 text, or larger than 2 MiB, are only measured, not searched.
    [[nodiscard]] std::vector<Finding> find(const std::string& path, std::string_view content,
                                            const std::vector<Metric>& metrics) const;

private:
    struct Compiled;
    std::vector<Compiled> checks_;
};

/// The same for a single file.
[[nodiscard]] std::vector<Finding> find_violations(const std::vector<ConformanceCheck>& checks, const Language& language,
                                                   const std::string& path, std::string_view content,
                                                   const std::vector<Metric>& metrics);

/// Returns the findings that are new, compared by check, file and text. If there are more of one kind than before, the excess is
/// new.
[[nodiscard]] std::vector<Finding> only_new(std::vector<Finding> now, const std::vector<Finding>& before);

}  // namespace agentforge::kernel
