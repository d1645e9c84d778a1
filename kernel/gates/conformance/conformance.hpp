// SPDX-License-Identifier: Apache-2.0
// The conformance engine: checks as data (North Star 2.4.2), what breaks them, and what was broken before.
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

/// One check. A pattern check looks at each line; a metric check compares a measured number with its threshold.
struct ConformanceCheck {
    std::string id;
    std::string description = {};  ///< What it is about, for people; may be empty.
    std::string category;          ///< style, architecture, pattern, security, quality
    std::string severity;          ///< minor (reported), major and critical (block)
    Enforcement enforcement = Enforcement::every_edit;
    std::vector<std::string> applies_to;  ///< Globs; `@sources` and `@tests` are the language's; `!` excludes.
    std::vector<std::string> patterns;    ///< RE2, any of them.
    std::vector<std::string> allow;       ///< RE2; a line that matches one is left alone.
    std::string metric;                   ///< line-length, file-length, or one that the language's `metrics` command measures.
    std::int64_t threshold = 0;           ///< A violation is a value above it.
    std::string message;                  ///< {name}, {value} and {threshold} are filled in.
    std::string fix_hint;
    std::string where;  ///< File, line and column that declares it.

    [[nodiscard]] bool blocks() const noexcept { return severity != "minor"; }
};

/// The checks of all *.yaml in the directories, in order; a later directory adds checks or changes fields of one by its id
/// (`enabled: false` takes it away). A directory that does not exist has none. `thresholds` override by id.
/// Errors: `invalid` AF-GATE-020 with file, line and field; AF-GATE-021 a threshold for a check that does not exist.
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

/// A violation, and what makes it the same one in another version of the file.
struct Finding {
    Violation violation;
    std::string key;  ///< The line's text, or the name of the function; empty: the whole file.
    bool blocks = true;
    std::string above = {};  ///< The nearest lines around it that say something, without their indentation: they tell lines of
                             ///< the same text apart.
    std::string below = {};
};

/// Searches files for what breaks the checks. The patterns are compiled once.
class ConformanceSearch {
public:
    ConformanceSearch(const std::vector<ConformanceCheck>& checks, const Language& language);
    ~ConformanceSearch();
    ConformanceSearch(const ConformanceSearch&) = delete;
    ConformanceSearch& operator=(const ConformanceSearch&) = delete;
    /// In one file. Files that are not UTF-8 text or above 2 MiB are only measured, never searched.
    [[nodiscard]] std::vector<Finding> find(const std::string& path, std::string_view content,
                                            const std::vector<Metric>& metrics) const;

private:
    struct Compiled;
    std::vector<Compiled> checks_;
};

/// The same for one file alone.
[[nodiscard]] std::vector<Finding> find_violations(const std::vector<ConformanceCheck>& checks, const Language& language,
                                                   const std::string& path, std::string_view content,
                                                   const std::vector<Metric>& metrics);

/// The findings that were not there before: by check, file and text, as often as there are more of them now.
[[nodiscard]] std::vector<Finding> only_new(std::vector<Finding> now, const std::vector<Finding>& before);

}  // namespace agentforge::kernel
