// SPDX-License-Identifier: Apache-2.0
#include "gates/run/dependencies.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "sandbox/failures.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

constexpr const char* ready_mark = ".agentforge-ready";
/// Variables for the user's network access and package indexes.
constexpr std::array network_variables{"PIP_INDEX_URL",
                                       "PIP_EXTRA_INDEX_URL",
                                       "PIP_TRUSTED_HOST",
                                       "PIP_CERT",
                                       "NPM_CONFIG_REGISTRY",
                                       "npm_config_registry",
                                       "GOPROXY",
                                       "GOSUMDB",
                                       "GOPRIVATE",
                                       "GONOPROXY",
                                       "GONOSUMDB",
                                       "GOINSECURE",
                                       "CARGO_HTTP_CAINFO",
                                       "MAVEN_ARGS",
                                       "NODE_EXTRA_CA_CERTS",
                                       "HTTP_PROXY",
                                       "HTTPS_PROXY",
                                       "NO_PROXY",
                                       "ALL_PROXY",
                                       "http_proxy",
                                       "https_proxy",
                                       "no_proxy",
                                       "all_proxy",
                                       "SSL_CERT_FILE",
                                       "SSL_CERT_DIR"};

std::string with_folder(std::string text, const std::string& folder) {
    const std::string name = "{dependencies}";
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + folder.size())) {
        text.replace(at, name.size(), folder);
    }
    return text;
}

std::map<std::string, std::string> filled(const std::map<std::string, std::string>& values, const std::string& folder) {
    std::map<std::string, std::string> result;
    for (const auto& [name, value] : values) { result[name] = with_folder(value, folder); }
    return result;
}

std::string last_lines(const std::string& text) {
    const auto clean = sanitize_utf8(text);
    return clean.size() <= 600 ? clean : "…" + sanitize_utf8(clean.substr(clean.size() - 600));
}

/// The files of one tree, listed once and only if needed.
class ListedTree {
public:
    ListedTree(TreeCheckout& checkout, const std::string& tree) : checkout_(checkout), tree_(tree) {}

    Result<std::vector<std::string>> files() {
        if (!files_) { AF_TRY(files_, checkout_.files(tree_)); }
        return *files_;
    }
    /// Returns the files that a glob matches. A path without `*` is returned as it is.
    Result<std::vector<std::string>> matching(const std::string& path) {
        if (path.find('*') == std::string::npos) { return std::vector<std::string>{path}; }
        const Globs wanted({path});
        AF_TRY(auto matching, files());
        std::erase_if(matching, [&](const auto& file) { return !wanted.matches(file); });
        return matching;
    }
    Result<std::optional<std::string>> content(const std::string& path) { return checkout_.file(tree_, path); }

private:
    TreeCheckout& checkout_;
    const std::string& tree_;
    std::optional<std::vector<std::string>> files_;
};

/// A rule's lockfiles and inputs that the tree has. Empty if it has none of the lockfiles.
struct RuleFiles {
    std::vector<std::string> files;
    json::array hashes;  ///< Pairs of file and SHA-256, in the same order.
};

Result<RuleFiles> files_of_rule(const SetupRule& rule, ListedTree& tree) {
    RuleFiles result;
    for (const auto* paths : {&rule.lockfiles, &rule.inputs}) {
        for (const auto& path : *paths) {
            AF_TRY(const auto matching, tree.matching(path));
            for (const auto& file : matching) {
                if (std::find(result.files.begin(), result.files.end(), file) != result.files.end()) { continue; }
                AF_TRY(const auto content, tree.content(file));
                if (!content) { continue; }
                result.files.push_back(file);
                result.hashes.push_back(json::array{file, sha256(*content)});
            }
        }
        if (result.files.empty()) { break; }
    }
    return result;
}

