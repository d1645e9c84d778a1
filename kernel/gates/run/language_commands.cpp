// SPDX-License-Identifier: Apache-2.0
#include "gates/run/language_commands.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>
#include <system_error>
#include <thread>

#include <re2/re2.h>

#include "base/disk_failure.hpp"
#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "gates/failures.hpp"
#include "sandbox/failures.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_helper_output = 32UL << 20U;

void replace_all(std::string& text, std::string_view name, std::string_view value) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
        text.replace(at, name.size(), value);
    }
}

/// True if a text contains the system's messages for a disk that cannot be read.
bool names_failing_read(std::string_view output) {
    return output.find("Input/output error") != std::string_view::npos || output.find("EIO") != std::string_view::npos;
}

std::vector<fs::path> plain_files(const fs::path& root) {
    std::vector<fs::path> files;
    std::error_code error;
    for (fs::recursive_directory_iterator each(root, fs::directory_options::skip_permission_denied, error), end;
         !error && each != end; each.increment(error)) {
        if (each->symlink_status(error).type() == fs::file_type::regular) { files.push_back(each->path()); }
    }
    return files;
}

Error wrong_setting(const std::string& key, const std::string& what) {
    return {"AF-GATE-012", "The setting `gates." + key + "` " + what + ".", "gates." + key,
            "See `agentforge help docs/gates.md` for the settings of gates.", ErrorKind::invalid};
}

}  // namespace

std::map<std::string, std::string> toolchains_of(const Language& language,
                                                 const std::map<std::string, std::string>& environment) {
    std::map<std::string, std::string> found;
    const auto home = environment.find("HOME");
    for (const auto& [name, folder] : language.toolchains) {
        if (const auto given = environment.find(name); given != environment.end() && !given->second.empty()) {
            found[name] = given->second;
            continue;
        }
        if (folder.empty() || home == environment.end() || home->second.empty()) { continue; }
        std::error_code none;
        const auto usual = std::filesystem::path(home->second) / folder;
        if (std::filesystem::is_directory(usual, none)) { found[name] = usual.string(); }
    }
    return found;
}

