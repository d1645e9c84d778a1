// SPDX-License-Identifier: Apache-2.0
// Runs a language's commands, confined: the tree can be read, scratch can be written, there is no network.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "gates/engine/results.hpp"
#include "gates/formats/line_counts.hpp"
#include "gates/language/language.hpp"
#include "gates/run/checkout.hpp"
#include "gates/run/command_log.hpp"
#include "gates/run/dependencies.hpp"
#include "gates/run/report_trust.hpp"
#include "sandbox/process.hpp"

namespace agentforge::kernel {

/// `gates:` of the settings.
struct GateSettings {
    std::map<std::string, std::string, std::less<>> programs;  ///< `python3: /home/me/venv/bin/python`
    std::map<std::string, std::chrono::seconds, std::less<>>
        timeouts;  ///< By command: tests, integration, tests_after_edit, setup, build, collect, affected, syntax, types, metrics,
                   ///< skeleton.
    std::map<std::string, std::int64_t, std::less<>> thresholds;  ///< By check id.
    std::vector<std::string> integration_tests;                   ///< Globs: test files that wait for the end of a phase.
    std::size_t mutants = 10;           ///< At most so many altered lines show whether new tests notice; 0: none.
    bool without_new_test = false;      ///< Delivers work without a new test, whatever the request's words.
    std::vector<std::string> readable;  ///< More that commands may read: a virtual environment.
    std::uint64_t max_processes = 512;  ///< Processes and threads that one command may have at once.
    std::vector<std::string>
        command;  ///< What `{command}` stands for, alone in an argument: the tests of the language `generic`.

    /// Errors: `invalid` AF-GATE-012 unknown key or wrong type.
    [[nodiscard]] static Result<GateSettings> read(const json::object& settings);
};

/// The variables of a language's toolchains (`toolchains` of its file), as the user has them or as they usually are.
[[nodiscard]] std::map<std::string, std::string> toolchains_of(const Language& language,
                                                               const std::map<std::string, std::string>& environment);

/// Which tests of a tree are run, and for what.
struct TestSelection {
    std::vector<std::string> files;
    std::vector<std::string> names;  ///< Single tests of the files, by the last part of their ids; empty: all. For runners with
                                     ///< `single`, which may run more.
    /// A phase is judged by it: the build folder is one that only this tree's runs could write to, so nothing that another tree
    /// left there counts. Otherwise it is the folder that is kept between the runs of a task: quick, for feedback.
    bool judged = false;
    std::string timeout =
        {};  ///< In place of `tests`, the setting that bounds it, where that is set: integration, tests_after_edit.
    std::map<std::string, std::string> instead = {};  ///< Path → bytes that stand in these plain files of the tree for this run;
                                                      ///< a path that the tree has not is one more file.
    std::optional<std::chrono::seconds> at_most = {};  ///< The run takes no longer, whatever the settings allow.
    std::string purpose = {};                          ///< GateCommand::purpose of the commands it runs.
    bool calls = false;  ///< The run has a file for the calls that varied functions tell (TestRun::calls).
    /// Judged: a tree that this one holds whole, in whose folder it is built; what that tree's build left there its own could
    /// leave as well.
    std::string built_in = {};
};

/// How the build of a tree went.
struct BuildOutcome {
    bool built = true;
    std::string problem;              ///< Not built: how it ended, in one sentence.
    std::string output;               ///< Of the step that failed: standard output, then standard error.
    std::vector<ToolMessage> errors;  ///< What `build_error` found in it.
};

/// AF-GATE-060: a language runs its tests by `gates.command`, which is not set.
[[nodiscard]] Error no_command(const std::string& language);

/// Where dependencies are, and who approves of fetching them; see GateRunner::Options.
struct DependencySettings {
    std::string directory;
    std::string setup = "ask";
};

class LanguageCommands {
public:
    LanguageCommands(TreeCheckout& checkout, ProcessRunner& processes, std::string scratch_directory,
                     std::map<std::string, std::string> environment, GateSettings settings, DependencySettings dependencies = {},
                     std::shared_ptr<std::vector<GateCommand>> log = {});

