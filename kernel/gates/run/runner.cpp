// SPDX-License-Identifier: Apache-2.0
// Runs a language's tests: chooses the runner, builds, places the canaries, runs, and passes the results on to be judged.
#include <algorithm>
#include <array>
#include <set>

#include <re2/re2.h>

#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "gates/engine/helper_results.hpp"
#include "gates/failures.hpp"
#include "gates/formats/format.hpp"
#include "gates/run/language_commands.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_report_bytes = 64UL << 20U;
constexpr std::size_t max_report_files = 20'000;
constexpr std::size_t max_runner_output = 32UL << 20U;
constexpr std::size_t max_build_output = 4UL << 20U;

std::string folder_part(const std::string& file) {
    const auto slash = file.rfind('/');
    return slash == std::string::npos ? std::string{} : file.substr(0, slash);
}

void fill_in(std::string& text, const std::string& name, const std::string& value) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
        text.replace(at, name.size(), value);
    }
}

/// Returns every plain file below the folder, sorted. `problem` says what could not be read.
std::vector<std::pair<std::string, std::string>> read_reports(const fs::path& folder, std::string& problem) {
    std::vector<std::pair<std::string, std::string>> files;
    std::size_t bytes = 0;
    std::error_code failure;
    for (auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::none, failure);
         !failure && entry != fs::recursive_directory_iterator(); entry.increment(failure)) {
        if (entry->is_directory(failure) && !entry->is_symlink(failure)) { continue; }
        auto content = read_run_file(entry->path(), max_report_bytes - bytes);
        if (!content || files.size() == max_report_files) {
            problem = !content ? "a report is not a plain file, or the reports are too large" : "there are too many reports";
            break;
        }
        bytes += content->size();
        files.emplace_back(entry->path().lexically_relative(folder).generic_string(), std::move(*content));
    }
    if (failure && problem.empty()) { problem = "the reports could not be read: " + failure.message(); }
    std::sort(files.begin(), files.end());
    return files;
}

RunOutput output_of(const ProcessOutcome& outcome, const std::string& root) {
    RunOutput output;
    output.out = outcome.out;
    output.err = outcome.err;
    output.exit_code = outcome.exit_code;
    output.out_truncated = outcome.out_truncated;
    output.root = root;
    return output;
}

FormatResult parse_output(const std::string& name, const RunOutput& output) {
    const auto* format = find_format(name);
    if (format == nullptr) { return {{}, {}, "the format " + name + " is not known"}; }
    if (format->input == FormatInput::files && output.files.empty()) { return {{}, {}, "the runner wrote no report"}; }
    if (format->input == FormatInput::out && output.out_truncated) {
        return {{}, {}, "the runner wrote more than is kept of its output"};
    }
    return format->parse(output);
}

constexpr std::size_t most_build_errors = 8;  ///< Shown at once. Later ones often follow from earlier ones.

/// Represents a failed build as a run: nothing ran, and each file is an error. A file's own error is preferred to those of
/// others.
TestRun not_built(const BuildOutcome& built, const TestSelection& selection) {
    TestRun run;
    run.trusted = true;
    run.not_built = !selection.files.empty();
    const auto words_of = [&built](const std::string& file) {
        std::string text;
        std::size_t listed = 0;
        for (const auto& each : built.errors) {
            if ((!file.empty() && each.file != file) || listed == most_build_errors) { continue; }
            text +=
                (listed++ == 0 ? "" : "\n") + each.file + ":" + std::to_string(each.line) + ": " + ellipsis(each.message, 500);
        }
        return text;
    };
    const auto why = built.errors.empty() ? built.problem : words_of("");
    for (const auto& file : selection.files) {
        const auto own =
            std::find_if(built.errors.begin(), built.errors.end(), [&](const auto& each) { return each.file == file; });
        run.tests.push_back({file, file, file, own == built.errors.end() ? 0 : own->line, TestStatus::error,
                             "does not build: " + (own == built.errors.end() ? why : words_of(file))});
    }
    return run;
}

/// Messages of a program that cannot create more processes or threads, from the system and the languages' libraries.
constexpr std::array<std::string_view, 5> no_more_processes{"Resource temporarily unavailable", "can't start new thread",
                                                            "unable to create native thread", "failed to create new OS thread",
                                                            "failed to spawn thread"};