/// True if the rule's conditions hold.
Result<bool> applies(const SetupRule& rule, ListedTree& tree) {
    if (rule.when.empty() && rule.unless.empty()) { return true; }
    const auto content = [&](const std::string& path) { return tree.content(path); };
    AF_TRY(const auto all, tree.files());
    AF_TRY(const bool wanted, rule.when.empty() ? Result<bool>(true) : holds(rule.when, all, content));
    AF_TRY(const bool there, holds(rule.unless, all, content));
    return wanted && !there;
}

/// Returns the folder's name. It depends on everything that decides what the command fetches.
std::string setup_folder_name(const Language& language, const SetupRule& rule, const json::array& hashes) {
    json::array named{language.name, rule.name};
    for (const auto& argument : rule.command.argv) { named.emplace_back(argument); }
    named.insert(named.end(), hashes.begin(), hashes.end());
    return language.name + "-" + rule.name + "-" + sha256(json::serialize(named)).substr(0, 24);
}

std::vector<std::string> fetch_argv(const Language& language, const SetupRule& rule, const std::string& folder) {
    std::vector<std::string> argv;
    for (const auto& argument : rule.command.argv) {
        auto text = with_folder(argument, folder);
        if (text.starts_with("{language}")) { text.replace(0, std::string_view("{language}").size(), language.directory); }
        argv.push_back(std::move(text));
    }
    return argv;
}

}  // namespace

Result<std::vector<std::pair<const SetupRule*, SetupStep>>> steps_of(
    const Language& language, const std::string& tree, TreeCheckout& checkout, const std::string& directory,
    const std::map<std::string, std::string, std::less<>>& programs) {
    std::vector<std::pair<const SetupRule*, SetupStep>> steps;
    if (directory.empty() || language.setup.empty()) { return steps; }
    ListedTree listed(checkout, tree);
    for (const auto& rule : language.setup) {
        const bool own = !rule.programs.empty() && std::ranges::all_of(rule.programs, [&](const auto& program) {
            return programs.contains(program.first);
        });
        if (own) { continue; }
        AF_TRY(RuleFiles found, files_of_rule(rule, listed));
        if (found.files.empty()) { continue; }
        AF_TRY(const bool needed, applies(rule, listed));
        if (!needed) { continue; }
        SetupStep step;
        step.name = rule.name;
        step.folder = (fs::path(directory) / setup_folder_name(language, rule, found.hashes)).string();
        step.files = std::move(found.files);
        step.argv = fetch_argv(language, rule, step.folder);
        step.required = rule.missing.empty();
        step.programs = filled(rule.programs, step.folder);
        std::error_code none;
        step.ready = fs::is_regular_file(fs::symlink_status(fs::path(step.folder) / ready_mark, none));
        steps.emplace_back(&rule, std::move(step));
    }
    return steps;
}

Error not_fetched(const SetupStep& step) {
    std::string command;
    for (const auto& argument : step.argv) { command += (command.empty() ? "" : " ") + argument; }
    return {
        "AF-GATE-100",
        "The dependencies in " + step.files.front() + " have not been fetched yet (" + ellipsis(command, 200) +
            "), and nobody has approved fetching them.",
        step.files.front(),
        "Look at the command with `agentforge setup --show` and run it with `agentforge setup` (with the task's id if the task changed the file), then start or resume. If the tests do not need it, set gates.setup to never.",
        ErrorKind::unavailable};
}

Fetched fetched_by(const SetupRule& rule, const SetupStep& step) {
    return {step.folder, filled(rule.environment, step.folder), filled(rule.links, step.folder),
            filled(rule.programs, step.folder)};
}

