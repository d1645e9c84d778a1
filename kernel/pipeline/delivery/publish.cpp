// SPDX-License-Identifier: Apache-2.0
#include "pipeline/delivery/publish.hpp"

#include <algorithm>

#include <unistd.h>

#include "base/text.hpp"
#include "git/git_configuration.hpp"
#include "pipeline/delivery/commits.hpp"

namespace agentforge::kernel {

namespace {

std::string percent_encoded(std::string_view text) {
    constexpr char digits[] = "0123456789ABCDEF";
    std::string result;
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                           byte == '-' || byte == '_' || byte == '.' || byte == '~' || byte == '/';
        if (plain) {
            result += character;
        } else {
            result += '%';
            result += digits[byte >> 4U];
            result += digits[byte & 15U];
        }
    }
    return result;
}

/// Returns an address without user and password.
std::string without_password(const std::string& address) {
    const std::size_t scheme = address.find("://");
    if (scheme == std::string::npos) { return address; }
    const std::size_t slash = address.find('/', scheme + 3);
    const std::size_t at = address.rfind('@', slash);
    return at == std::string::npos || at < scheme ? address : address.substr(0, scheme + 3) + address.substr(at + 1);
}

/// Returns the last line that is an address: gh and glab print the address of an existing request.
std::string address_in(const std::string& text) {
    std::string found;
    for (std::size_t at = text.find("https://"); at != std::string::npos; at = text.find("https://", at + 1)) {
        std::size_t end = at;
        while (end < text.size() && static_cast<unsigned char>(text[end]) > ' ' && text[end] != '"' && text[end] != '\'') {
            ++end;
        }
        found = text.substr(at, end - at);
    }
    return found;
}

}  // namespace

RemotePlace read_remote(std::string_view address) {
    RemotePlace place;
    if (const std::size_t scheme = address.find("://"); scheme != std::string_view::npos) {
        if (address.starts_with("file:")) { return {}; }
        address.remove_prefix(scheme + 3);
        const std::size_t slash = address.find('/');
        if (slash == std::string_view::npos) { return {}; }
        std::string_view host = address.substr(0, slash);
        if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) { host.remove_prefix(at + 1); }
        place.host = host.substr(0, host.find(':'));
        place.path = address.substr(slash + 1);
    } else {
        const std::size_t colon = address.find(':');
        if (colon == std::string_view::npos || address.substr(0, colon).find('/') != std::string_view::npos) { return {}; }
        std::string_view host = address.substr(0, colon);
        if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) { host.remove_prefix(at + 1); }
        place.host = host;
        place.path = address.substr(colon + 1);
    }
    while (place.path.ends_with('/')) { place.path.pop_back(); }
    while (place.path.starts_with('/')) { place.path.erase(0, 1); }
    if (place.path.ends_with(".git")) { place.path.resize(place.path.size() - 4); }
    return place;
}

std::string request_page(const RemotePlace& place, const std::string& branch, const std::string& base) {
    if (place.host.empty()) { return {}; }
    const std::string page = "https://" + place.host + "/" + place.path;
    if (place.host.find("github") != std::string::npos) {
        return page + "/compare/" + (base.empty() ? "" : percent_encoded(base) + "...") + percent_encoded(branch) + "?expand=1";
    }
    if (place.host.find("gitlab") != std::string::npos) {
        return page + "/-/merge_requests/new?merge_request%5Bsource_branch%5D=" + percent_encoded(branch) +
               (base.empty() ? "" : "&merge_request%5Btarget_branch%5D=" + percent_encoded(base));
    }
    if (place.host == "bitbucket.org") {
        return page + "/pull-requests/new?source=" + percent_encoded(branch) +
               (base.empty() ? "" : "&dest=" + percent_encoded(base));
    }
    if (place.host == "codeberg.org" || place.host.find("gitea") != std::string::npos ||
        place.host.find("forgejo") != std::string::npos) {
        return page + "/compare/" + (base.empty() ? "" : percent_encoded(base) + "...") + percent_encoded(branch);
    }
    return {};
}