/// Names the setting if a run reached its limit of processes. As root, the sandbox ends such a run and reports it. Otherwise the
/// kernel refuses the next process, and only the test's message shows it.
void name_process_limit(TestRun& run, std::uint64_t limit) {
    const auto setting = std::to_string(limit) + " processes and threads at once, the limit that gates.max_processes sets";
    if (const auto* ended = run.confinement.if_contains("limit")) {
        run.trusted = false;
        run.distrust =
            *ended == json::value("processes")
                ? "the tests were stopped because they had more than " + setting
                : "the tests were stopped because together they took more than their share of " + std::string(ended->as_string());
        for (auto& test : run.tests) {
            test.status = TestStatus::error;
            test.message = ellipsis("not trusted: " + run.distrust, 500);
        }
        return;
    }
    for (auto& test : run.tests) {
        const bool refused = std::any_of(no_more_processes.begin(), no_more_processes.end(),
                                         [&](auto words) { return test.message.find(words) != std::string::npos; });
        if (!is_failure(test.status) || !refused) { continue; }
        run.notes.push_back(test.id + " may have needed more than " + setting);
        test.message = ellipsis(test.message, 350) + " (perhaps more than " + setting + ")";
    }
}

}  // namespace

ContentReader LanguageCommands::reader_of(const std::string& tree) const {
    return [this, tree](const std::string& path) { return checkout_.file(tree, path); };
}

Error no_command(const std::string& language) {
    return {"AF-GATE-060", "The language " + language + " needs a command to run its tests, but no setting names it.",
            "gates.command", "Set gates.command to a program with arguments that prints TAP or writes JUnit XML below {results}.",
            ErrorKind::invalid};
}

Result<const TestRunner*> LanguageCommands::runner(const Language& language, const std::string& tree) {
    AF_TRY(const auto files, checkout_.files(tree));
    return choose_runner(language, files, reader_of(tree));
}

Result<bool> LanguageCommands::needs_no_build(const Language& language, const std::string& tree) {
    AF_TRY(const auto* chosen, runner(language, tree));
    return chosen != nullptr && chosen->format == "agentforge-lines";
}

Result<fs::path> LanguageCommands::build_folder(const Language& language, const TestRunner& runner, const std::string& tree,
                                                bool judged) {
    const auto parent = fs::path(scratch_directory_) / "build";
    const auto stem = language.name + "-" + runner.name;
    const auto name = stem + (judged ? "-tree-" + tree.substr(0, 20) : "-kept");
    if (judged) {
        // RED's tree is measured again at the end of GREEN, and both when REFACTOR ends: keeps the newest ones.
        constexpr std::size_t kept_trees = 3;
        auto& order = judged_folders_[stem];
        std::erase(order, name);
        order.push_back(name);
        if (order.size() > kept_trees) { order.erase(order.begin()); }
        std::error_code ignored;
        for (const auto& entry : fs::directory_iterator(parent, ignored)) {
            const auto other = entry.path().filename().string();
            const bool newer = std::find(order.begin(), order.end(), other) != order.end();
            if (!newer && other.starts_with(stem + "-tree-")) { fs::remove_all(entry.path(), ignored); }
        }
    }
    AF_CHECK(make_directories(parent / name));
    return parent / name;
}

Result<BuildOutcome> LanguageCommands::run_build(const Language& language, const TestRunner& runner, const Filling& filling,
                                                 const Stop& stop) {
    BuildOutcome built;
    // Compiler output of the user's own commit is valid for later trees. They only read it: their own builds could leave anything
    // there.
    const auto compiled = fs::path(scratch_directory_) / "build" / "compiled";
    std::error_code none;
    const bool fresh = !filling.build.empty() && fs::is_empty(filling.build, none) && !none;
    const bool writes = fresh && !trusted_.empty() && placed_ == trusted_ && overlay_files_.empty() && purpose_.empty();
    AF_CHECK(make_directories(compiled));
    for (const auto& step : runner.build) {
        auto call = request(language, step, filling, runner.environment, "");
        call.environment["CCACHE_DIR"] = compiled.string();
        call.environment["CCACHE_TEMPDIR"] = (filling.scratch / "tmp").string();
        call.environment["CCACHE_NOHASHDIR"] = "1";
        call.environment["CCACHE_NOSTATS"] = "1";
        (writes ? call.confinement.writable : call.confinement.readable).push_back(compiled.string());
        if (!writes) { call.environment["CCACHE_READONLY"] = "1"; }
        call.max_output_bytes = max_build_output;
        AF_TRY(const auto outcome, start(language, "build", call, stop));
        if (outcome.exit_code == 0 && !outcome.timed_out) { continue; }
        built.built = false;
        built.output = sanitize_utf8(outcome.out + outcome.err);
        built.errors = find_messages(runner.build_error, built.output, checkout_.path().string());
        std::erase_if(built.errors, [&](const auto& error) {
            return error.file.starts_with(language.directory + "/");
        });  // From our own helper.
        const auto words = last_output_line(outcome.err.empty() ? outcome.out : outcome.err);
        AF_CHECK(check_fetched(built.output));
        AF_CHECK(check_machine(outcome, true));
        built.problem = outcome.timed_out
                            ? "the build did not finish within " +
                                  std::to_string(std::chrono::duration_cast<std::chrono::seconds>(call.timeout).count()) + " s"
                            : "`" + fs::path(call.argv.front()).filename().string() + "` ended with exit code " +
                                  std::to_string(outcome.exit_code) + (words.empty() ? "" : " (" + words + ")");
        return built;
    }
    return built;
}

