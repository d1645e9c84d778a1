// SPDX-License-Identifier: Apache-2.0
#include "pipeline/delivery/commits.hpp"

#include "base/text.hpp"
#include "git/git_configuration.hpp"
#include "git/merges.hpp"

namespace agentforge::kernel {

namespace {

std::string of_environment(const std::map<std::string, std::string>& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

}  // namespace

PersonName git_person(const Repository& repository, const std::map<std::string, std::string>& environment,
                      const std::string& role) {
    const auto configured = repository.identity();
    PersonName person =
        configured ? PersonName{configured->first, configured->second} : PersonName{"AgentForge", "agentforge@localhost"};
    if (const std::string name = of_environment(environment, "GIT_" + role + "_NAME"); !name.empty()) {
        person.name = without_brackets(name);
    }
    if (const std::string email = of_environment(environment, "GIT_" + role + "_EMAIL"); !email.empty()) {
        person.email = without_brackets(email);
    }
    return person;
}

ProcessRequest own_program(std::vector<std::string> argv, const std::string& folder,
                           const std::map<std::string, std::string>& environment) {
    ProcessRequest request;
    request.argv = std::move(argv);
    request.directory = folder;
    request.environment = environment;
    for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
                             "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX"}) {
        request.environment.erase(name);
    }
    request.environment["LC_ALL"] = "C";
    request.timeout = std::chrono::minutes(2);
    request.confinement.enabled = false;
    return request;
}

ProcessRequest own_git(const GitStandIn& git, const std::map<std::string, std::string>& environment,
                       std::vector<std::string> arguments) {
    // The user's hooks and file system monitor are for the user's own git commands.
    std::vector<std::string> argv{"git",
                                  "-c",
                                  "core.hooksPath=/dev/null",
                                  "-c",
                                  "core.fsmonitor=false",
                                  "-c",
                                  "core.fsync=objects",
                                  "-c",
                                  "i18n.commitEncoding=UTF-8",
                                  "-c",
                                  "advice.addEmbeddedRepo=false"};
    argv.insert(argv.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
    ProcessRequest request = own_program(std::move(argv), git.work_directory().string(), environment);
    for (const auto& [name, value] : git.variables()) { request.environment[name] = value; }
    return request;
}

std::string ignored_configuration_note(const GitStandIn& git) {
    std::string keys;
    for (const std::string& key : git.left_out()) { keys += (keys.empty() ? "" : ", ") + key; }
    return keys.empty() ? ""
                        : "; AgentForge does not run programs from the repository's own configuration (" +
                              ellipsis(sanitize_utf8(keys), 300) + "): set these keys with `git config --global`";
}

namespace {

/// Commits without git's program, which cannot sign and gives author and committer one name.
Result<MadeCommit> commit_unsigned(const Repository& repository, const CommitOrder& order, const PersonName& person) {
    CommitRequest request;
    request.tree = order.tree;
    request.parent = order.parent;
    request.message = order.message;
    request.time = order.time;
    request.author_name = person.name;
    request.author_email = person.email;
    AF_TRY(std::string id, repository.commit(request));
    return MadeCommit{std::move(id), false};
}

ProcessRequest commit_tree_request(const GitStandIn& git, const std::map<std::string, std::string>& environment,
                                   const CommitOrder& order, const PersonName& author, const PersonName& committer, bool sign) {
    std::vector<std::string> arguments{"commit-tree", order.tree, "-p", order.parent};
    if (sign) { arguments.emplace_back("-S"); }
    ProcessRequest request = own_git(git, environment, std::move(arguments));
    request.directory = git.folder().string();  // From the checkout, a relative program path could name a file of the project.
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(order.time.time_since_epoch()).count();
    const std::string date = "@" + std::to_string(seconds) + " +0000";
    for (const auto& [role, person] : {std::pair<std::string, PersonName>{"AUTHOR", author}, {"COMMITTER", committer}}) {
        request.environment["GIT_" + role + "_NAME"] = person.name;
        request.environment["GIT_" + role + "_EMAIL"] = person.email;
        request.environment["GIT_" + role + "_DATE"] = date;
    }
    request.input = order.message;
    return request;
}

/// Returns why git could not write the commit.
Error commit_failed(const ProcessOutcome& outcome, bool sign, const std::filesystem::path& place, const GitStandIn& git) {
    const std::string why = outcome.timed_out ? "git did not finish within 2 minutes (is it waiting for a passphrase?)"
                                              : ellipsis(sanitize_utf8(outcome.err), 600);
    return {
        "AF-GIT-041",
        std::string("nothing was committed: git could not ") + (sign ? "sign the commit: " : "write the commit: ") + why,
        place.string(),
        (sign
             ? "check that `git commit -S` works in this terminal (key, agent, gpg.format, gpg.program), then run `agentforge resume` (or `rebase`) again; or set delivery.sign: never"
             : "check that `git commit` works here, then run `agentforge resume` (or `rebase`) again") +
            ignored_configuration_note(git),
        ErrorKind::unavailable};
}

}  // namespace

bool signs_commits(const std::string& sign, const std::filesystem::path& repository) {
    return sign == "always" || (sign == "auto" && GitConfiguration(repository).flag("commit.gpgsign"));
}

Result<MadeCommit> make_commit(const Repository& repository, ProcessRunner& processes,
                               const std::map<std::string, std::string>& environment, const CommitOrder& order,
                               const Stop& stop) {
    const std::filesystem::path place = repository.work_directory();
    PersonName author = git_person(repository, environment, "AUTHOR");
    if (!order.author.empty()) { AF_TRY(author, parse_person(order.author, "delivery.author")); }
    const PersonName committer = git_person(repository, environment, "COMMITTER");
    const bool sign = signs_commits(order.sign, place);
    if (sign && !order.may_sign) {
        return Error{
            "AF-AUDT-013", "nothing shows that this machine wrote the whole journal of the task, so it does not sign the commit",
            place.string(), "deliver it without a signature: `agentforge resume --set delivery.sign=never` (or `rebase`)",
            ErrorKind::unavailable};
    }
    if (!sign && author.name == committer.name && author.email == committer.email) {
        return commit_unsigned(repository, order, author);
    }
    AF_TRY(const GitStandIn git, GitStandIn::make(repository));
    const auto begin = std::chrono::system_clock::now();
    AF_TRY(const ProcessOutcome outcome,
           processes.run(commit_tree_request(git, environment, order, author, committer, sign), stop));
    if (outcome.cancelled) {
        return Error{"AF-GIT-041", "signing was interrupted", place.string(), "repeat the command", ErrorKind::cancelled};
    }
    if (outcome.exit_code != 0) { return commit_failed(outcome, sign, place, git); }
    std::string id(outcome.out.substr(0, outcome.out.find('\n')));
    AF_TRY(const WrittenCommit written, written_commit(place, id));
    if (written.tree != order.tree || written.parent != order.parent || (sign && !written.is_signed())) {
        return Error{"AF-GIT-042",
                     "git wrote a different commit than requested: tree " + written.tree + ", parent " + written.parent +
                         (written.is_signed() ? ", signed" : ", not signed"),
                     "commit " + id, "check that `git` on PATH is the right program, and that gpg.program works",
                     ErrorKind::internal};
    }
    AF_CHECK(repository.sync_objects_since(begin));
    return MadeCommit{std::move(id), written.is_signed()};
}

}  // namespace agentforge::kernel
