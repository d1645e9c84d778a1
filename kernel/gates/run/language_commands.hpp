// SPDX-License-Identifier: Apache-2.0
// Runs a language's commands, confined: the tree is readable, scratch is writable, there is no network.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel_token.hpp"
#include "gates/engine/test_run.hpp"
#include "gates/formats/line_counts.hpp"
#include "gates/language/language.hpp"
#include "gates/run/command_log.hpp"
#include "gates/run/dependencies.hpp"
#include "gates/run/report_trust.hpp"
#include "gates/run/tree_checkout.hpp"
#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {

struct ReportContext;

/// The settings `gates:`.
struct GateSettings {
    std::map<std::string, std::string, std::less<>> programs;  ///< `python3: /home/me/venv/bin/python`
    /// By command: tests, integration, tests_after_edit, setup, build, collect, affected, syntax, types, metrics, skeleton.
    std::map<std::string, std::chrono::seconds, std::less<>> timeouts;
    std::map<std::string, std::int64_t, std::less<>> thresholds;  ///< By check id.
    std::vector<std::string> integration_tests;                   ///< Globs: test files that run only at the end of a stage.
    std::size_t mutants = 10;           ///< Maximum number of altered lines that show whether new tests notice. 0: none.
    bool without_new_test = false;      ///< Delivers work without a new test, whatever the request says.
    std::vector<std::string> readable;  ///< Additional folders that commands may read: a virtual environment.
    std::uint64_t max_processes = 512;  ///< Limit on simultaneous processes and threads of one command.
    std::vector<std::string> command;   ///< Replaces an argument `{command}`: the tests of the language `generic`.

    /// Errors: `invalid` AF-GATE-012 unknown key or wrong type.
    [[nodiscard]] static Result<GateSettings> read(const json::object& settings);
};

/// Returns the environment variables of a language's toolchains (`toolchains` of its file): the user's values, or the usual ones.
[[nodiscard]] std::map<std::string, std::string> toolchains_of(const Language& language,
                                                               const std::map<std::string, std::string>& environment);

/// Which tests of a tree are run, and for what.
struct TestSelection {
    std::vector<std::string> files;
    /// Single tests of the files, by the last part of their ids. Empty: all. For runners with `single`, which may run more.
    std::vector<std::string> names;
    /// A stage is judged by it: only this tree's runs could write to the build folder, so leftovers of another tree cannot count.
    /// Otherwise uses the folder that is kept between the runs of a task: fast, for feedback.
    bool judged = false;
    std::string timeout = {};  ///< The setting that limits it in place of `tests`, if set: integration, tests_after_edit.
    /// Path → bytes that replace these plain files of the tree for this run. A path that the tree lacks is added.
    std::map<std::string, std::string> instead = {};
    std::optional<std::chrono::seconds> at_most = {};  ///< Time limit in addition to the settings.
    std::string purpose = {};                          ///< GateCommand::purpose of its commands.
    bool calls = false;  ///< The run has a file for the calls that varied functions record (TestRun::calls).
    /// For judged runs: a tree that this one contains whole, in whose folder it is built. Whatever that tree's build left there,
    /// its own could leave as well.
    std::string built_in = {};
};

/// The outcome of building a tree.
struct BuildOutcome {
    bool built = true;
    std::string problem;              ///< Not built: how the build ended, in one sentence.
    std::string output;               ///< Output of the failed step: standard output, then standard error.
    std::vector<ToolMessage> errors;  ///< The errors that `build_error` found in it.
};

/// Returns AF-GATE-060: a language runs its tests by `gates.command`, which is not set.
[[nodiscard]] Error no_command(const std::string& language);

/// Where dependencies are, and who approves fetching them; see GateRunner::Options.
struct DependencySettings {
    std::string directory;
    std::string setup = "ask";
};

class LanguageCommands {
public:
    LanguageCommands(TreeCheckout& checkout, ProcessRunner& processes, std::string scratch_directory,
                     std::map<std::string, std::string> environment, GateSettings settings, DependencySettings dependencies = {},
                     std::shared_ptr<std::vector<GateCommand>> log = {});