Result<BuildOutcome> LanguageCommands::build(const Language& language, const std::string& tree, bool judged, const Stop& stop) {
    AF_TRY(const auto* chosen, runner(language, tree));
    if (chosen == nullptr || chosen->build.empty()) { return BuildOutcome{}; }
    AF_CHECK(place(language, tree, stop));
    AF_TRY(const auto scratch, ScratchFolder::make(scratch_directory_));
    Filling filling;
    filling.scratch = scratch->path();
    filling.results = scratch->path() / "results";
    AF_TRY(filling.build, build_folder(language, *chosen, tree, judged));
    return run_build(language, *chosen, filling, stop);
}

Result<std::vector<PlacedCanary>> LanguageCommands::place_canaries(const Language& language, const TestRunner& runner,
                                                                   const TestSelection& selection, const Filling& filling,
                                                                   std::vector<fs::path>& paths) {
    std::vector<PlacedCanary> placed;
    std::map<std::string, std::string> folders;  // With the first file of each.
    for (const auto& file : selection.files) { folders.emplace(folder_part(file), file); }
    const bool alone = folders.empty();  // Without test files, the canaries show that the runner works.
    if (alone) { folders.emplace("", ""); }
    for (const auto& canary : runner.canaries) {
        const bool needs_a_test = !canary.fill.empty() || canary.path.find("{directory}") != std::string::npos;
        if (alone && needs_a_test) { continue; }
        if (canary.path.empty()) {
            placed.push_back({"", true, canary.tests});
            continue;
        }
        AF_TRY(const auto source, read_file(fs::path(language.directory) / canary.source));
        const bool beside = canary.path.find("{directory}") != std::string::npos;
        for (const auto& [folder, file] : folders) {
            auto path = canary.path;
            fill_in(path, "{scratch}", filling.scratch.string());
            fill_in(path, "{build}", filling.build.string());
            fill_in(path, "{root}", checkout_.path().string());
            fill_in(path, "{directory}", (folder.empty() ? checkout_.path() : checkout_.path() / folder).string());
            fill_in(path, "{unique}", filling.unique);
            auto text = source;
            fill_in(text, "{unique}", filling.unique);
            for (const auto& [key, pattern] : canary.fill) {
                AF_TRY(const auto content, read_file(checkout_.path() / file));
                std::string value;
                if (!RE2::PartialMatch(content, RE2(pattern, RE2::Quiet), &value)) {
                    return Error{"AF-GATE-040",
                                 "The canary of " + language.name + " needs `" + key + "`, but its pattern matches nothing in " +
                                     file + ".",
                                 file, "Correct the test file, or the pattern under canaries in the language file.",
                                 ErrorKind::invalid};
                }
                fill_in(text, "{" + key + "}", value);
            }
            AF_CHECK(make_directories(fs::path(path).parent_path()));
            AF_CHECK(create_file_exclusive(path, text, Durability::cached));
            paths.emplace_back(path);
            placed.push_back({folder, !beside, canary.tests});
            if (!beside) { break; }
        }
    }
    return placed;
}

Result<void> LanguageCommands::overwrite_files(const std::map<std::string, std::string>& files) {
    for (const auto& [path, content] : files) {
        // Never writes through a link: removes the old name and creates a new file.
        const auto place = checkout_.path() / path;
        std::error_code failure;
        const auto status = fs::symlink_status(place, failure);
        fs::remove(place, failure);
        AF_CHECK(make_directories(place.parent_path()));
        AF_CHECK(create_file_exclusive(place, content, Durability::cached));
        if (fs::is_regular_file(status)) { fs::permissions(place, status.permissions(), failure); }
    }
    return {};
}