    /// Checks the tree out and lays what it depends on beside it, for the commands that follow.
    /// Errors: AF-GATE-100 dependencies were not fetched yet and nobody has approved it; AF-GATE-101 they could not be; git's
    /// own. Lays a link beside the tree unless it has such a file itself. Errors: AF-GATE-101.
    [[nodiscard]] Result<void> lay_beside(const std::string& name, const std::string& target);
    /// Lays readable folders beside the tree that are called as what the language would fetch (`node_modules`): the user has
    /// fetched it.
    [[nodiscard]] Result<void> lay_users_folders(const Language& language);
    [[nodiscard]] Result<void> place(const Language& language, const std::string& tree, const Stop& stop);
    /// From now on these files (path and content) stand in each tree that is checked out, in place of its own; none: as trees
    /// are.
    void stand_in(std::map<std::string, std::string> files) { stand_in_ = std::move(files); }
    [[nodiscard]] bool stands_in_nothing() const noexcept { return stand_in_.empty(); }
    /// Sets the user's commit. What compiling it leaves behind (a compiler cache) may be used for other trees.
    void trust(std::string tree) { trusted_ = std::move(tree); }
    /// What the tree depends on. Errors: git's own.
    [[nodiscard]] Result<std::vector<SetupStep>> setup_steps(const Language& language, const std::string& tree);
    /// Fetches what is not ready. Errors: as `fetch`.
    [[nodiscard]] Result<void> set_up(const Language& language, const std::string& tree, const Stop& stop);