namespace {

Result<void> read_texts(const std::string& key, const json::value& value, const std::string& wanted,
                        std::vector<std::string>& texts) {
    const auto* list = value.if_array();
    if (list == nullptr) { return wrong_setting(key, wanted); }
    for (const auto& item : *list) {
        if (!item.is_string()) { return wrong_setting(key, wanted); }
        texts.emplace_back(item.get_string());
    }
    return {};
}

Result<void> read_max_processes(const json::value& value, GateSettings& settings) {
    const auto* number = value.if_int64();
    if (number == nullptr || *number < 16) { return wrong_setting("max_processes", "must be a whole number of at least 16"); }
    settings.max_processes = static_cast<std::uint64_t>(*number);
    return {};
}

Result<void> read_mutants(const json::value& value, GateSettings& settings) {
    const auto* number = value.if_int64();
    if (number == nullptr || *number < 0 || *number > 10) {
        return wrong_setting("mutants", "must be a whole number from 0 to 10");
    }
    settings.mutants = static_cast<std::size_t>(*number);
    return {};
}

Result<void> read_without_new_test(const json::value& value, GateSettings& settings) {
    const std::string text = value.is_string() ? std::string(value.get_string()) : std::string();
    if (text != "by_request" && text != "always") {
        return wrong_setting("without_new_test", "must be `by_request` or `always`");
    }
    settings.without_new_test = text == "always";
    return {};
}

Result<void> check_command_name(const std::string& setting, const std::string& name) {
    const std::vector<std::string> commands{"tests", "integration", "tests_after_edit", "setup",
                                            "build", "collect",     "affected",         "syntax",
                                            "types", "metrics",     "skeleton",         "coverage"};
    if (std::find(commands.begin(), commands.end(), name) != commands.end()) { return {}; }
    return wrong_setting(
        setting,
        "names no command (tests, integration, tests_after_edit, setup, build, collect, affected, syntax, types, metrics, skeleton, coverage)");
}

/// Reads one entry of `programs`, `timeouts` or `thresholds`.
Result<void> read_entry(const std::string& key, const std::string& name, const json::value& value, GateSettings& settings) {
    const auto whole = key + "." + name;
    if (key == "programs") {
        if (!value.is_string()) { return wrong_setting(whole, "must be a program's path"); }
        settings.programs[name] = std::string(value.get_string());
        return {};
    }
    if (!value.is_int64() || value.get_int64() < 1) { return wrong_setting(whole, "must be a whole number above 0"); }
    if (key == "timeouts") {
        AF_CHECK(check_command_name(whole, name));
        settings.timeouts[name] = std::chrono::seconds(value.get_int64());
    } else {
        settings.thresholds[name] = value.get_int64();
    }
    return {};
}

Result<void> read_setting(const std::string& key, const json::value& value, GateSettings& settings) {
    if (key == "max_processes") { return read_max_processes(value, settings); }
    if (key == "readable") { return read_texts(key, value, "must be a list of folders", settings.readable); }
    if (key == "command") { return read_texts(key, value, "must be a list: a program and its arguments", settings.command); }
    if (key == "integration_tests") { return read_texts(key, value, "must be a list of globs", settings.integration_tests); }
    if (key == "mutants") { return read_mutants(value, settings); }
    if (key == "without_new_test") { return read_without_new_test(value, settings); }
    const auto* map = value.if_object();
    if (map == nullptr) { return wrong_setting(key, "must be a mapping"); }
    for (const auto& entry : *map) { AF_CHECK(read_entry(key, std::string(entry.key()), entry.value(), settings)); }
    return {};
}

}  // namespace

Result<GateSettings> GateSettings::read(const json::object& settings) {
    GateSettings result;
    const std::vector<std::string> known{"programs", "timeouts",      "thresholds", "readable",        "integration_tests",
                                         "command",  "max_processes", "mutants",    "without_new_test"};
    for (const auto& field : settings) {
        const std::string key(field.key());
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            const auto near = nearest(key, known);
            return wrong_setting(key, near.empty() ? "is not known" : "is not known; did you mean `" + near + "`");
        }
        AF_CHECK(read_setting(key, field.value(), result));
    }
    return result;
}

Result<std::unique_ptr<ScratchFolder>> ScratchFolder::make(const std::string& directory) {
    SystemIdSource ids;
    auto scratch = std::make_unique<ScratchFolder>(std::filesystem::path(directory) / ("run-" + ids.random_hex(16)));
    for (const auto* name : {"home", "tmp", "canary", "results"}) { AF_CHECK(make_directories(scratch->path() / name)); }
    ::chmod(scratch->path().c_str(), 0700);
    return scratch;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;  // What a hostile run protected against removal stays below the scratch directory.
    std::filesystem::remove_all(path_, ignored);
}

std::optional<std::string> read_run_file(const std::filesystem::path& path, std::size_t limit) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat info {};
    if (!file.valid() || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) { return std::nullopt; }
    if (info.st_size < 0 || static_cast<std::size_t>(info.st_size) > limit) { return std::nullopt; }
    std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        const auto count = ::read(file.get(), bytes.data() + have, bytes.size() - have);
        if (count <= 0) { break; }
        have += static_cast<std::size_t>(count);
    }
    bytes.resize(have);
    return bytes;
}

LanguageCommands::LanguageCommands(TreeCheckout& checkout, ProcessRunner& processes, std::string scratch_directory,
                                   std::map<std::string, std::string> environment, GateSettings settings,
                                   DependencySettings dependencies, std::shared_ptr<std::vector<GateCommand>> log)
    : checkout_(checkout),
      processes_(processes),
      scratch_directory_(std::filesystem::absolute(scratch_directory).string()),
      environment_(std::move(environment)),
      settings_(std::move(settings)),
      dependencies_(std::move(dependencies)),
      log_(std::move(log)) {}

