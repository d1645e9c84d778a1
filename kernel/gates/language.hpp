// SPDX-License-Identifier: Apache-2.0
// A language as data: `config/languages/<name>.yaml`, its helper scripts in `config/languages/<name>/`.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "gates/globs.hpp"

namespace agentforge::kernel {

/// `{scratch}`, `{language}` and `{root}` in an argument are filled in when the command is run.
struct LanguageCommand {
    std::string name;                       ///< tests, syntax, metrics, skeleton
    std::vector<std::string> argv;
    std::chrono::seconds timeout{60};
};

/// The project declares a checker when one of the files exists and, where given, contains the pattern.
struct TypeChecker {
    struct Declaration { std::string file; std::string contains; };
    std::string name;
    std::vector<Declaration> declared_by;
    LanguageCommand command;
    std::string error;                      ///< RE2 with the groups file, line, message; one match a line of output.
};

/// A part of a file: all lines below a header that `begins` matches, up to the next line that starts with `[`.
struct FileSection { std::string file; std::string begins; };

struct Language {
    std::string name;
    std::string directory;                  ///< Absolute; helper scripts.
    Globs detect;
    Globs roots;                            ///< Files that a project's own folder holds: a scope of a monorepo (scopes.hpp).
    bool nested_roots = false;              ///< A project in a project is one of its own (Go's modules), not a part of it.
    Globs sources;
    Globs tests;
    Globs test_support;                     ///< Beside the tests: RED may write them, nobody afterwards.
    std::vector<std::string> test_patterns; ///< `tests` as written, for messages and `@tests`.
    std::vector<std::string> source_patterns;
    Globs runner_files;
    std::vector<FileSection> runner_sections;
    std::string skeleton_marker;
    std::map<std::string, std::string> environment;
    std::string canary;                     ///< File in `directory`: tests that must fail.
    std::size_t canary_tests = 0;
    std::map<std::string, LanguageCommand, std::less<>> commands;
    std::vector<TypeChecker> type_checkers;

    /// A test or what stands beside tests; from RED on nobody writes it.
    [[nodiscard]] bool belongs_to_tests(std::string_view path) const { return tests.matches(path) || test_support.matches(path); }
};

/// Errors: `invalid` AF-GATE-010 with file, line and field: unknown key, missing key, wrong type, bad pattern.
[[nodiscard]] Result<Language> load_language(const std::string& languages_directory, const std::string& name);
/// The language with the most source files among those whose `detect` matches some file; empty: none does.
[[nodiscard]] Result<std::optional<Language>> detect_language(const std::string& languages_directory,
                                                              const std::vector<std::string>& files);
/// The lines of a section of a file's text; empty where it has none.
[[nodiscard]] std::string section_text(std::string_view content, const FileSection& section);

}  // namespace agentforge::kernel