Result<TestRun> LanguageCommands::run_tests(const Language& language, const std::string& tree, const TestSelection& selection,
                                            const Stop& stop) {
    AF_TRY(const auto* chosen, runner(language, tree));
    std::optional<TestRunner> bounded;
    if (chosen != nullptr && settings_.timeouts.contains(selection.timeout)) {
        bounded = *chosen;
        bounded->run.name = selection.timeout;
        chosen = &*bounded;
    }
    if (chosen != nullptr && selection.at_most) {
        const auto known = settings_.timeouts.find(chosen->run.name);
        bounded = *chosen;
        bounded->run.timeout =
            std::min(known == settings_.timeouts.end() ? chosen->run.timeout : known->second, *selection.at_most);
        bounded->run.name = "";  // No setting applies.
        chosen = &*bounded;
    }
    if (chosen == nullptr) {
        TestRun run;
        run.tree = tree;
        run.distrust = "nothing in the project says how " + language.name + "'s tests are run (looked for:";
        for (const auto& each : language.runners) { run.distrust += " " + each.name; }
        run.distrust += ")";
        return run;
    }
    const auto& argv = chosen->run.argv;
    if (settings_.command.empty() && std::find(argv.begin(), argv.end(), "{command}") != argv.end()) {
        return no_command(language.name);
    }
    AF_CHECK(place(language, tree, stop));
    AF_CHECK(overwrite_files(selection.instead));
    AF_TRY(const auto scratch, ScratchFolder::make(scratch_directory_));
    SystemIdSource ids;
    Filling filling;
    filling.scratch = scratch->path();
    filling.results = scratch->path() / "results" / ids.random_hex(24);
    filling.unique = ids.random_hex(12);
    filling.secret = ids.random_hex(32);
    filling.files = selection.files;
    filling.names = selection.names;
    purpose_ = selection.purpose;
    auto run = chosen->format == "agentforge-lines" ? run_helper(language, *chosen, selection, filling, stop)
                                                    : run_native(language, *chosen, tree, selection, filling, stop);
    purpose_.clear();
    if (!run.ok()) { return run; }
    name_process_limit(*run, settings_.max_processes);
    run->tree = tree;
    run->runner = chosen->name;
    run->kept_build = !selection.judged && !filling.build.empty();
    return run;
}

Result<TestRun> LanguageCommands::run_helper(const Language& language, const TestRunner& runner, const TestSelection& selection,
                                             Filling& filling, const Stop& stop) {
    SystemIdSource ids;
    std::vector<fs::path> canaries;
    AF_TRY(const auto placed, place_canaries(language, runner, selection, filling, canaries));
    RunExpectation expected{ids.random_hex(32), 0, runner.run.timeout};
    for (const auto& each : placed) { expected.canary_tests += each.tests; }
    json::array list;
    for (const auto& file : selection.files) { list.emplace_back(file); }
    const json::object input{{"root", checkout_.path().string()},
                             {"files", std::move(list)},
                             {"canary", canaries.empty() ? std::string{} : canaries.front().string()},
                             {"results", filling.results.string()},
                             {"nonce", expected.nonce},
                             {"marker", language.skeleton_marker}};
    const auto call = request(language, runner.run, filling, runner.environment, json::serialize(input));
    expected.timeout = std::chrono::duration_cast<std::chrono::seconds>(call.timeout);
    AF_TRY(const auto outcome, start(language, "tests", call, stop));
    auto run = read_test_lines(read_run_file(filling.results, max_report_bytes).value_or(""), expected, outcome);
    if (!run.machine.empty()) { return machine_failed(run.machine); }
    AF_CHECK(check_machine(outcome, may_be_machine_failure(run)));
    return run;
}

namespace {

/// Finds where the test files declare tests: in the whole tree, and in each folder. `declaration`: the runner's.
Result<void> find_declared(TreeCheckout& checkout, const std::string& tree, const std::string& declaration,
                           ReportContext& context) {
    std::vector<std::pair<std::string, std::string>> contents;
    for (const auto& file : context.test_files) {
        AF_TRY(auto content, checkout.file(tree, file));
        if (content) { contents.emplace_back(file, std::move(*content)); }
    }
    context.declared = declared_in(declaration, contents);
    std::map<std::string, std::vector<std::pair<std::string, std::string>>> by_folder;
    for (auto& each : contents) {
        by_folder[each.first.substr(0, each.first.rfind('/') == std::string::npos ? 0 : each.first.rfind('/') + 1)].push_back(
            std::move(each));
    }
    for (const auto& [folder, files] : by_folder) {
        for (const auto& [name, file] : declared_in(declaration, files)) { context.declared_beside[{folder, name}] = file; }
    }
    return {};
}

}  // namespace