    /// Places a link beside the tree unless it has such a file itself. Errors: AF-GATE-101.
    [[nodiscard]] Result<void> link_dependency(const std::string& name, const std::string& target);
    /// Places the user's readable folders beside the tree if their names are those of what the language would fetch
    /// (`node_modules`): the user has fetched them.
    [[nodiscard]] Result<void> link_users_folders(const Language& language);
    /// Checks the tree out and places its dependencies beside it, for the commands that follow. Errors: AF-GATE-100 dependencies
    /// were not fetched yet and no one has approved it; AF-GATE-101 they could not be fetched; git's own.
    [[nodiscard]] Result<void> place(const Language& language, const std::string& tree, const Stop& stop);
    /// Replaces these files (path and content) in each tree that is checked out from now on. None: trees stay as they are.
    void overlay_files(std::map<std::string, std::string> files) { overlay_files_ = std::move(files); }
    [[nodiscard]] bool has_no_overlay() const noexcept { return overlay_files_.empty(); }
    /// Sets the user's commit. What compiling it leaves behind (a compiler cache) may be used for other trees.
    void trust(std::string tree) { trusted_ = std::move(tree); }
    /// Returns the dependencies of the tree. Errors: git's own.
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const Language& language, const std::string& tree);
    /// Fetches missing dependencies. Errors: as `fetch`.
    [[nodiscard]] Result<void> set_up(const Language& language, const std::string& tree, const Stop& stop);

    /// Checks the tree out, builds it and runs the selected tests with the canaries. A failed build is a trusted run in which
    /// each file is an error. A tree without a declared runner gives a run that is not trusted. Errors: AF-GATE-003 a program is
    /// missing; AF-GATE-005 cancelled; AF-GATE-040 a canary could not be placed; git's and the sandbox's own.
    [[nodiscard]] Result<TestRun> run_tests(const Language& language, const std::string& tree, const TestSelection& selection,
                                            const Stop& stop);
    /// Runs only the runner's build. Nothing if it has none.
    [[nodiscard]] Result<BuildOutcome> build(const Language& language, const std::string& tree, bool judged, const Stop& stop);
    /// How often the tests run each line of the tree, by the runner's coverage command.
    struct LinesRun {
        bool measured = false;
        std::string reason;   ///< Not measured: why, in one sentence. Empty: the runner has no such command.
        bool failed = false;  ///< True if it should have been measured.
        LineCounts counts;
    };
    /// Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<LinesRun> lines_run(const Language& language, const std::string& tree,
                                             const std::vector<std::string>& tests, const Stop& stop);
    /// The selection for a plain run.
    struct PlainSelection {
        std::vector<std::string> files;
        /// Ids of the files' passing tests. They run in reverse order if the runner can select single tests.
        std::vector<std::string> tests;
        std::vector<std::string> beside;  ///< Files that may name a test file.
        bool all_pass = false;            ///< The whole suite passes: for runners that run all of it.
        /// Files that the change touches, with their former content (empty optional: not there). `{before}` is a copy of the tree
        /// with these.
        std::map<std::string, std::optional<std::string>> before;
        std::chrono::seconds at_most{30};
    };
    struct PlainRun {
        bool measured = false;
        bool passed = false;
        std::string reason;  ///< Not measured: why.
        std::string words;   ///< Its last words.
    };
    /// Runs passing tests as their user would: in a copy of the tree at another place, with test files under other names, without
    /// recorder and AgentForge's variables. Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<PlainRun> run_plainly(const Language& language, const std::string& tree, const PlainSelection& selection,
                                               const Stop& stop);
    /// Returns the test files that a change of these source files affects. Empty optional: the runner cannot tell, so all.
    [[nodiscard]] Result<std::optional<std::vector<std::string>>> affected(const Language& language, const std::string& tree,
                                                                           const std::vector<std::string>& sources,
                                                                           const Stop& stop);
    /// Returns the runner for a tree, or nullptr if none is declared for it.
    [[nodiscard]] Result<const TestRunner*> runner(const Language& language, const std::string& tree);
    /// True if one of the kernel's runners runs the tests directly from the sources.
    [[nodiscard]] Result<bool> needs_no_build(const Language& language, const std::string& tree);
    /// Runs a helper that writes to standard output. `tree` empty: no tree is needed. `missing_is_error` false: returns an empty
    /// optional if the program is not installed. `files` fill in `{files}`.
    [[nodiscard]] Result<std::optional<ProcessOutcome>> run(const Language& language, const LanguageCommand& command,
                                                            const std::string& tree, const std::string& input, const Stop& stop,
                                                            bool missing_is_error = true,
                                                            const std::vector<std::string>& files = {});
    /// Returns the JSON objects that a helper wrote, up to its end mark. Errors: AF-GATE-003 it failed or wrote no end mark.
    [[nodiscard]] Result<std::vector<json::object>> run_for_lines(const Language& language, const std::string& command,
                                                                  const std::string& tree, const json::object& input,
                                                                  const Stop& stop);
    [[nodiscard]] const GateSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] const json::object& last_confinement() const noexcept { return confinement_; }
    [[nodiscard]] TreeCheckout& checkout() noexcept { return checkout_; }