std::string LanguageCommands::fill(std::string text, const Language& language, const Filling& filling, const std::string& root) {
    replace_all(text, "{scratch}", filling.scratch.string());
    replace_all(text, "{results}", filling.results.string());
    replace_all(text, "{build}", filling.build.string());
    replace_all(text, "{language}", language.directory);
    replace_all(text, "{root}", root);
    replace_all(text, "{before}", filling.before.string());
    replace_all(text, "{unique}", filling.unique);
    replace_all(text, "{secret}", filling.secret);
    replace_all(text, "{jobs}", std::to_string(std::max(1U, std::thread::hardware_concurrency())));
    if (const auto at = text.find("{names:"); at != std::string::npos) {
        const auto end = text.find('}', at);
        const auto separator = end == std::string::npos ? std::string{} : text.substr(at + 7, end - at - 7);
        std::string all;
        for (const auto& name : filling.names) { all += (all.empty() ? "" : separator) + name; }
        if (end != std::string::npos) { text.replace(at, end - at + 1, all); }
    }
    if (filling.files.size() == 1) { replace_all(text, "{file}", filling.files.front()); }
    return text;
}

std::vector<std::string> LanguageCommands::filled_argv(const Language& language, const LanguageCommand& command,
                                                       const Filling& filling, const std::string& root) const {
    std::vector<std::string> argv;
    for (const auto& argument : command.argv) {
        if (argument == "{files}") {
            argv.insert(argv.end(), filling.files.begin(), filling.files.end());
        } else if (argument == "{tests}") {
            argv.insert(argv.end(), filling.tests.begin(), filling.tests.end());
        } else if (argument == "{command}") {
            for (const auto& word : settings_.command) { argv.push_back(fill(word, language, filling, root)); }
        } else if (argument == "{names}") {
            argv.insert(argv.end(), filling.names.begin(), filling.names.end());
        } else if (argument == "{directories}") {
            std::set<std::string> folders;
            for (const auto& file : filling.files) {
                const auto slash = file.rfind('/');
                folders.insert(slash == std::string::npos ? "." : "./" + file.substr(0, slash));
            }
            argv.insert(argv.end(), folders.begin(), folders.end());
        } else {
            argv.push_back(fill(argument, language, filling, root));
        }
    }
    for (const auto& fetched : fetched_) {
        if (const auto program = fetched.programs.find(argv.front());
            program != fetched.programs.end() && !settings_.programs.contains(program->first)) {
            argv.front() = program->second;
            break;
        }
    }
    if (const auto program = settings_.programs.find(argv.front()); program != settings_.programs.end()) {
        argv.front() = program->second;
    }
    return argv;
}

void LanguageCommands::confine(ProcessRequest& request, const Language& language, const Filling& filling) const {
    request.confinement.readable.push_back(checkout_.top().string());
    std::error_code none;  // A language without helpers has no folder.
    if (std::filesystem::is_directory(language.directory, none)) { request.confinement.readable.push_back(language.directory); }
    request.confinement.readable.insert(request.confinement.readable.end(), settings_.readable.begin(), settings_.readable.end());
    for (const auto& fetched : fetched_) { request.confinement.readable.push_back(fetched.folder); }
    const auto programs = program_folders(environment_);
    request.confinement.readable.insert(request.confinement.readable.end(), programs.begin(), programs.end());
    request.confinement.writable = {filling.scratch.string()};
    if (!filling.build.empty()) { request.confinement.writable.push_back(filling.build.string()); }
    request.confinement.network = Network::none;
    request.confinement.max_processes = settings_.max_processes;
}