Result<void> LanguageCommands::collect_tests(const Language& language, const TestRunner& runner, const Filling& filling,
                                             ReportContext& context, const Stop& stop) {
    const auto call = request(language, *runner.collect, filling, runner.environment, "");
    AF_TRY(const auto outcome, start(language, "collect", call, stop));
    AF_CHECK(check_machine(outcome, true));
    std::string problem;
    auto output = output_of(outcome, context.root);
    output.files = read_reports(filling.results, problem);
    context.collected = parse_output(runner.collect_format, output);
    if (outcome.timed_out) { problem = "the runner did not finish in time"; }
    if (!problem.empty()) { context.collected->problem = problem; }
    return {};
}

Result<TestRun> LanguageCommands::run_native(const Language& language, const TestRunner& runner, const std::string& tree,
                                             const TestSelection& selection, Filling& filling, const Stop& stop) {
    AF_CHECK(make_directories(filling.results));
    const auto& folder_of = selection.built_in.empty() ? tree : selection.built_in;
    AF_TRY(filling.build, build_folder(language, runner, overlay_files_.empty() ? folder_of : "instead-" + tree,
                                       selection.judged || !overlay_files_.empty()));
    ReportContext context;
    context.runner = &runner;
    context.unique = filling.unique;
    context.marker = language.skeleton_marker;
    context.root = checkout_.path().string();
    context.files = selection.files;
    AF_TRY(context.test_files, checkout_.files(tree));
    std::erase_if(context.test_files,
                  [&](const auto& file) { return !language.tests.matches(file) && !language.may_hold_tests(file); });
    std::sort(context.test_files.begin(), context.test_files.end());
    std::vector<fs::path> paths;
    AF_TRY(context.canaries, place_canaries(language, runner, selection, filling, paths));
    context.build = filling.build.string();
    // The project controls what a build runs. It could keep the secret and write what only the recorder may.
    auto unarmed = filling;
    unarmed.secret.clear();
    AF_TRY(const auto built, run_build(language, runner, unarmed, stop));
    if (!built.built) {
        auto run = not_built(built, selection);
        run.confinement = confinement_;
        return run;
    }
    if (!runner.declaration.empty()) { AF_CHECK(find_declared(checkout_, tree, runner.declaration, context)); }
    if (runner.collect) { AF_CHECK(collect_tests(language, runner, filling, context, stop)); }
    const auto& command = runner.single && !selection.names.empty() ? *runner.single : runner.run;
    auto call = request(language, command, filling, runner.environment, "");
    call.max_output_bytes = max_runner_output;
    const auto calls = filling.scratch / "calls";
    if (selection.calls) { call.environment["AGENTFORGE_CALLS"] = calls.string(); }
    context.timeout = std::chrono::duration_cast<std::chrono::seconds>(call.timeout);
    AF_TRY(const auto outcome, start(language, "tests", call, stop));
    std::string problem;
    auto output = output_of(outcome, context.root);
    output.files = read_reports(filling.results, problem);
    output.secret = filling.secret;
    output.scratch = scratch_directory_;
    if (outcome.exit_code != 0) { AF_CHECK(check_fetched(outcome.out + outcome.err)); }
    auto report = parse_output(runner.format, output);
    if (!problem.empty()) { report.problem = problem; }
    auto run = judge_report(report, context, outcome);
    if (selection.calls) { run.calls = read_run_file(calls, max_report_bytes).value_or(""); }
    AF_CHECK(check_machine(outcome, may_be_machine_failure(run)));
    return run;
}

