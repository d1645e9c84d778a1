// SPDX-License-Identifier: Apache-2.0
#include "git/worktree_state.hpp"

namespace agentforge::kernel::git {

Result<StatCache> StatCache::open(const std::filesystem::path& file) {
    git_index* raw = nullptr;
    if (const int code = git_index_open(&raw, file.c_str()); code < 0) { return failure(code, "read " + file.string()); }
    return StatCache(IndexHandle(raw));
}

const git_index_entry* StatCache::find(const std::string& path, std::size_t* position) const {
    std::size_t found = 0;
    if (git_index_find(&found, index_.get(), path.c_str()) < 0) { return nullptr; }
    if (position != nullptr) { *position = found; }
    return at(found);
}

bool StatCache::has_below(const std::string& folder) const {
    return git_index_find_prefix(nullptr, index_.get(), (folder + "/").c_str()) == 0;
}

bool StatCache::unchanged(const git_index_entry& entry, const struct stat& st) {
    return entry.ctime.seconds == static_cast<std::int32_t>(st.st_ctim.tv_sec) &&
           entry.ctime.nanoseconds == static_cast<std::uint32_t>(st.st_ctim.tv_nsec) &&
           entry.mtime.seconds == static_cast<std::int32_t>(st.st_mtim.tv_sec) &&
           entry.mtime.nanoseconds == static_cast<std::uint32_t>(st.st_mtim.tv_nsec) &&
           entry.file_size == static_cast<std::uint32_t>(st.st_size) && entry.ino == static_cast<std::uint32_t>(st.st_ino) &&
           entry.ctime.seconds != 0;
}

void StatCache::clear() {
    git_index_clear(index_.get());
    changed_ = true;
}

void StatCache::remove(const std::string& path) {
    if (git_index_remove(index_.get(), path.c_str(), 0) == 0) { changed_ = true; }
}

std::vector<std::string> StatCache::at_or_below(const std::string& path) const {
    std::vector<std::string> paths;
    if (find(path) != nullptr) { paths.push_back(path); }
    const std::string prefix = path + "/";
    std::size_t position = 0;
    if (git_index_find_prefix(&position, index_.get(), prefix.c_str()) == 0) {
        for (; position < size() && std::string_view(at(position)->path).starts_with(prefix); ++position) { paths.emplace_back(at(position)->path); }
    }
    return paths;
}

Result<void> StatCache::put(const std::vector<Recorded>& entries) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    // File times tick with the kernel's timer (up to 10 ms apart).
    constexpr long long tick_ns = 20'000'000;
    const long long limit = (static_cast<long long>(now.tv_sec) * 1'000'000'000LL) + now.tv_nsec - tick_ns;
    for (const Recorded& recorded : entries) {
        const FileStamp& stamp = recorded.stamp;
        git_index_entry entry{};
        const long long changed_at = (static_cast<long long>(stamp.changed.tv_sec) * 1'000'000'000LL) + stamp.changed.tv_nsec;
        if (changed_at < limit) {
            entry.ctime = {static_cast<std::int32_t>(stamp.changed.tv_sec), static_cast<std::uint32_t>(stamp.changed.tv_nsec)};
            entry.mtime = {static_cast<std::int32_t>(stamp.written.tv_sec), static_cast<std::uint32_t>(stamp.written.tv_nsec)};
            entry.ino = stamp.inode;
            entry.file_size = stamp.size;
        }
        entry.mode = recorded.entry.mode;
        entry.id = recorded.entry.id;
        entry.path = recorded.path.c_str();
        if (git_index_add(index_.get(), &entry) < 0) {
            const git_error* error = git_error_last();
            return Error{"AF-GIT-015", "git cannot record the path `" + recorded.path + "`: " + (error != nullptr ? error->message : "no reason given"),
                         recorded.path, "Rename the file", ErrorKind::invalid};
        }
        changed_ = true;
    }
    return {};
}

Result<git_oid> StatCache::write_tree(git_repository* repository) const {
    git_oid id{};
    if (const int code = git_index_write_tree_to(&id, index_.get(), repository); code < 0) { return failure(code, "write a tree"); }
    return id;
}

void StatCache::save() {
    if (!changed_) { return; }
    const std::string lock = std::string(git_index_path(index_.get())) + ".lock";
    if (retry_while_locked([this] { return git_index_write(index_.get()); }, lock) == 0) { changed_ = false; }
}

}  // namespace agentforge::kernel::git