namespace {

/// True if a remote's address is a folder below `place`.
bool lies_in(std::string_view address, const std::filesystem::path& place) {
    if (address.starts_with("file://")) { address.remove_prefix(7); }
    // `https://…`, `git@host:…` and `ext::…`, by git's own rules.
    if (address.substr(0, address.find('/')).find(':') != std::string_view::npos) { return false; }
    std::error_code error;
    const std::filesystem::path inner = std::filesystem::weakly_canonical(place / address, error);
    const std::filesystem::path outer = std::filesystem::weakly_canonical(place, error);
    return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

bool repository_uses_lfs(const Repository& repository) {
    std::error_code error;
    return std::filesystem::exists(repository.git_directory() / "lfs", error);
}

/// Opens the request with `gh` or `glab`, if it serves the host and is installed. A failure becomes a note.
/// `request`: a process without arguments, in the stand-in of the repository.
void open_with_program(ProcessRunner& processes, const std::map<std::string, std::string>& environment, ProcessRequest request,
                       const std::string& host, const PublishOrder& order, const Stop& stop, Published& result) {
    const bool github = host.find("github") != std::string::npos && is_on_path(environment, "gh");
    const bool gitlab = host.find("gitlab") != std::string::npos && is_on_path(environment, "glab");
    if (!github && !gitlab) { return; }
    request.timeout = std::chrono::minutes(2);
    if (github) {
        request.argv = {"gh", "pr", "create", "--head", order.branch, "--title", order.title, "--body-file", "-"};
        request.input = order.body + "\n";
        if (!order.base.empty()) { request.argv.insert(request.argv.end(), {"--base", order.base}); }
    } else {
        request.argv = {"glab",       "mr",      "create",    "--yes",         "--source-branch",
                        order.branch, "--title", order.title, "--description", order.body};
        if (!order.base.empty()) { request.argv.insert(request.argv.end(), {"--target-branch", order.base}); }
    }
    const std::string program = request.argv.front();
    request.environment["GH_PROMPT_DISABLED"] = "1";
    request.environment["NO_COLOR"] = "1";
    auto opened = processes.run(request, stop);
    const std::string said = opened.ok() ? sanitize_utf8(opened->out) : std::string();
    const std::string complaint = opened.ok() ? sanitize_utf8(opened->err) : opened.error().message;
    // `gh` refuses a second request for a branch and prints the address of the first.
    const bool there = complaint.find("already exists") != std::string::npos && !address_in(complaint).empty();
    if ((opened.ok() && opened->exit_code == 0 && !address_in(said + "\n" + complaint).empty()) || there) {
        result.url = there ? address_in(complaint) : address_in(address_in(said).empty() ? complaint : said);
        result.by = program;
    } else {
        result.note = program + " could not open the pull request: " + ellipsis(complaint.empty() ? said : complaint, 400);
    }
}

/// Pushes to one remote, with git in the stand-in of the repository.
class Push {
public:
    Push(const GitStandIn& git, ProcessRunner& processes, const std::map<std::string, std::string>& environment,
         const PublishOrder& order, std::string remote, const Stop& stop)
        : git_(git), processes_(processes), environment_(environment), order_(order), remote_(std::move(remote)), stop_(stop) {}

    [[nodiscard]] ProcessRequest request(std::vector<std::string> words) const {
        ProcessRequest request = own_program(std::move(words), git_.folder().string(), environment_);
        for (const auto& [name, value] : git_.variables()) { request.environment[name] = value; }
        request.environment["GIT_TERMINAL_PROMPT"] = "0";
        request.timeout = std::chrono::minutes(10);
        return request;
    }

    /// Returns where git pushes to: an address or a folder.
    [[nodiscard]] Result<std::string> target() const {
        AF_TRY(const ProcessOutcome asked, run(request({"git", "remote", "get-url", "--push", order_.remote})));
        return asked.out.substr(0, asked.out.find('\n'));
    }

    /// Uploads the contents that Git LFS keeps, as its pre-push hook does.
    [[nodiscard]] Result<void> upload_contents(const std::string& target) const {
        ProcessRequest contents = request({"git", "lfs", "pre-push", order_.remote, target});
        contents.input = ref() + " " + order_.commit + " " + ref() + " " + std::string(40, '0') + "\n";
        AF_CHECK(run(contents));
        return {};
    }

    [[nodiscard]] Result<ProcessOutcome> push() const {
        return run(request({"git", "-c", "core.fsync=objects", "push", order_.remote, order_.commit + ":" + ref()}));
    }

private:
    [[nodiscard]] std::string ref() const { return "refs/heads/" + order_.branch; }

    [[nodiscard]] Result<ProcessOutcome> run(const ProcessRequest& request) const {
        AF_TRY(ProcessOutcome outcome, processes_.run(request, stop_));
        if (outcome.cancelled) {
            return Error{"AF-GIT-044", "the push was interrupted", remote_, "resume the task", ErrorKind::cancelled};
        }
        if (outcome.exit_code == 0) { return outcome; }
        return Error{
            "AF-GIT-044",
            "the commit is on branch " + order_.branch + ", but it could not be pushed: " +
                (outcome.timed_out ? "git did not return within 10 minutes" : ellipsis(sanitize_utf8(outcome.err), 600)),
            remote_,
            "check that `git push " + order_.remote + "` works here, then `agentforge resume`" + ignored_configuration_note(git_),
            ErrorKind::unavailable};
    }

    const GitStandIn& git_;
    ProcessRunner& processes_;
    const std::map<std::string, std::string>& environment_;
    const PublishOrder& order_;
    std::string remote_;  ///< Its address, without a password.
    const Stop& stop_;
};

/// Returns the address that git pushes to by its own configuration. Empty if there is no such remote.
std::string push_address(const std::filesystem::path& place, const std::string& remote) {
    const GitConfiguration configuration(place);
    const std::string fetched = configuration.text("remote." + remote + ".url");
    const std::string pushed = configuration.text("remote." + remote + ".pushurl");
    return pushed.empty() ? fetched : pushed;
}

}  // namespace

Result<Published> publish_branch(const Repository& repository, ProcessRunner& processes,
                                 const std::map<std::string, std::string>& environment, const PublishOrder& order,
                                 const Stop& stop) {
    const std::filesystem::path place = repository.work_directory();
    const std::string address = push_address(place, order.remote);
    if (address.empty() || order.remote.starts_with('-')) {
        return Error{
            "AF-GIT-044", "there is no remote `" + order.remote + "` to push to; the commit is on branch " + order.branch,
            place.string(), "add it (git remote add " + order.remote + " URL) or set delivery.remote, then `agentforge resume`",
            ErrorKind::unavailable};
    }
    Published result;
    result.remote = without_password(address);
    AF_TRY(const GitStandIn git, GitStandIn::make(repository));
    const Push push(git, processes, environment, order, result.remote, stop);
    AF_TRY(const std::string target, push.target());
    if (lies_in(target, place)) {
        return Error{"AF-GIT-066",
                     "the remote `" + order.remote +
                         "` is a folder inside the repository, and a push would run its hooks; nothing was pushed",
                     ellipsis(sanitize_utf8(target), 300), "set delivery.remote to another one, then `agentforge resume`",
                     ErrorKind::denied};
    }
    if (repository_uses_lfs(repository) && is_on_path(environment, "git-lfs")) { AF_CHECK(push.upload_contents(target)); }
    AF_TRY(const ProcessOutcome outcome, push.push());
    result.by = "push";
    const RemotePlace host = read_remote(address);
    result.url = request_page(host, order.branch, order.base);
    if (result.url.empty()) { result.url = address_in(sanitize_utf8(outcome.err)); }  // Many servers print it after a push.
    open_with_program(processes, environment, push.request({}), host.host, order, stop, result);
    return result;
}

}  // namespace agentforge::kernel
