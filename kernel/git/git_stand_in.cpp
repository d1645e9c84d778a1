// SPDX-License-Identifier: Apache-2.0
#include "git/git_stand_in.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string_view>

#include "base/files.hpp"
#include "git/library.hpp"
#include "git/repository_state.hpp"

namespace agentforge::kernel {

using namespace git;

namespace {

namespace fs = std::filesystem;

/// Keys (in lower case, as libgit2 returns them) whose values are only data: no program, and no file that git would run or write.
constexpr std::array plain_core{"autocrlf",   "bigfilethreshold",  "eol",      "excludesfile",     "filemode",
                                "ignorecase", "precomposeunicode", "safecrlf", "sharedrepository", "symlinks"};
constexpr std::array plain_of_remotes{".url", ".pushurl", ".fetch", ".gh-resolved", ".glab-resolved"};
constexpr std::array plain_of_http{".cookiefile",
                                   ".savecookies"};  // Without savecookies: git would write a file of the repository's choice.
constexpr std::array plain_others{"gpg.format",  "user.name",    "user.email",     "user.signingkey",
                                  "author.name", "author.email", "committer.name", "committer.email"};

template <std::size_t Count>
bool ends_in_one_of(std::string_view key, const std::array<const char*, Count>& ends) {
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return key.ends_with(end); });
}

bool is_plain(std::string_view key) {
    if (key.starts_with("core.")) { return std::ranges::find(plain_core, key.substr(5)) != plain_core.end(); }
    if (key.starts_with("remote.")) { return ends_in_one_of(key, plain_of_remotes); }
    if (key.starts_with("http.")) { return !ends_in_one_of(key, plain_of_http); }
    if (key.starts_with("url.")) { return true; }
    return std::ranges::find(plain_others, key) != plain_others.end();
}

bool names_a_program(std::string_view key) {
    constexpr std::array keys{"core.fsmonitor", "core.hookspath", "core.sshcommand", "core.gitproxy", "core.askpass"};
    constexpr std::array ends{".clean",  ".smudge",      ".process",    ".program", ".defaultkeycommand",
                              ".helper", ".receivepack", ".uploadpack", ".vcs"};
    return key.starts_with("protocol.") || std::ranges::find(keys, key) != keys.end() || ends_in_one_of(key, ends);
}

struct ConfigEntry {
    std::string key;
    std::string value;
    bool is_repositorys = false;  ///< Set by `.git/config` or a file it includes, not by the user's own files.
};

Result<std::vector<ConfigEntry>> configuration_of(git_repository* repository) {
    git_config* raw = nullptr;
    if (const int code = git_repository_config_snapshot(&raw, repository); code < 0) {
        return failure(code, "read the configuration");
    }
    const ConfigHandle config(raw);
    git_config_iterator* each = nullptr;
    if (const int code = git_config_iterator_new(&each, raw); code < 0) { return failure(code, "read the configuration"); }
    std::vector<ConfigEntry> entries;
    for (git_config_entry* entry = nullptr; git_config_next(&entry, each) == 0;) {
        entries.push_back({entry->name, entry->value == nullptr ? "true" : entry->value, entry->level >= GIT_CONFIG_LEVEL_LOCAL});
    }
    git_config_iterator_free(each);
    return entries;
}

/// A path relative to the checkout would be relative to the stand-in.
std::string absolute_key(const std::string& value, const fs::path& checkout) {
    std::error_code error;
    return fs::is_regular_file(checkout / value, error) ? (checkout / value).string() : value;
}

Result<void> write_configuration(const std::vector<ConfigEntry>& entries, const fs::path& file, const fs::path& checkout,
                                 const fs::path& lfs) {
    git_config* raw = nullptr;
    if (const int code = git_config_open_ondisk(&raw, file.c_str()); code < 0) { return failure(code, "write a configuration"); }
    const ConfigHandle config(raw);
    const auto add = [&](const std::string& key, const std::string& value) -> Result<void> {
        if (const int code = git_config_set_multivar(raw, key.c_str(), "^$", value.c_str()); code < 0) {
            return failure(code, "write a configuration");
        }
        return {};
    };
    AF_CHECK(add("core.repositoryformatversion", "0"));
    AF_CHECK(add("core.splitIndex", "false"));
    AF_CHECK(add("lfs.storage", lfs.string()));
    for (const ConfigEntry& entry : entries) {
        if (!entry.is_repositorys || !is_plain(entry.key)) { continue; }
        AF_CHECK(add(entry.key, entry.key == "user.signingkey" ? absolute_key(entry.value, checkout) : entry.value));
    }
    return {};
}

/// Returns HEAD's content: the user's `includeIf.onbranch` reads it.
std::string head_line(git_repository* repository) {
    git_reference* raw = nullptr;
    if (git_reference_lookup(&raw, repository, "HEAD") < 0) { return "ref: refs/heads/none\n"; }
    const ReferenceHandle head(raw);
    if (git_reference_type(raw) == GIT_REFERENCE_SYMBOLIC) {
        return std::string("ref: ") + git_reference_symbolic_target(raw) + "\n";
    }
    return to_text(*git_reference_target(raw)) + "\n";
}

/// Copies git's own data files. Skips those that are missing or not regular files.
Result<void> copy_plain_files(const fs::path& from, const fs::path& to) {
    std::vector<std::string> names{"info/exclude", "info/attributes", "shallow"};
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(from, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("sharedindex.")) { names.push_back(name); }
    }
    for (const std::string& name : names) {
        if (fs::symlink_status(from / name, error).type() == fs::file_type::regular) {
            fs::copy_file(from / name, to / name, error);
        }
    }
    return {};
}

