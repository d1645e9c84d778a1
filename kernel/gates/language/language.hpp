// SPDX-License-Identifier: Apache-2.0
// A language as data: `config/languages/<name>.yaml`, its helper scripts in `config/languages/<name>/`.
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

/// In an argument are filled in: `{root}` the tree (read-only), `{scratch}` a folder of this run, `{results}` one in it that is
/// empty,
/// `{build}` the build folder, `{language}` the helpers' folder, `{unique}` this run's random name, `{secret}` what recorders
/// write into every line, `{jobs}` processors, `{file}` the one file. An argument that is only `{files}`, `{directories}` (of the
/// files, each with `./` before it) or `{names}` becomes as many as there are;
/// `{names:|}` inside an argument is all names, joined by what stands behind the colon.
struct LanguageCommand {
    std::string name;  ///< tests, build, collect, syntax, types, metrics, skeleton: what `gates.timeouts` calls it.
    std::vector<std::string> argv;
    std::chrono::seconds timeout{60};
    std::string error;  ///< RE2 with the groups file, line, message: the command's output is text, and this is an error in it.
};

/// Holds when a file of the tree matches the glob and, where given, contains the pattern.
struct FileCondition {
    std::string file;
    std::string contains;
};

/// Tests that must fail. Without a path they are brought by the build itself (recorders), and `tests` is how many there are at
/// least.
struct Canary {
    std::string source;     ///< File in the language's directory.
    std::string path;       ///< Where it is put; `{directory}`: once beside the tests of each folder.
    std::size_t tests = 1;  ///< In each copy; they are known by `{unique}` in their file, suite or name.
    /// `{key}` in the source is the first group of this RE2 in a test file of the folder (`package: '(?m)^package (\w+)'`).
    std::map<std::string, std::string> fill;
};

/// One way to run a language's tests. The first whose conditions hold is taken.
struct TestRunner {
    std::string name;
    std::vector<FileCondition> detect;  ///< Any of them; none: always.
    /// Run in order before the tests with `{build}` writable. One that fails: every file's tests are errors, with the first
    /// message that `build_error` (RE2: file, line, message) finds.
    std::vector<LanguageCommand> build;
    std::string build_error;
    std::optional<LanguageCommand>
        collect;  ///< What there is to run; a test that it names and the run does not tell is not believed.
    std::string collect_format;
    LanguageCommand run;
    std::string format;  ///< A format of formats/format.hpp, or `agentforge-lines`: a helper that is told all on standard input.
    std::optional<LanguageCommand> single;    ///< In place of `run` when single tests are asked for: `{files}`, `{names}`.
    std::optional<LanguageCommand> affected;  ///< Prints the test files that `{files}`, changed sources, affect, one a line.
    /// Runs the tests where it is counted how often lines are run, and writes reports of `coverage_format` below `{results}`;
    /// what it builds stands in a folder of its own. One that fails and prints `agentforge: not measured: <reason>` is told so,
    /// and held against nobody.
    std::optional<LanguageCommand> coverage;
    std::string coverage_format;  ///< formats/line_counts.hpp
    /// Runs the tests of `{files}` (or `{tests}`, or all) as a user would, in a copy of the tree at another place: no recorder,
    /// none of AgentForge's variables. It ends with 0 where all pass. Exit code 77 with the line `agentforge: not measured:
    /// <reason>` says nothing: the command itself must end so, before it runs tests, and may not pass on a test's exit code.
    std::optional<LanguageCommand> plain;
    bool plain_renames = false;       ///< Test files may have other names there.
    std::vector<int> exit_passed{0};  ///< Exit codes that go with no failure,
    std::vector<int> exit_failed{1};  ///< and with some. With a canary in the run only these are believed.
    std::map<std::string, std::string> environment;
    std::vector<Canary> canaries;                 ///< None: the report says that nothing proves that a failing test is told.
    std::vector<std::string> error_messages;      ///< RE2: a failure whose message matches is an error, whatever the format says.
    std::vector<std::string> assertion_messages;  ///< RE2: an error whose message matches is a failed assertion.
    std::string declaration;  ///< RE2 with the group `name`: declares a test, or a class of tests, in a file, for formats that
                              ///< name no files.
};

