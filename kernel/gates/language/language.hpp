// SPDX-License-Identifier: Apache-2.0
// A language as data: `config/languages/<name>.yaml`, with helper scripts in `config/languages/<name>/`.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "gates/language/globs.hpp"
#include "gates/language/source_text.hpp"
#include "gates/test_quality/mutants.hpp"
#include "gates/test_quality/varied_calls.hpp"

namespace agentforge::kernel {

/// A command. These are filled in inside an argument: `{root}` the tree (read-only), `{scratch}` a folder of this run,
/// `{results}` an empty folder in it, `{build}` the build folder, `{language}` the helpers' folder, `{unique}` this run's random
/// name, `{secret}` what recorders write into every line, `{jobs}` the number of processors, `{file}` the one file. An argument
/// that is only `{files}`, `{directories}` (of the files, each with `./` before it) or `{names}` becomes one argument each.
/// `{names:|}` inside an argument is all names, joined by the text after the colon.
struct LanguageCommand {
    std::string name;  ///< tests, build, collect, syntax, types, metrics, skeleton: its name in `gates.timeouts`.
    std::vector<std::string> argv;
    std::chrono::seconds timeout{60};
    std::string error;  ///< RE2 with the groups file, line, message: matches an error in the command's text output.
};

/// True if a file of the tree matches the glob and, if given, contains the pattern.
struct FileCondition {
    std::string file;
    std::string contains;
};

/// Tests that must fail. Those without a path are built in by the build (recorders); `tests` is then their minimum number.
struct Canary {
    std::string source;     ///< A file in the language's directory.
    std::string path;       ///< Its place in the tree. `{directory}`: once beside the tests of each folder.
    std::size_t tests = 1;  ///< Number in each copy. They are recognised by `{unique}` in their file, suite or name.
    /// `{key}` in the source becomes the first group of this RE2 in a test file of the folder (`package: '(?m)^package (\w+)'`).
    std::map<std::string, std::string> fill;
};

/// One way to run a language's tests. The first whose conditions hold is used.
struct TestRunner {
    std::string name;
    std::vector<FileCondition> detect;  ///< Any of them must hold. None: always.
    /// Run in order before the tests, with `{build}` writable. If one fails, every file's tests are errors with the first message
    /// that `build_error` (RE2: file, line, message) finds.
    std::vector<LanguageCommand> build;
    std::string build_error;
    /// Lists the existing tests. If a listed test is missing in the run, the run is not trusted.
    std::optional<LanguageCommand> collect;
    std::string collect_format;
    LanguageCommand run;
    /// A format of formats/format.hpp, or `agentforge-lines`: a helper that receives everything on standard input.
    std::string format;
    std::optional<LanguageCommand> single;  ///< Replaces `run` when single tests are requested: `{files}`, `{names}`.
    /// Prints the test files that the changed sources in `{files}` affect, one per line.
    std::optional<LanguageCommand> affected;
    /// Runs the tests with line counting, and writes reports of `coverage_format` below `{results}`. It builds in a separate
    /// folder. If it fails and prints `agentforge: not measured: <reason>`, that is reported and counts against no one.
    std::optional<LanguageCommand> coverage;
    std::string coverage_format;  ///< formats/line_counts.hpp
    /// Runs the tests of `{files}` (or `{tests}`, or all) as a user would, in a copy of the tree at another place, without a
    /// recorder and AgentForge's variables. Exits with 0 if all pass. Exit code 77 with the line `agentforge: not measured:
    /// <reason>` means no result: the command itself must exit so, before it runs tests, and may not pass on a test's exit code.
    std::optional<LanguageCommand> plain;
    bool plain_renames = false;       ///< Test files may have other names there.
    std::vector<int> exit_passed{0};  ///< Exit codes of a run without failures,
    std::vector<int> exit_failed{1};  ///< and with failures. A run with a canary is trusted only with one of these.
    std::map<std::string, std::string> environment;
    std::vector<Canary> canaries;                 ///< None: the report says that nothing proves that failing tests are reported.
    std::vector<std::string> error_messages;      ///< RE2. A failure whose message matches is an error, whatever the format says.
    std::vector<std::string> assertion_messages;  ///< RE2. An error whose message matches is a failed assertion.
    /// RE2 with the group `name`: declares a test, or a class of tests, in a file. For formats that name no files.
    std::string declaration;
};

/// How the project checks types. Without `argv`, by the runner's build: compiled languages.
struct TypeChecker {
    std::string name;
    std::vector<FileCondition> declared_by;
    LanguageCommand command;  ///< Has `error`.
};

/// A program that the language's checks run, for the preflight.
struct LanguageTool {
    std::string program;
    std::string use;                       ///< Its purpose in a word: tests, types, dependencies.
    std::string install;                   ///< How to install it.
    std::vector<std::string> version;      ///< Arguments that make it print its version.
    bool optional = false;                 ///< Without it a check is skipped with a note.
    std::vector<std::string> runners;      ///< Runners that need it. None: all.
    std::vector<FileCondition> when = {};  ///< Only if any of these holds. None: always.
    bool unsupported = false;              ///< It would run the tests, but its runs cannot be measured.
    std::string name = {};                 ///< What is looked for, if it is not a program itself. Empty: the program.
    std::vector<std::string> probe = {};   ///< Arguments with which the program exits with 0 if it is present.
};

/// How dependencies are fetched: once for each content of the lockfiles, with network, after a person has approved; read-only
/// afterwards. `{dependencies}` in `environment`, `links` and `programs` is the folder in which `command` ran.
struct SetupRule {
    std::string name;
    std::vector<std::string> lockfiles;  ///< Paths in the tree. The rule applies if one of them exists,
    std::vector<FileCondition> when;     ///< if any of these holds (none: always),
    std::vector<FileCondition> unless;   ///< and if none of these does: what it would fetch is in the tree.
    std::vector<std::string> inputs;     ///< Further files for the command, if they exist: paths, or globs with `*`.
    Globs names;                         ///< Files that it gets by name only, empty: their bytes do not matter.
    /// RE2. Fetching is requested only after a build or a run reports something missing with a matching message. Empty: at once.
    std::string missing;
    LanguageCommand command;
    std::map<std::string, std::string> environment;  ///< Environment of every later command of the language.
    std::map<std::string, std::string> links;        ///< Name in the tree → its target, unless the tree has such a file itself.
    /// As `gates.programs`, which take precedence. A rule is not needed if the user names all its programs.
    std::map<std::string, std::string> programs;
};

/// A file that starts a test suite. `append`: adds its text at the end of an existing file; if there is none, creates none.
/// `before`: the same, but before what the first group of this RE2 matches. `unless`: RE2; a file that it matches is left alone.
/// `when`: only if one of these holds.
struct ScaffoldFile {
    std::string path;
    std::string content;
    bool append = false;
    std::string unless;
    std::string before = {};
    std::vector<FileCondition> when = {};
};

/// A part of the files that the glob matches: all lines below a header that `begins` matches, up to the next line that starts
/// with `[`; or, in a JSON file, the value at `pointer` (RFC 6901).
struct FileSection {
    std::string file;
    std::string begins;
    std::string pointer = {};
};

/// Functions that exist but do nothing yet. Patterns are RE2 and match whole texts in which comments and the insides of quotes
/// are blanked.
struct StubRules {
    std::string body;      ///< What is between the braces of such a function. Empty: there are no such rules.
    std::string unless;    ///< If found before the `{`, the function is not a stub.
    std::string marked;    ///< Inserted after the `{`: ends any test that gets there. `{marker}` and `{name}` are filled in.
    std::string head;      ///< Inserted at the beginning of a file with such functions.
    std::string no_throw;  ///< If found before the `{`, `marked` would end the whole program, so `failed` is inserted.
    std::string failed;    ///< Like `marked`: one statement that fails the running test. The function goes on.
};

struct Language {
    std::string name;
    std::string directory;  ///< Absolute path of the helper scripts.
    Globs detect;
    Globs roots;                ///< Files that mark a project's own folder: a scope of a monorepo (scopes.hpp).
    bool nested_roots = false;  ///< A project inside a project is separate (Go's modules), not a part of it.
    Globs sources;
    Globs tests;
    Globs test_support;                      ///< Files that support tests: RED may write them; later they are locked.
    Globs inline_files;                      ///< Files that may contain tests beside other code,
    std::string inline_begins;               ///< in items that begin with a line that this RE2 matches (inline_tests.hpp).
    std::vector<std::string> test_patterns;  ///< `tests` as written, for messages and `@tests`.
    std::vector<std::string> source_patterns;
    Globs runner_files;
    std::vector<FileSection> runner_sections;
    std::string skeleton_marker;
    /// Files whose contents the skeleton command gets in addition to those of the interfaces.
    std::vector<std::string> skeleton_reads;
    std::map<std::string, std::string> environment;
    /// Environment variables of the user that locate toolchains: name → folder below the home folder if it is unset; empty: none.
    /// Their values are passed on and, if they are folders, readable.
    std::map<std::string, std::string> toolchains;
    std::vector<TestRunner> runners;                               ///< At least one.
    std::map<std::string, LanguageCommand, std::less<>> commands;  ///< syntax, metrics, skeleton, coverage
    std::string skeletons;  ///< Kind of declarations that the kernel writes itself (`c`). Empty: the command's, if there is one.
    CodeRules code;         ///< How to read its text if no command measures it: complexity, what it compares with.
    std::vector<VariedCallRules> varied_calls;  ///< Needs `code`. The first whose files match applies.
    StubRules stubs;                            ///< Needs `code`. A command `stubs` does the same for languages without braces.
    /// RE2 for a compiler's or loader's message about a name that does not exist yet. Empty: none is known.
    std::string undeclared;
    /// RE2s for such a message about a missing member of a type, each with one group: the type. The first that matches counts.
    std::vector<std::string> missing_member;
    /// RE2 for an error caused by what the code returned to a test: a missing key, text that is not JSON.
    std::string result_errors;
    std::vector<MutationRule> mutations;  ///< Small faults to insert into a change, the most informative first (mutants.hpp).
    std::vector<TypeChecker> type_checkers;
    std::vector<SetupRule> setup;
    std::vector<LanguageTool> tools;     ///< None: the programs of its commands.
    std::vector<ScaffoldFile> scaffold;  ///< Written by the kernel before RED if there are no tests.