ProcessRequest LanguageCommands::request(const Language& language, const LanguageCommand& command, const Filling& filling,
                                         const std::map<std::string, std::string>& environment, std::string input) const {
    const auto root = (filling.root.empty() ? checkout_.path() : filling.root).string();
    ProcessRequest result;
    result.argv = filled_argv(language, command, filling, root);
    result.directory = root;
    result.environment = base_environment(environment_);
    for (const auto& [name, value] : toolchains_of(language, environment_)) {
        result.environment[name] = value;
        std::error_code none;
        if (std::filesystem::is_directory(value, none)) { result.confinement.readable.push_back(value); }
    }
    for (const auto* variables : {&language.environment, &environment}) {
        for (const auto& [name, value] : *variables) { result.environment[name] = fill(value, language, filling, root); }
    }
    for (const auto& fetched : fetched_) {
        for (const auto& [name, value] : fetched.environment) { result.environment[name] = fill(value, language, filling, root); }
    }
    result.environment["HOME"] = (filling.scratch / "home").string();
    result.environment["TMPDIR"] = (filling.scratch / "tmp").string();
    result.input = std::move(input);
    const auto timeout = settings_.timeouts.find(command.name);
    result.timeout = timeout == settings_.timeouts.end() ? command.timeout : timeout->second;
    confine(result, language, filling);
    return result;
}

Result<std::vector<SetupStep>> LanguageCommands::setup_steps(const Language& language, const std::string& tree) {
    AF_TRY(auto found, steps_of(language, tree, checkout_, dependencies_.directory, settings_.programs));
    std::vector<SetupStep> steps;
    for (auto& each : found) { steps.push_back(std::move(each.second)); }
    return steps;
}

Result<void> LanguageCommands::set_up(const Language& language, const std::string& tree, const Stop& stop) {
    AF_TRY(const auto steps, steps_of(language, tree, checkout_, dependencies_.directory, settings_.programs));
    for (const auto& [rule, step] : steps) {
        if (step.ready) { continue; }
        AF_TRY(const auto scratch, ScratchFolder::make(scratch_directory_));
        FetchPlace where;
        where.environment = environment_;
        where.toolchains = toolchains_of(language, environment_);
        where.readable = settings_.readable;
        where.readable.push_back(language.directory);
        const auto programs = program_folders(environment_);
        where.readable.insert(where.readable.end(), programs.begin(), programs.end());
        std::error_code none;
        for (const auto& [name, folder] : where.toolchains) {
            if (std::filesystem::is_directory(folder, none)) { where.readable.push_back(folder); }
        }
        where.scratch = scratch->path();
        if (const auto timeout = settings_.timeouts.find("setup"); timeout != settings_.timeouts.end()) {
            where.timeout = timeout->second;
        }
        AF_CHECK(fetch(*rule, step, tree, checkout_, processes_, where, stop));
    }
    return {};
}

Result<void> LanguageCommands::place(const Language& language, const std::string& tree, const Stop& stop) {
    AF_CHECK(checkout_.check_out(tree));
    placed_ = tree;
    for (const auto& [path, content] : overlay_files_) {
        // Never writes through the file: a worktree may share its files with another.
        std::error_code none;
        std::filesystem::remove(checkout_.path() / path, none);
        AF_CHECK(make_directories((checkout_.path() / path).parent_path()));
        AF_CHECK(create_file_exclusive(checkout_.path() / path, content, Durability::cached));
    }
    fetched_.clear();
    tried_without_.clear();
    if (language.setup.empty() || dependencies_.setup == "never") { return link_users_folders(language); }
    if (dependencies_.setup == "always") { AF_CHECK(set_up(language, tree, stop)); }
    AF_TRY(const auto steps, steps_of(language, tree, checkout_, dependencies_.directory, settings_.programs));
    for (const auto& [rule, step] : steps) {
        if (!step.ready && step.required) { return not_fetched(step); }
        if (step.ready) {
            fetched_.push_back(fetched_by(*rule, step));
        } else {
            tried_without_.emplace_back(rule, step);
        }
    }
    for (const auto& fetched : fetched_) {
        for (const auto& [name, target] : fetched.links) { AF_CHECK(link_dependency(name, target)); }
    }
    return link_users_folders(language);
}