/// What the project checks its types with. Without `argv` it is the build of the runner: compiled languages.
struct TypeChecker {
    std::string name;
    std::vector<FileCondition> declared_by;
    LanguageCommand command;  ///< With `error`.
};

/// A program that the language's checks run, for whoever asks beforehand whether all is there.
struct LanguageTool {
    std::string program;
    std::string use;                       ///< What it is there for, in a word: tests, types, dependencies.
    std::string install;                   ///< How one gets it.
    std::vector<std::string> version;      ///< Arguments that make it say its version.
    bool optional = false;                 ///< Without it a check is left out, and says so.
    std::vector<std::string> runners;      ///< Needed by these only; none: by all.
    std::vector<FileCondition> when = {};  ///< Only where any of these holds; none: always.
    bool unsupported = false;              ///< It would run the tests, and nothing here can measure what it runs.
    std::string name = {};                 ///< What is looked for, where it is no program of its own; empty: the program.
    std::vector<std::string> probe = {};   ///< Arguments with which the program ends with 0 where what is looked for is there.
};

/// How dependencies are fetched: once for each content of the lockfiles, with network, when somebody has approved; afterwards
/// read-only.
/// `{dependencies}` in `environment`, `links` and `programs` is the folder of what was fetched, in which `command` was run.
struct SetupRule {
    std::string name;
    std::vector<std::string> lockfiles;  ///< Paths in the tree; the rule holds where one of them is there,
    std::vector<FileCondition> when;     ///< any of these holds (none: always),
    std::vector<FileCondition> unless;   ///< and none of these: what it would fetch is in the tree.
    std::vector<std::string>
        inputs;           ///< Further files that the command is given, where they are there: paths, or globs with `*`.
    Globs names;          ///< Files that it is given by their names only, empty: their bytes decide nothing.
    std::string missing;  ///< RE2: asked for only once a build or a run says by it that something is missing. Empty: at once.
    LanguageCommand command;
    std::map<std::string, std::string> environment;  ///< Of every command of the language from then on.
    std::map<std::string, std::string> links;  ///< Name in the tree → where it leads, unless the tree has such a file itself.
    std::map<std::string, std::string>
        programs;  ///< As `gates.programs`, which win; a rule all of whose programs the user names is not needed.
};

/// A file that begins a test suite. `append`: its text goes to the end of what is there; where there is no such file it is not
/// made. `before`: so too, but in front of what the first group of this RE2 matches. `unless`: RE2; a file that it matches is
/// left alone. `when`: only where one of these holds.
struct ScaffoldFile {
    std::string path;
    std::string content;
    bool append = false;
    std::string unless;
    std::string before = {};
    std::vector<FileCondition> when = {};
};

/// A part of the files that the glob matches: all lines below a header that `begins` matches, up to the next line that starts
/// with `[`; or, in a JSON file, what stands at `pointer` (RFC 6901).
struct FileSection {
    std::string file;
    std::string begins;
    std::string pointer = {};
};

/// Functions that are written and do nothing yet. Patterns are RE2 and match whole texts in which comments and the insides of
/// quotes are blanks.
struct StubRules {
    std::string body;    ///< What stands between the braces of such a function. Empty: there are no such rules.
    std::string unless;  ///< Found in what stands before the `{`: it is none.
    std::string marked;  ///< Goes behind the `{` of one: ends the test that comes there. `{marker}` and `{name}` are filled in.
    std::string head;    ///< Goes before the text of a file with such functions.
};