namespace {

/// Writes the files that the command gets into the step's folder.
Result<void> write_inputs(const SetupRule& rule, const SetupStep& step, const std::string& tree, TreeCheckout& checkout) {
    const fs::path folder = step.folder;
    for (const auto& path : step.files) {
        AF_TRY(const auto content, checkout.file(tree, path));
        AF_CHECK(make_directories((folder / path).parent_path()));
        AF_CHECK(create_file_exclusive(folder / path, content.value_or(""), Durability::cached));
    }
    if (rule.names.empty()) { return {}; }
    AF_TRY(const auto all, checkout.files(tree));
    for (const auto& path : all) {
        std::error_code none;
        if (!rule.names.matches(path) || fs::exists(folder / path, none)) { continue; }
        AF_CHECK(make_directories((folder / path).parent_path()));
        AF_CHECK(create_file_exclusive(folder / path, "", Durability::cached));
    }
    return {};
}

ProcessRequest fetch_request(const SetupRule& rule, const SetupStep& step, const FetchPlace& place) {
    ProcessRequest request;
    request.argv = step.argv;
    request.directory = step.folder;
    request.environment = base_environment(place.environment);
    for (const auto* name : network_variables) {
        if (const auto value = place.environment.find(name); value != place.environment.end()) {
            request.environment[name] = value->second;
        }
    }
    for (const auto& [name, value] : place.toolchains) { request.environment[name] = value; }
    for (const auto& [name, value] : filled(rule.environment, step.folder)) { request.environment[name] = value; }
    request.environment["HOME"] = (place.scratch / "home").string();
    request.environment["TMPDIR"] = (place.scratch / "tmp").string();
    request.timeout = place.timeout.count() > 0 ? place.timeout : rule.command.timeout;
    request.confinement.readable = place.readable;
    request.confinement.writable = {step.folder, place.scratch.string()};
    request.confinement.network = Network::full;
    return request;
}

Result<void> check_fetch_succeeded(const SetupStep& step, const ProcessOutcome& outcome) {
    if (outcome.cancelled) {
        return Error{"AF-GATE-005", "The gate was cancelled.", "",
                     "Run the command again, or `agentforge resume` if it paused a task.", ErrorKind::cancelled};
    }
    if (outcome.timed_out || outcome.exit_code != 0) {
        return Error{
            "AF-GATE-101",
            "The dependencies of " + step.name + " could not be fetched: `" + step.argv.front() + "` " +
                (outcome.timed_out ? "did not finish in time" : "ended with exit code " + std::to_string(outcome.exit_code)) +
                ": " + last_lines(outcome.err.empty() ? outcome.out : outcome.err),
            step.folder, "Correct the cause, then run `agentforge setup` again.", ErrorKind::unavailable};
    }
    return {};
}

}  // namespace

Result<void> fetch(const SetupRule& rule, const SetupStep& step, const std::string& tree, TreeCheckout& checkout,
                   ProcessRunner& processes, const FetchPlace& place, const Stop& stop) {
    const fs::path folder = step.folder;
    AF_CHECK(make_directories(folder.parent_path()));
    const FileDescriptor lock(::open((step.folder + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.valid() || ::flock(lock.get(), LOCK_EX) != 0) {
        return Error{"AF-GATE-101",
                     "The dependencies of " + step.name + " could not be fetched: the folder for them cannot be locked.",
                     step.folder, "Check that the folder is writable.", ErrorKind::io};
    }
    std::error_code failure;
    // Another process has fetched it meanwhile.
    if (fs::is_regular_file(fs::symlink_status(folder / ready_mark, failure))) { return {}; }
    fs::remove_all(folder, failure);
    AF_CHECK(make_directories(folder));
    AF_CHECK(write_inputs(rule, step, tree, checkout));
    const auto request = fetch_request(rule, step, place);
    auto outcome = processes.run(request, stop);
    if (!outcome.ok()) {
        if (!is_missing_program(outcome.error())) { return std::move(outcome).error(); }
        return Error{"AF-GATE-003", "The program `" + request.argv.front() + "`, which fetches dependencies, is not installed.",
                     "", "Install it, or set gates.setup to never and provide the dependencies yourself.",
                     ErrorKind::unavailable};
    }
    AF_CHECK(check_fetch_succeeded(step, *outcome));
    json::array argv;
    for (const auto& argument : step.argv) { argv.emplace_back(argument); }
    return write_file_atomic(folder / ready_mark,
                             json::serialize(json::object{{"rule", rule.name}, {"argv", std::move(argv)}}) + "\n",
                             Durability::synced);
}

}  // namespace agentforge::kernel