    /// Builds and runs the tests of the selection on the tree, which is checked out first, with the canaries. A build that fails
    /// is a believed run in which each file is an error; a tree for which no runner is declared is a run that is not believed.
    /// Errors: AF-GATE-003 a program is missing; AF-GATE-005 cancelled; AF-GATE-040 a canary could not be put in its place; git's
    /// and the sandbox's own.
    [[nodiscard]] Result<TestRun> run_tests(const Language& language, const std::string& tree, const TestSelection& selection,
                                            const Stop& stop);
    /// The runner's build alone; nothing where it has none.
    [[nodiscard]] Result<BuildOutcome> build(const Language& language, const std::string& tree, bool judged, const Stop& stop);
    /// How often the lines of the tree are run by its tests, by the runner's coverage command.
    struct LinesRun {
        bool measured = false;
        std::string reason;   ///< Not measured: why, in one sentence; empty: the runner has no such command.
        bool failed = false;  ///< It should have been.
        LineCounts counts;
    };
    /// Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<LinesRun> lines_run(const Language& language, const std::string& tree,
                                             const std::vector<std::string>& tests, const Stop& stop);
    /// What is run plainly.
    struct PlainSelection {
        std::vector<std::string> files;
        std::vector<std::string>
            tests;  ///< Ids of the files that pass; run in the opposite order, where the runner takes single ones.
        std::vector<std::string> beside;  ///< Files that may call a test file by its name.
        bool all_pass = false;            ///< The whole suite does: for runners that run all of it.
        /// Files that the change touches, as they were before it; empty optional: not there. For `{before}`, a copy of the tree
        /// with these.
        std::map<std::string, std::optional<std::string>> before;
        std::chrono::seconds at_most{30};
    };
    struct PlainRun {
        bool measured = false;
        bool passed = false;
        std::string reason;  ///< Not measured: why.
        std::string words;   ///< Its last.
    };
    /// Tests that pass, run as their user would: in a copy of the tree at another place, test files under other names, without
    /// recorder and AgentForge's variables. Errors: AF-GATE-005 cancelled; git's and the sandbox's own.
    [[nodiscard]] Result<PlainRun> run_plainly(const Language& language, const std::string& tree, const PlainSelection& selection,
                                               const Stop& stop);
    /// Test files that a change of these source files affects; empty optional: the runner cannot tell, so all.
    [[nodiscard]] Result<std::optional<std::vector<std::string>>> affected(const Language& language, const std::string& tree,
                                                                           const std::vector<std::string>& sources,
                                                                           const Stop& stop);
    /// The runner that is used for a tree; nullptr: none is declared for it.
    [[nodiscard]] Result<const TestRunner*> runner(const Language& language, const std::string& tree);
    /// Runs a helper that answers on standard output; `tree` empty: no tree is needed. `missing_is_error` false: a program
    /// that is not installed gives an empty optional. `files` fill in `{files}`.
    [[nodiscard]] Result<std::optional<ProcessOutcome>> run(const Language& language, const LanguageCommand& command,
                                                            const std::string& tree, const std::string& input, const Stop& stop,
                                                            bool missing_is_error = true,
                                                            const std::vector<std::string>& files = {});
    /// The JSON objects that a helper wrote, up to its end mark. Errors: AF-GATE-003 it failed or has no end mark.
    [[nodiscard]] Result<std::vector<json::object>> run_for_lines(const Language& language, const std::string& command,
                                                                  const std::string& tree, const json::object& input,
                                                                  const Stop& stop);
    [[nodiscard]] const GateSettings& settings() const noexcept { return settings_; }
    [[nodiscard]] const json::object& last_confinement() const noexcept { return confinement_; }
    [[nodiscard]] TreeCheckout& checkout() noexcept { return checkout_; }

private:
    /// What the words in braces of an argument stand for.
    struct Filling {
        std::filesystem::path scratch;
        std::filesystem::path results;
        std::filesystem::path build;  ///< Empty: the command has none.
        std::string unique;
        std::string secret;
        std::vector<std::string> files;
        std::vector<std::string> names;
        std::vector<std::string> tests = {};
        std::filesystem::path root = {};    ///< In place of the folder that is checked out.
        std::filesystem::path before = {};  ///< The same folder without the change.
    };
    [[nodiscard]] ProcessRequest request(const Language& language, const LanguageCommand& command, const Filling& filling,
                                         const std::map<std::string, std::string>& environment, std::string input) const;
    /// `command`: its name for the log.
    [[nodiscard]] Result<ProcessOutcome> start(const Language& language, const std::string& command,
                                               const ProcessRequest& request, const Stop& stop);
    [[nodiscard]] Result<TestRun> run_helper(const Language& language, const TestRunner& runner, const TestSelection& selection,
                                             Filling& filling, const Stop& stop);
    [[nodiscard]] Result<TestRun> run_native(const Language& language, const TestRunner& runner, const std::string& tree,
                                             const TestSelection& selection, Filling& filling, const Stop& stop);
    /// Into the folder that is checked out, until the next tree is.
    [[nodiscard]] Result<void> put_instead(const std::map<std::string, std::string>& files);
    [[nodiscard]] Result<BuildOutcome> run_build(const Language& language, const TestRunner& runner, const Filling& filling,
                                                 const Stop& stop);
    /// Puts the canaries in their places. The paths that were filled in come back in `paths`.
    [[nodiscard]] Result<std::vector<PlacedCanary>> place_canaries(const Language& language, const TestRunner& runner,
                                                                   const TestSelection& selection, const Filling& filling,
                                                                   std::vector<std::filesystem::path>& paths);
    [[nodiscard]] Result<std::filesystem::path> build_folder(const Language& language, const TestRunner& runner,
                                                             const std::string& tree, bool judged);
    /// Errors: AF-GATE-100 this output says that something is missing which nobody has approved of fetching.
    [[nodiscard]] Result<void> check_fetched(const std::string& output) const;
    /// What a command that failed on a disk that takes no writes says nothing of the tree. The disk is tried where there is
    /// reason to: the output names such a failure, or is `doubtful`, that is without a result to believe. Only the trial decides.
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
    std::vector<Fetched> fetched_;                                       ///< Of the tree that was placed last.
    std::vector<std::pair<const SetupRule*, SetupStep>> tried_without_;  ///< The same: what is not there, and not required.
    std::map<std::string, std::string> stand_in_;
    json::object confinement_;
    std::shared_ptr<std::vector<GateCommand>> log_;  ///< May be null.
    std::string placed_;                             ///< The tree that was placed last.
    std::string purpose_;                            ///< Of the current command.
    std::string trusted_;                            ///< The user's commit.
    std::map<std::string, std::vector<std::string>>
        judged_folders_;  ///< By language and runner: folders of trees, the newest last.
};

/// One run's own folder below the scratch directory; gone, with all in it, when the run is over.
class ScratchFolder {
public:
    /// With the folders home, tmp, canary and results in it.
    [[nodiscard]] static Result<std::unique_ptr<ScratchFolder>> make(const std::string& directory);
    explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// A plain file of one link, read without following a symbolic link; nothing where the run made something else of it, or it is
/// larger than `limit`.
[[nodiscard]] std::optional<std::string> read_plain_file(const std::filesystem::path& path, std::size_t limit);

}  // namespace agentforge::kernel