struct Language {
    std::string name;
    std::string directory;  ///< Absolute; helper scripts.
    Globs detect;
    Globs roots;                ///< Files that a project's own folder holds: a scope of a monorepo (scopes.hpp).
    bool nested_roots = false;  ///< A project in a project is one of its own (Go's modules), not a part of it.
    Globs sources;
    Globs tests;
    Globs test_support;                      ///< Beside the tests: RED may write them, nobody afterwards.
    Globs inline_files;                      ///< May hold tests beside other code,
    std::string inline_begins;               ///< in items that begin with a line that this RE2 matches (items.hpp).
    std::vector<std::string> test_patterns;  ///< `tests` as written, for messages and `@tests`.
    std::vector<std::string> source_patterns;
    Globs runner_files;
    std::vector<FileSection> runner_sections;
    std::string skeleton_marker;
    std::vector<std::string>
        skeleton_reads;  ///< Files whose contents the skeleton command is given besides those of the interfaces.
    std::map<std::string, std::string> environment;
    /// Variables of the user's that say where toolchains are: name → folder below the home folder where it is unset, empty: none.
    /// What they name is passed on and, where it is a folder, can be read.
    std::map<std::string, std::string> toolchains;
    std::vector<TestRunner> runners;                               ///< At least one.
    std::map<std::string, LanguageCommand, std::less<>> commands;  ///< syntax, metrics, skeleton, coverage
    std::string skeletons;  ///< Kind of declarations the kernel writes itself (`c`); empty: the command's, if there is one.
    CodeRules code;         ///< How its text is read where no command measures it: complexity, what it compares with.
    std::vector<VariedCallRules> varied_calls;  ///< With `code`. The first whose files match holds.
    StubRules stubs;                            ///< With `code`; a command `stubs` does the same for what has no braces.
    std::string
        undeclared;  ///< RE2 of a compiler's or loader's message about a name that does not exist yet; empty: none is known.
    std::string
        result_errors;  ///< RE2 of an error caused by what the code returned to a test: a missing key, text that is not JSON.
    std::vector<MutationRule> mutations;  ///< Small faults to put into a change, the more telling first (mutants.hpp).
    std::vector<TypeChecker> type_checkers;
    std::vector<SetupRule> setup;
    std::vector<LanguageTool> tools;     ///< None: the programs of its commands.
    std::vector<ScaffoldFile> scaffold;  ///< Written by the kernel before RED where there are no tests.

    /// A test or what stands beside tests; from RED on nobody writes it.
    [[nodiscard]] bool belongs_to_tests(std::string_view path) const { return tests.matches(path) || test_support.matches(path); }
    /// Not a file of tests, but one that may hold some.
    [[nodiscard]] bool may_hold_tests(std::string_view path) const {
        return !inline_files.empty() && inline_files.matches(path) && !belongs_to_tests(path);
    }
};

/// Errors: `invalid` AF-GATE-010 with file, line and field: unknown key, missing key, wrong type, bad pattern.
[[nodiscard]] Result<Language> load_language(const std::string& languages_directory, const std::string& name);
/// The language with the most source files among those whose `detect` matches some file; empty: none does.
[[nodiscard]] Result<std::optional<Language>> detect_language(const std::string& languages_directory,
                                                              const std::vector<std::string>& files);
/// The runner for a tree: the first whose conditions hold; nullptr: none. `content` reads a file of the tree; at most 200 files
/// a condition are read.
using ContentReader = std::function<Result<std::optional<std::string>>(const std::string& path)>;
[[nodiscard]] Result<bool> holds(const std::vector<FileCondition>& conditions, const std::vector<std::string>& files,
                                 const ContentReader& content);
[[nodiscard]] Result<const TestRunner*> choose_runner(const Language& language, const std::vector<std::string>& files,
                                                      const ContentReader& content);
/// The lines of a section of a file's text, or the JSON text of its value; empty where it has none. A file that should be JSON
/// and is not is its own section.
[[nodiscard]] std::string section_text(std::string_view content, const FileSection& section);

}  // namespace agentforge::kernel