constexpr std::string_view folder_prefix = "agentforge-git-";

Error cannot_make(const fs::path& folder, int code) {
    return Error{"AF-GIT-064", std::string("Cannot create a folder in the git directory: ") + std::strerror(code),
                 folder.string(), "Check for free disk space, and whether another user owns the folder", ErrorKind::io};
}

}  // namespace

void GitStandIn::remove_abandoned(const fs::path& git_directory) {
    std::error_code error;
    const auto yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(git_directory, error)) {
        const std::string name = entry.path().filename().string();
        std::error_code unknown;
        const bool is_old = name.starts_with(folder_prefix) && entry.last_write_time(unknown) < yesterday &&
                            !unknown;  // Stand-ins of earlier versions name no process.
        if (is_old || is_abandoned(name, folder_prefix)) { found.push_back(entry.path()); }
    }
    for (const fs::path& folder : found) { fs::remove_all(folder, error); }
}

Result<GitStandIn> GitStandIn::make(const Repository& opened) {
    AF_TRY(const RepositoryHandle handle, open_repository(opened.work_directory()));
    git_repository* repository = handle.get();
    const fs::path common = git_repository_commondir(repository);
    GitStandIn made;
    made.work_directory_ = opened.work_directory();
    made.objects_ = common / "objects";
    made.index_ = fs::path(git_repository_path(repository)) / "index";
    remove_abandoned(git_repository_path(repository));
    std::string folder =
        (fs::path(git_repository_path(repository)) / (std::string(folder_prefix) + std::to_string(::getpid()) + "-XXXXXX"))
            .string();
    if (::mkdtemp(folder.data()) == nullptr) { return cannot_make(folder, errno); }
    made.folder_ = folder;
    for (const char* name : {"objects", "refs", "info"}) { AF_CHECK(make_directories(made.folder_ / name)); }
    AF_CHECK(write_file_atomic(made.folder_ / "HEAD", head_line(repository), Durability::cached));
    AF_CHECK(copy_plain_files(common, made.folder_));
    AF_TRY(const std::vector<ConfigEntry> entries, configuration_of(repository));
    for (const ConfigEntry& entry : entries) {
        if (entry.is_repositorys && names_a_program(entry.key)) { made.left_out_.push_back(entry.key); }
    }
    AF_CHECK(write_configuration(entries, made.folder_ / "config", made.work_directory_, common / "lfs"));
    return made;
}

GitStandIn::GitStandIn(GitStandIn&& other) noexcept
    : folder_(std::exchange(other.folder_, {})),
      work_directory_(std::move(other.work_directory_)),
      objects_(std::move(other.objects_)),
      index_(std::move(other.index_)),
      left_out_(std::move(other.left_out_)) {}

GitStandIn::~GitStandIn() {
    std::error_code ignored;  // Leftovers are small and harmless.
    if (!folder_.empty()) { fs::remove_all(folder_, ignored); }
}

std::map<std::string, std::string> GitStandIn::variables() const {
    return {{"GIT_DIR", folder_.string()},
            {"GIT_OBJECT_DIRECTORY", objects_.string()},
            {"GIT_INDEX_FILE", index_.string()},
            {"GIT_WORK_TREE", work_directory_.string()}};
}

Result<std::vector<std::string>> GitStandIn::submodules() const {
    AF_TRY(const RepositoryHandle handle, open_repository(work_directory_));
    git_index* raw = nullptr;
    if (const int code = git_repository_index(&raw, handle.get()); code < 0) { return failure(code, "read the index"); }
    const IndexHandle index(raw);
    std::vector<std::string> paths;
    for (std::size_t each = 0; each < git_index_entrycount(raw); ++each) {
        const git_index_entry* const entry = git_index_get_byindex(raw, each);
        if (entry->mode == GIT_FILEMODE_COMMIT) { paths.emplace_back(entry->path); }
    }
    return paths;
}

Result<void> GitStandIn::check_filters(const std::vector<std::string>& paths) const {
    AF_TRY(const RepositoryHandle handle, open_repository(work_directory_));
    AF_TRY(const std::vector<ConfigEntry> entries, configuration_of(handle.get()));
    std::set<std::string> users;
    std::set<std::string> repositorys;
    for (const ConfigEntry& entry : entries) {
        if (!entry.key.starts_with("filter.") || !names_a_program(entry.key)) { continue; }
        (entry.is_repositorys ? repositorys : users).insert(entry.key.substr(7, entry.key.rfind('.') - 7));
    }
    if (repositorys.empty()) { return {}; }
    for (const std::string& path : paths) {
        const char* value = nullptr;
        if (git_attr_get(&value, handle.get(), GIT_ATTR_CHECK_FILE_THEN_INDEX, path.c_str(), "filter") < 0 || value == nullptr) {
            continue;
        }
        if (!repositorys.contains(value) || users.contains(value)) { continue; }
        return Error{"AF-GIT-065",
                     "The file " + path + " goes through the filter `" + value +
                         "`, which only the repository's own configuration defines; AgentForge does not run it",
                     work_directory_.string(),
                     "If you trust its program, define it in your own configuration: git config --global filter." +
                         std::string(value) + ".clean …, or commit the file yourself first",
                     ErrorKind::denied};
    }
    return {};
}

}  // namespace agentforge::kernel