Result<void> LanguageCommands::link_dependency(const std::string& name, const std::string& target) {
    const auto link = checkout_.path() / name;
    std::error_code failure;
    if (std::filesystem::exists(std::filesystem::symlink_status(link, failure))) { return {}; }  // The tree's own, or fetched.
    AF_CHECK(make_directories(link.parent_path()));
    std::filesystem::create_symlink(target, link, failure);
    if (failure) {
        return Error{"AF-GATE-101", "Cannot link the dependencies next to the tree: " + failure.message() + ".", link.string(),
                     "Check the free space and the permissions of the folder where AgentForge keeps its state.", ErrorKind::io};
    }
    return {};
}

Result<void> LanguageCommands::link_users_folders(const Language& language) {
    for (const auto& rule : language.setup) {
        for (const auto& [name, target] : rule.links) {
            const auto same_name = [&](const std::string& folder) { return std::filesystem::path(folder).filename() == name; };
            const auto own = std::find_if(settings_.readable.begin(), settings_.readable.end(), same_name);
            if (own != settings_.readable.end()) { AF_CHECK(link_dependency(name, *own)); }
        }
    }
    return {};
}

Result<void> LanguageCommands::check_fetched(const std::string& output) const {
    for (const auto& [rule, step] : tried_without_) {
        if (RE2::PartialMatch(output, RE2(rule->missing, RE2::Quiet))) { return not_fetched(step); }
    }
    return {};
}

namespace {

/// Returns the words with `…` for those that each run chooses anew: folders, names of copied files, tests, random words.
std::vector<std::string> without_random_parts(const std::vector<std::string>& argv, const std::string& scratch) {
    static const RE2 random(R"(/run-[0-9a-f]{8,}|::|\bt[0-9a-f]{6}_|^[0-9a-f]{12,}$)");
    const std::string left_out = "…";
    std::vector<std::string> words;
    for (const std::string& word : argv) {
        const bool varies = RE2::PartialMatch(word, random) || (!scratch.empty() && word.find(scratch) != std::string::npos);
        if (!varies) { words.push_back(word); }
        if (varies && (words.empty() || words.back() != left_out)) { words.push_back(left_out); }
    }
    return words;
}

}  // namespace

Result<ProcessOutcome> LanguageCommands::start(const Language& language, const std::string& command,
                                               const ProcessRequest& request, const Stop& stop) {
    auto outcome = processes_.run(request, stop);
    if (log_ && outcome.ok()) {
        log_->push_back({command, purpose_, command == "metrics" ? std::string() : placed_, outcome->duration,
                         without_random_parts(request.argv, scratch_directory_)});
    }
    if (!outcome.ok()) {
        if (is_missing_program(outcome.error())) {
            return Error{
                "AF-GATE-003",
                "The program `" + request.argv.front() + "`, which runs " + language.name + "'s checks, is not installed.", "",
                "Install it, or name it in the settings under gates.programs.", ErrorKind::unavailable};
        }
        return std::move(outcome).error();
    }
    if (outcome->cancelled) {
        return Error{"AF-GATE-005", "The gate was cancelled.", "",
                     "Run the command again, or `agentforge resume` if it paused a task.", ErrorKind::cancelled};
    }
    confinement_ = outcome->confinement;
    return outcome;
}

