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

}  // namespace

Result<std::vector<std::pair<const SetupRule*, SetupStep>>> steps_of(
    const Language& language, const std::string& tree, TreeCheckout& checkout, const std::string& directory,
    const std::map<std::string, std::string, std::less<>>& programs) {
    std::vector<std::pair<const SetupRule*, SetupStep>> steps;
    if (directory.empty() || language.setup.empty()) { return steps; }
    std::optional<std::vector<std::string>> listed;
    const auto files_of_tree = [&]() -> Result<std::vector<std::string>> {
        if (!listed) { AF_TRY(listed, checkout.files(tree)); }
        return *listed;
    };
    for (const auto& rule : language.setup) {
        const bool own = !rule.programs.empty() && std::ranges::all_of(rule.programs, [&](const auto& program) {
            return programs.contains(program.first);
        });
        if (own) { continue; }
        SetupStep step;
        step.name = rule.name;
        json::array named{language.name, rule.name};
        for (const auto& argument : rule.command.argv) { named.emplace_back(argument); }
        bool locked = false;
        for (const auto* paths : {&rule.lockfiles, &rule.inputs}) {
            for (const auto& path : *paths) {
                std::vector<std::string> matching{path};
                if (path.find('*') != std::string::npos) {
                    const Globs wanted({path});
                    AF_TRY(matching, files_of_tree());
                    std::erase_if(matching, [&](const auto& file) { return !wanted.matches(file); });
                }
                for (const auto& file : matching) {
                    if (std::find(step.files.begin(), step.files.end(), file) != step.files.end()) { continue; }
                    AF_TRY(const auto content, checkout.file(tree, file));
                    if (!content) { continue; }
                    locked = locked || paths == &rule.lockfiles;
                    step.files.push_back(file);
                    named.push_back(json::array{file, sha256(*content)});
                }
            }
            if (!locked) { break; }
        }
        if (!locked) { continue; }
        const auto content = [&](const std::string& path) { return checkout.file(tree, path); };
        if (!rule.when.empty() || !rule.unless.empty()) {
            AF_TRY(const auto all, files_of_tree());
            AF_TRY(const bool wanted, rule.when.empty() ? Result<bool>(true) : holds(rule.when, all, content));
            AF_TRY(const bool there, holds(rule.unless, all, content));
            if (!wanted || there) { continue; }
        }
        step.folder =
            (fs::path(directory) / (language.name + "-" + rule.name + "-" + sha256(json::serialize(named)).substr(0, 24)))
                .string();
        for (const auto& argument : rule.command.argv) {
            auto text = with_folder(argument, step.folder);
            if (text.starts_with("{language}")) { text.replace(0, std::string_view("{language}").size(), language.directory); }
            step.argv.push_back(std::move(text));
        }
        std::error_code none;
        step.required = rule.missing.empty();
        step.programs = filled(rule.programs, step.folder);
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
    for (const auto& path : step.files) {
        AF_TRY(const auto content, checkout.file(tree, path));
        AF_CHECK(make_directories((folder / path).parent_path()));
        AF_CHECK(create_file_exclusive(folder / path, content.value_or(""), Durability::cached));
    }
    if (!rule.names.empty()) {
        AF_TRY(const auto all, checkout.files(tree));
        for (const auto& path : all) {
            std::error_code none;
            if (!rule.names.matches(path) || fs::exists(folder / path, none)) { continue; }
            AF_CHECK(make_directories((folder / path).parent_path()));
            AF_CHECK(create_file_exclusive(folder / path, "", Durability::cached));
        }
    }
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
    auto outcome = processes.run(request, stop);
    if (!outcome.ok()) {
        if (!is_missing_program(outcome.error())) { return std::move(outcome).error(); }
        return Error{"AF-GATE-003", "The program `" + request.argv.front() + "`, which fetches dependencies, is not installed.",
                     "", "Install it, or set gates.setup to never and provide the dependencies yourself.",
                     ErrorKind::unavailable};
    }
    if (outcome->cancelled) {
        return Error{"AF-GATE-005", "The gate was cancelled.", "",
                     "Run the command again, or `agentforge resume` if it paused a task.", ErrorKind::cancelled};
    }
    if (outcome->timed_out || outcome->exit_code != 0) {
        return Error{
            "AF-GATE-101",
            "The dependencies of " + step.name + " could not be fetched: `" + request.argv.front() + "` " +
                (outcome->timed_out ? "did not finish in time" : "ended with exit code " + std::to_string(outcome->exit_code)) +
                ": " + last_lines(outcome->err.empty() ? outcome->out : outcome->err),
            step.folder, "Correct the cause, then run `agentforge setup` again.", ErrorKind::unavailable};
    }
    json::array argv;
    for (const auto& argument : step.argv) { argv.emplace_back(argument); }
    return write_file_atomic(folder / ready_mark,
                             json::serialize(json::object{{"rule", rule.name}, {"argv", std::move(argv)}}) + "\n",
                             Durability::synced);
}

}  // namespace agentforge::kernel