    /// True for a test or a support file. They are locked from RED on.
    [[nodiscard]] bool belongs_to_tests(std::string_view path) const { return tests.matches(path) || test_support.matches(path); }
    /// True for a file that is not a test file but may contain tests.
    [[nodiscard]] bool may_hold_tests(std::string_view path) const {
        return !inline_files.empty() && inline_files.matches(path) && !belongs_to_tests(path);
    }
};

/// Errors: `invalid` AF-GATE-010 with file, line and field: unknown key, missing key, wrong type, bad pattern.
[[nodiscard]] Result<Language> load_language(const std::string& languages_directory, const std::string& name);
/// Returns the language with the most source files among those whose `detect` matches some file. Empty: none.
[[nodiscard]] Result<std::optional<Language>> detect_language(const std::string& languages_directory,
                                                              const std::vector<std::string>& files);
/// Returns the runner for a tree: the first whose conditions hold, or nullptr. `content` reads a file of the tree; at most 200
/// files are read for each condition.
using ContentReader = std::function<Result<std::optional<std::string>>(const std::string& path)>;
[[nodiscard]] Result<bool> holds(const std::vector<FileCondition>& conditions, const std::vector<std::string>& files,
                                 const ContentReader& content);
[[nodiscard]] Result<const TestRunner*> choose_runner(const Language& language, const std::vector<std::string>& files,
                                                      const ContentReader& content);
/// Returns the lines of a section of a file's text, or the JSON text of its value. Empty if it has none. A file that should be
/// JSON but is not counts as a whole.
[[nodiscard]] std::string section_text(std::string_view content, const FileSection& section);

}  // namespace agentforge::kernel