Result<void> LanguageCommands::check_machine(const ProcessOutcome& outcome, bool doubtful) const {
    if (outcome.exit_code == 0 && !outcome.timed_out) { return {}; }
    const bool named = mentions_failing_disk(outcome.out) || mentions_failing_disk(outcome.err);
    if (!doubtful && !named) { return {}; }
    // A test deletes its files before the disk is checked.
    constexpr std::uint64_t room_for_a_test = 64ULL << 20U;
    int failure = failure_of_writing(scratch_directory_, room_for_a_test);
    if (failure == 0 && (names_failing_read(outcome.out) || names_failing_read(outcome.err))) {
        failure = failure_of_reading(plain_files(checkout_.path()));
    }
    if (failure == 0) { return {}; }
    return machine_failed(std::generic_category().message(failure));
}

Error LanguageCommands::machine_failed(const std::string& how) const {
    return {"AF-GATE-106", "A gate's command failed because of a problem with the machine: " + how + ".", scratch_directory_,
            "Free space there, or look at the disk (dmesg), then run `agentforge resume`: the gate is measured again.",
            ErrorKind::io};
}

Result<std::optional<ProcessOutcome>> LanguageCommands::run(const Language& language, const LanguageCommand& command,
                                                            const std::string& tree, const std::string& input, const Stop& stop,
                                                            bool missing_is_error, const std::vector<std::string>& files) {
    if (!tree.empty()) { AF_CHECK(place(language, tree, stop)); }
    AF_TRY(const auto scratch, ScratchFolder::make(scratch_directory_));
    Filling filling;
    filling.scratch = scratch->path();
    filling.files = files;
    auto call = request(language, command, filling, {}, input);
    call.max_output_bytes = max_helper_output;
    if (tree.empty()) { call.directory = (scratch->path() / "home").string(); }
    auto outcome = start(language, command.name, call, stop);
    if (!outcome.ok()) {
        if (!missing_is_error && is_failed_command(outcome.error())) { return std::optional<ProcessOutcome>{}; }
        return std::move(outcome).error();
    }
    AF_CHECK(check_machine(*outcome, outcome->out.empty()));
    return std::optional<ProcessOutcome>(std::move(outcome).value());
}

bool was_killed(const ProcessOutcome& outcome) {
    constexpr int signalled = 128;  // A shell's exit code for a command that a signal ended.
    return outcome.timed_out || outcome.exit_code == signalled + SIGTERM || outcome.exit_code == signalled + SIGKILL ||
           outcome.exit_code == signalled + SIGXCPU;
}

Result<std::vector<json::object>> LanguageCommands::run_for_lines(const Language& language, const std::string& command,
                                                                  const std::string& tree, const json::object& input,
                                                                  const Stop& stop) {
    const auto found = language.commands.find(command);
    if (found == language.commands.end()) {
        return Error{"AF-GATE-003", "The language " + language.name + " declares no command `" + command + "`.", "",
                     "Add it to the language file.", ErrorKind::unavailable};
    }
    AF_TRY(const auto outcome, run(language, found->second, tree, json::serialize(input), stop));
    const auto failed = [&](const std::string& how) {
        return Error{"AF-GATE-003", "The command `" + command + "` of " + language.name + " " + how + ".",
                     ellipsis(sanitize_utf8(outcome->err), 500), "Run `agentforge doctor`; the language file names the program.",
                     was_killed(*outcome) ? ErrorKind::timeout : ErrorKind::unavailable};
    };
    if (outcome->timed_out) { return failed("did not finish in time"); }
    if (was_killed(*outcome)) { return failed("was killed (exit code " + std::to_string(outcome->exit_code) + ")"); }
    if (outcome->exit_code != 0) { return failed("ended with exit code " + std::to_string(outcome->exit_code)); }
    std::vector<json::object> lines;
    std::string_view text = outcome->out;
    while (!text.empty()) {
        const auto end = text.find('\n');
        auto value = parse_json(text.substr(0, end), command);
        if (!value.ok() || !value->is_object()) { return failed("wrote output in the wrong format"); }
        lines.push_back(std::move(value->get_object()));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    if (lines.empty() || lines.back().if_contains("end") == nullptr) { return failed("did not finish its output"); }
    return lines;
}

}  // namespace agentforge::kernel
