// SPDX-License-Identifier: Apache-2.0
#include "program/project/preflight.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "base/files.hpp"
#include "base/plain_file.hpp"
#include "base/text.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

// A task was measured to need 16. The rest is reserve for its plugins, journal and children.
constexpr rlim_t fewest_open_files = 64;
constexpr rlim_t usual_open_files = 1024;
constexpr std::uint64_t least_room = 1ULL << 20U;

/// Returns the folder itself, or its nearest parent that exists.
fs::path nearest_there(fs::path folder) {
    std::error_code error;
    while (!fs::exists(fs::symlink_status(folder, error)) && folder.has_relative_path()) { folder = folder.parent_path(); }
    return folder;
}

Result<void> check_can_write(const fs::path& folder, const std::string& purpose, const std::string& remedy) {
    const fs::path there = nearest_there(folder);
    const auto refused = [&](const std::string& why) {
        return Error{"AF-CLI-132", purpose + " cannot be written: " + why, (there == folder ? folder : there).string(), remedy,
                     ErrorKind::unavailable};
    };
    struct stat found {};
    if (::stat(there.c_str(), &found) != 0) { return refused(errno_text(errno)); }
    if (!S_ISDIR(found.st_mode)) { return refused("it is " + std::string(file_kind(found.st_mode)) + ", not a folder"); }
    if (::faccessat(AT_FDCWD, there.c_str(), W_OK | X_OK, AT_EACCESS) != 0) { return refused(errno_text(errno)); }
    return {};
}

/// Creates a test folder, because permissions do not show whether a folder can be created: /proc shows some, and allows none.
Result<void> check_can_make_folders(const fs::path& folder, const std::string& purpose, const std::string& remedy) {
    std::string probe = (nearest_there(folder) / ".agentforge-XXXXXX").string();
    if (::mkdtemp(probe.data()) == nullptr) {
        return Error{"AF-CLI-132", purpose + " cannot be written: " + errno_text(errno), folder.string(), remedy,
                     ErrorKind::unavailable};
    }
    ::rmdir(probe.c_str());
    return {};
}

Result<void> check_room(const fs::path& folder) {
    const fs::path there = nearest_there(folder);
    struct statvfs disk {};
    if (::statvfs(there.c_str(), &disk) != 0 || disk.f_blocks == 0) { return {}; }
    const std::uint64_t left = std::uint64_t{disk.f_bavail} * disk.f_frsize;
    const bool no_entries = disk.f_files != 0 && disk.f_favail == 0;
    if (left >= least_room && !no_entries) { return {}; }
    return Error{"AF-CLI-134",
                 no_entries ? "the disk has no inodes left for new files"
                            : "the disk is full: " + std::to_string(left >> 10U) + " KiB are left",
                 there.string(), "free some space there, then try again", ErrorKind::unavailable};
}

/// True if `inner` is `outer` or inside it, with existing links resolved.
bool lies_in(const fs::path& inner, const fs::path& outer) {
    std::error_code error;
    const fs::path in = fs::weakly_canonical(inner, error);
    if (error) { return false; }
    const fs::path out = fs::weakly_canonical(outer, error);
    if (error) { return false; }
    return std::mismatch(out.begin(), out.end(), in.begin(), in.end()).first == out.end();
}

}  // namespace

Result<void> check_own_folder(const fs::path& agentforge) {
    static constexpr std::array<const char*, 7> written{"", "tasks", "escalations", "logs", "violations", "audit", "cache"};
    for (const char* name : written) {
        const fs::path folder = *name == '\0' ? agentforge : agentforge / name;
        struct stat found {};
        if (::lstat(folder.c_str(), &found) != 0) {
            if (*name == '\0') { return {}; }
            continue;
        }
        if (S_ISDIR(found.st_mode)) { continue; }
        return Error{"AF-CLI-130",
                     "`" + std::string(*name == '\0' ? ".agentforge" : ".agentforge/" + std::string(name)) + "` is " +
                         std::string(file_kind(found.st_mode)) + ", not a folder",
                     folder.string(), "move it away; AgentForge creates the folder itself, and never writes through a link",
                     ErrorKind::denied};
    }
    return {};
}

Result<void> check_open_files() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) { return {}; }
    if (limit.rlim_cur < usual_open_files && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = std::min<rlim_t>(usual_open_files, limit.rlim_max);
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
        static_cast<void>(::getrlimit(RLIMIT_NOFILE, &limit));
    }
    if (limit.rlim_cur >= fewest_open_files) { return {}; }
    return Error{"AF-CLI-133",
                 "only " + std::to_string(limit.rlim_cur) + " files may be open at once; a task needs " +
                     std::to_string(fewest_open_files),
                 "ulimit -n", "raise the limit: ulimit -n 1024", ErrorKind::unavailable};
}