namespace {

/// Says why a coverage command that failed has measured nothing. The command itself may print the reason. If it was killed,
/// nobody knows what the tests run.
LanguageCommands::LinesRun lines_not_measured(const ProcessOutcome& outcome) {
    constexpr std::string_view said = "agentforge: not measured: ";
    const auto text = outcome.out + "\n" + outcome.err;
    const auto at = text.rfind(said);
    LanguageCommands::LinesRun result;
    const bool killed = was_killed(outcome);
    result.failed = at == std::string::npos && !killed;
    if (killed) {
        result.reason = outcome.timed_out
                            ? "the coverage command did not finish in time"
                            : "the coverage command was killed (exit code " + std::to_string(outcome.exit_code) + ")";
    } else if (result.failed) {
        result.reason =
            "the coverage command ended with exit code " + std::to_string(outcome.exit_code) + ": " + last_output_line(text);
    } else {
        const auto begin = at + said.size();
        result.reason = ellipsis(sanitize_utf8(text.substr(begin, text.find('\n', at) - begin)), 300);
    }
    return result;
}

}  // namespace

Result<LanguageCommands::LinesRun> LanguageCommands::lines_run(const Language& language, const std::string& tree,
                                                               const std::vector<std::string>& tests, const Stop& stop) {
    LinesRun result;
    AF_TRY(const auto* chosen, runner(language, tree));
    if (chosen == nullptr || !chosen->coverage) { return result; }
    AF_CHECK(place(language, tree, stop));
    AF_TRY(const auto scratch, ScratchFolder::make(scratch_directory_));
    SystemIdSource ids;
    Filling filling;
    filling.scratch = scratch->path();
    filling.results = scratch->path() / "results";
    filling.unique = ids.random_hex(12);
    filling.files = tests;
    // Built differently from the tests, so in another folder. Kept between the trees of a task, because it proves nothing.
    filling.build = fs::path(scratch_directory_) / "build" / (language.name + "-" + chosen->name + "-coverage");
    AF_CHECK(make_directories(filling.build));
    auto call = request(language, *chosen->coverage, filling, chosen->environment, "");
    call.max_output_bytes = max_build_output;
    auto outcome = start(language, "coverage", call, stop);
    if (!outcome.ok()) {
        if (!is_failed_command(outcome.error())) { return std::move(outcome).error(); }
        result.reason = outcome.error().message;
        return result;
    }
    AF_CHECK(check_machine(*outcome, true));
    if (outcome->exit_code != 0 || outcome->timed_out) { return lines_not_measured(*outcome); }
    CoverageReportInput input;
    std::string problem;
    input.reports = read_reports(filling.results, problem);
    input.roots = {checkout_.path().string(), (filling.build / "tree").string()};
    AF_TRY(input.sources, checkout_.files(tree));
    std::erase_if(input.sources, [&](const std::string& file) { return !language.sources.matches(file); });
    auto counts =
        problem.empty()
            ? read_line_counts(chosen->coverage_format, input)
            : Error{"AF-GATE-161", problem, "",
                    "Measure again. If that does not help, this version of the coverage tool may write a different format.",
                    ErrorKind::invalid};
    if (!counts.ok()) {
        result.failed = true;
        result.reason = counts.error().message + (counts.error().where.empty() ? "" : " (" + counts.error().where + ")");
        return result;
    }
    result.measured = true;
    result.counts = std::move(counts).value();
    return result;
}

Result<std::optional<std::vector<std::string>>> LanguageCommands::affected(const Language& language, const std::string& tree,
                                                                           const std::vector<std::string>& sources,
                                                                           const Stop& stop) {
    AF_TRY(const auto* chosen, runner(language, tree));
    if (chosen == nullptr || !chosen->affected || sources.empty()) { return std::optional<std::vector<std::string>>{}; }
    AF_CHECK(place(language, tree, stop));
    AF_TRY(const auto scratch, ScratchFolder::make(scratch_directory_));
    Filling filling;
    filling.scratch = scratch->path();
    filling.results = scratch->path() / "results";
    filling.files = sources;
    AF_TRY(filling.build, build_folder(language, *chosen, tree, false));
    AF_TRY(const auto outcome,
           start(language, "affected", request(language, *chosen->affected, filling, chosen->environment, ""), stop));
    // If it fails or is useless, that costs time but never a test: everything runs.
    if (outcome.exit_code != 0 || outcome.timed_out || outcome.out_truncated) {
        return std::optional<std::vector<std::string>>{};
    }
    std::vector<std::string> files;
    std::string_view text = outcome.out;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto file = path_in_tree(text.substr(0, end), checkout_.path().string());
        if (language.tests.matches(file)) { files.push_back(std::move(file)); }
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    std::sort(files.begin(), files.end());
    files.erase(std::unique(files.begin(), files.end()), files.end());
    return std::optional(std::move(files));
}

}  // namespace agentforge::kernel