private:
    /// The values for the words in braces of an argument.
    struct Filling {
        std::filesystem::path scratch;
        std::filesystem::path results;
        std::filesystem::path build;  ///< Empty: the command has none.
        std::string unique;
        std::string secret;
        std::vector<std::string> files;
        std::vector<std::string> names;
        std::vector<std::string> tests = {};
        std::filesystem::path root = {};    ///< Replaces the checked-out folder.
        std::filesystem::path before = {};  ///< The same folder without the change.
    };
    /// Replaces `{root}`, `{scratch}` and the other placeholders of a text.
    [[nodiscard]] static std::string fill(std::string text, const Language& language, const Filling& filling,
                                          const std::string& root);
    /// Replaces the placeholders of a command, and its program by the one that settings or dependencies name.
    [[nodiscard]] std::vector<std::string> filled_argv(const Language& language, const LanguageCommand& command,
                                                       const Filling& filling, const std::string& root) const;
    /// Adds what the process may read and write, and its limits.
    void confine(ProcessRequest& request, const Language& language, const Filling& filling) const;
    [[nodiscard]] ProcessRequest request(const Language& language, const LanguageCommand& command, const Filling& filling,
                                         const std::map<std::string, std::string>& environment, std::string input) const;
    /// `command`: its name for the log.
    [[nodiscard]] Result<ProcessOutcome> start(const Language& language, const std::string& command,
                                               const ProcessRequest& request, const Stop& stop);
    [[nodiscard]] Result<TestRun> run_helper(const Language& language, const TestRunner& runner, const TestSelection& selection,
                                             Filling& filling, const Stop& stop);
    /// Lists the tests with the runner's command `collect`.
    [[nodiscard]] Result<void> collect_tests(const Language& language, const TestRunner& runner, const Filling& filling,
                                             ReportContext& context, const Stop& stop);
    [[nodiscard]] Result<TestRun> run_native(const Language& language, const TestRunner& runner, const std::string& tree,
                                             const TestSelection& selection, Filling& filling, const Stop& stop);
    /// Writes into the checked-out folder, until the next tree is checked out.
    [[nodiscard]] Result<void> overwrite_files(const std::map<std::string, std::string>& files);
    [[nodiscard]] Result<BuildOutcome> run_build(const Language& language, const TestRunner& runner, const Filling& filling,
                                                 const Stop& stop);
    /// Places the canaries. Returns the filled-in paths in `paths`.
    [[nodiscard]] Result<std::vector<PlacedCanary>> place_canaries(const Language& language, const TestRunner& runner,
                                                                   const TestSelection& selection, const Filling& filling,
                                                                   std::vector<std::filesystem::path>& paths);
    [[nodiscard]] Result<std::filesystem::path> build_folder(const Language& language, const TestRunner& runner,
                                                             const std::string& tree, bool judged);
    /// Errors: AF-GATE-100 this output reports something missing whose fetch no one has approved.
    [[nodiscard]] Result<void> check_fetched(const std::string& output) const;
    /// If a command failed on a disk that accepts no writes, the result says nothing about the tree. Tests the disk if there is a
    /// reason: the output names such a failure, or it is `doubtful`, which means without a trusted result. Only the test decides.
    /// Errors: `io` AF-GATE-106.
    [[nodiscard]] Result<void> check_machine(const ProcessOutcome& outcome, bool doubtful) const;
    [[nodiscard]] Error machine_failed(const std::string& how) const;
    [[nodiscard]] ContentReader reader_of(const std::string& tree) const;

    TreeCheckout& checkout_;
    ProcessRunner& processes_;
    std::string scratch_directory_;
    std::map<std::string, std::string> environment_;
    GateSettings settings_;
    DependencySettings dependencies_;
    std::vector<Fetched> fetched_;                                       ///< Dependencies of the tree placed last.
    std::vector<std::pair<const SetupRule*, SetupStep>> tried_without_;  ///< Also of it: missing but not required dependencies.
    std::map<std::string, std::string> overlay_files_;
    json::object confinement_;
    std::shared_ptr<std::vector<GateCommand>> log_;  ///< May be null.
    std::string placed_;                             ///< The tree placed last.
    std::string purpose_;                            ///< Purpose of the current command.
    std::string trusted_;                            ///< The user's commit.
    /// By language and runner: folders of trees, the newest last.
    std::map<std::string, std::vector<std::string>> judged_folders_;
};

/// A run's own folder below the scratch directory. Deleted with its contents when the run is over.
class ScratchFolder {
public:
    /// Creates it with the folders home, tmp, canary and results.
    [[nodiscard]] static Result<std::unique_ptr<ScratchFolder>> make(const std::string& directory);
    explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// Removes what killed plain runs left among the temporary files, as named by the gates' folders below this one: the workspaces
/// of a killed replay, before they are removed.
void remove_plain_runs(const std::filesystem::path& folder);

/// True if a command ended because of a time limit or a signal that others send: then its failure says nothing about the tree.
[[nodiscard]] bool was_killed(const ProcessOutcome& outcome);

/// Reads a file that a run wrote: a regular file with one link, without following a symbolic link. Returns nothing if the run
/// left something else there, or more than `limit` bytes.
[[nodiscard]] std::optional<std::string> read_run_file(const std::filesystem::path& path, std::size_t limit);

}  // namespace agentforge::kernel