Result<void> check_environment(const fs::path& root, const fs::path& agentforge, const fs::path& git_directory,
                               const fs::path& state) {
    AF_CHECK(check_open_files());
    if (lies_in(state, root)) {
        return Error{"AF-CLI-138",
                     "A task's worktree must lie outside the repository: it would inherit the project's own tool settings",
                     state.string(), "Set AGENTFORGE_STATE_HOME to a folder outside " + root.string(), ErrorKind::invalid};
    }
    AF_CHECK(check_can_write(agentforge, "the project's folder",
                             "a task keeps its journal there: give yourself write permission, or work in a clone"));
    AF_CHECK(check_can_write(git_directory / "objects", "the git repository",
                             "a task keeps its trees there: give yourself write permission, or work in a clone"));
    for (const auto check : {check_can_write, check_can_make_folders}) {
        AF_CHECK(check(state, "the state folder", "set AGENTFORGE_STATE_HOME to a folder that you can create and write to"));
    }
    for (const fs::path& folder : {agentforge, git_directory, state}) { AF_CHECK(check_room(folder)); }
    return {};
}

Result<void> check_request_is_no_path(std::string_view request, const std::vector<fs::path>& folders) {
    const auto first = request.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) { return {}; }
    const std::string_view words = request.substr(first, request.find_last_not_of(" \t\r\n") - first + 1);
    if (words.find_first_of("\r\n") != std::string_view::npos || words.size() > 4000) { return {}; }
    const fs::path named{std::string(words)};
    std::error_code error;
    const bool there = std::ranges::any_of(
        folders, [&](const fs::path& folder) { return fs::exists(fs::symlink_status(folder / named, error)); });
    const bool written_like_one =
        words.find_first_of(" \t") == std::string_view::npos &&
        (words.starts_with('/') || words.starts_with("./") || words.starts_with("../") || words.starts_with("~/"));
    if (!there && !written_like_one) { return {}; }
    const std::string shown = printable(std::string(words), 120);
    const bool file =
        std::ranges::any_of(folders, [&](const fs::path& folder) { return fs::is_regular_file(folder / named, error); });
    return Error{
        "AF-CLI-135",
        "the request `" + shown + "` is " + (there ? "the name of a file or folder" : "a path") + ", not something to do", "",
        "say what to do; to use a file's content as the request: agentforge start - < " + (file ? shown : std::string("FILE")),
        ErrorKind::invalid};
}

std::vector<std::string> misnamed(const fs::path& agentforge) {
    struct Place {
        const char* folder;
        std::vector<std::string> names;
    };
    static const std::array<Place, 3> places{
        Place{"",
              {"agents", "pipelines", "contracts", "languages", "conformance", "orchestration", "config", "tasks", "escalations",
               "logs", "violations", "audit", "cache"}},
        Place{"config", {"settings.yaml"}}, Place{"orchestration", {"pipeline.yaml"}}};
    std::vector<std::string> found;
    for (const Place& place : places) {
        std::error_code error;
        for (fs::directory_iterator entries(agentforge / place.folder, error), end; !error && entries != end;
             entries.increment(error)) {
            const std::string name = entries->path().filename().string();
            if (name.starts_with('.') || std::ranges::find(place.names, name) != place.names.end()) { continue; }
            const std::string near = nearest(name, place.names);
            if (near.empty()) { continue; }
            const std::string above = ".agentforge/" + (*place.folder == '\0' ? std::string() : std::string(place.folder) + "/");
            found.push_back(printable(above + name, 160) + " is not read; did you mean " + above + near + "?");
        }
    }
    std::ranges::sort(found);
    return found;
}

std::vector<std::string> variables_not_followed(const std::map<std::string, std::string>& environment, const fs::path& root) {
    std::vector<std::string> lines;
    for (const char* name : {"GIT_DIR", "GIT_WORK_TREE"}) {
        const auto found = environment.find(name);
        if (found == environment.end() || found->second.empty()) { continue; }
        std::error_code error;
        // A git hook has these set, for the repository that it runs in.
        if (fs::equivalent(found->second, *name == 'G' && name[4] == 'D' ? root / ".git" : root, error) && !error) { continue; }
        lines.push_back(std::string(name) + " is set but ignored: the repository is that of the current folder, " +
                        printable(root.string(), 200) + " (or of -C DIR)");
    }
    return lines;
}

}  // namespace agentforge::kernel
