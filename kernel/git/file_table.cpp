// SPDX-License-Identifier: Apache-2.0
#include "git/file_table.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <ctime>

#include <openssl/evp.h>

#include "base/checksum.hpp"
#include "git/folder.hpp"

namespace agentforge::kernel::git {

namespace {

/// In this machine's byte order. A file in the other order is ignored.
struct TableHeader {
    std::array<char, 8> magic{'A', 'F', 'f', 'i', 'l', 'e', 's', '\1'};
    std::uint64_t files = 0;
    std::uint64_t path_bytes = 0;
    std::uint64_t sum = 0;  ///< Checksum of everything after the header.
    git_oid tree{};
    std::uint32_t padding = 0;
};
static_assert(sizeof(FileTable::File) == 52 && sizeof(TableHeader) == 56);

bool read_whole(int file, void* into, std::size_t size) {
    char* at = static_cast<char*>(into);
    while (size > 0) {
        const ssize_t count = ::read(file, at, size);
        if (count < 0 && errno == EINTR) { continue; }
        if (count <= 0) { return false; }
        at += count;
        size -= static_cast<std::size_t>(count);
    }
    return true;
}

/// A new file beside the one that it replaces.
class Replacement {
public:
    explicit Replacement(const std::filesystem::path& file)
        : file_(file),
          temporary_(file.string() + ".new"),
          descriptor_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644)) {
        buffer_.reserve(capacity);
    }
    [[nodiscard]] Result<void> add(const void* bytes, std::size_t size) {
        if (buffer_.size() + size > capacity) { AF_CHECK(flush()); }
        if (size >= capacity) { return write_all(descriptor_.get(), {static_cast<const char*>(bytes), size}, temporary_); }
        buffer_.append(static_cast<const char*>(bytes), size);
        return {};
    }
    [[nodiscard]] Result<void> finish() {
        AF_CHECK(flush());
        if (::rename(temporary_.c_str(), file_.c_str()) != 0) { return folder_error(errno, "write a file", file_); }
        return {};
    }

private:
    [[nodiscard]] Result<void> flush() {
        if (!descriptor_.valid()) { return folder_error(errno, "write a file", temporary_); }
        AF_CHECK(write_all(descriptor_.get(), buffer_, temporary_));
        buffer_.clear();
        return {};
    }
    static constexpr std::size_t capacity = 1UL << 16U;
    std::filesystem::path file_;
    std::filesystem::path temporary_;
    FileDescriptor descriptor_;
    std::string buffer_;
};

/// In nanoseconds. A file changed after this time may change again without a visible sign.
std::int64_t newest_sure_time() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    constexpr std::int64_t tick_ns = 20'000'000;  // Kernel ticks are up to 10 ms apart.
    return (static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000) + now.tv_nsec - tick_ns;
}

void forget_if_fresh(FileStamp& stamp, std::int64_t limit) {
    if ((static_cast<std::int64_t>(stamp.changed_s) * 1'000'000'000) + stamp.changed_ns >= limit) { stamp = {}; }
}

/// A tree made by hand could contain `..`, but no path may leave the worktree.
bool is_allowed(std::string_view path) { return is_recordable_path(path) && path.size() <= UINT16_MAX; }

Error path_refused(std::string path) {
    return Error{"AF-GIT-015", "The tree holds a path that is not allowed: `" + path + "`", path, "Use a tree that git made",
                 ErrorKind::invalid};
}

}  // namespace

std::size_t FileTable::lower_bound(std::string_view path, std::string_view more) const {
    std::size_t low = 0;
    std::size_t high = files_.size();
    while (low < high) {
        const std::size_t middle = low + ((high - low) / 2);
        const std::string_view here = this->path(middle);
        int order = here.compare(0, path.size(), path);
        if (order == 0) { order = here.size() < path.size() ? -1 : here.substr(path.size()).compare(more); }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const FileTable::File* FileTable::find(std::string_view path, std::size_t* position) const {
    const std::size_t found = lower_bound(path);
    if (found == files_.size() || this->path(found) != path) { return nullptr; }
    if (position != nullptr) { *position = found; }
    return &files_[found];
}

std::pair<std::size_t, std::size_t> FileTable::below(std::string_view folder) const {
    constexpr char after_slash = '/' + 1;
    return {lower_bound(folder, "/"), lower_bound(folder, {&after_slash, 1})};
}

bool FileTable::has_below(std::string_view folder) const {
    const auto [from, to] = below(folder);
    return from < to;
}

FileTable::File FileTable::make(std::string_view path, const TreeEntry& entry) {
    const File file{entry.id,
                    {},
                    static_cast<std::uint32_t>(paths_.size()),
                    static_cast<std::uint16_t>(path.size()),
                    static_cast<std::uint16_t>(entry.mode)};
    paths_.append(path);
    return file;
}

Result<FileTable> FileTable::of_tree(git_repository* repository, const git_oid& tree) {
    FileTable table;
    {
        // Counts first, because a growing vector briefly takes up to three times its size.
        std::pair<std::size_t, std::size_t> sizes;
        AF_TRY(const TreeHandle root, find_tree(repository, tree));
        const auto count = [](const char* folder, const git_tree_entry* entry, void* data) {
            auto& [files, bytes] = *static_cast<std::pair<std::size_t, std::size_t>*>(data);
            if (git_tree_entry_type(entry) != GIT_OBJECT_TREE) {
                ++files;
                bytes += std::strlen(folder) + std::strlen(git_tree_entry_name(entry));
            }
            return 0;
        };
        if (const int code = git_tree_walk(root.get(), GIT_TREEWALK_PRE, count, &sizes); code < 0) {
            return failure(code, "read a tree");
        }
        table.files_.reserve(sizes.first);
        table.paths_.reserve(sizes.second);
    }
    std::optional<std::string> refused;
    AF_CHECK(for_each_file(repository, tree, [&](const std::string& path, const TreeEntry& entry) {
        if (!is_allowed(path) || table.paths_.size() + path.size() > UINT32_MAX) {
            refused = path;
        } else {
            table.files_.push_back(table.make(path, entry));
        }
    }));
    if (refused) { return path_refused(std::move(*refused)); }
    // git's own trees are sorted. A tree made by hand could contain a name twice.
    for (std::size_t i = 1; i < table.size(); ++i) {
        if (table.path(i - 1) >= table.path(i)) { return path_refused(std::string(table.path(i))); }
    }
    return table;
}

Result<std::vector<std::string>> FileTable::change_tree(git_repository* repository, const git_oid& from, const git_oid& to) {
    std::vector<std::string> gone;
    if (git_oid_equal(&from, &to) != 0) { return gone; }
    AF_TRY(const TreeHandle before, find_tree(repository, from));
    AF_TRY(const TreeHandle after, find_tree(repository, to));
    git_diff_options options = GIT_DIFF_OPTIONS_INIT;
    options.flags = GIT_DIFF_INCLUDE_TYPECHANGE;
    options.ignore_submodules = GIT_SUBMODULE_IGNORE_NONE;
    git_diff* raw = nullptr;
    if (const int code = git_diff_tree_to_tree(&raw, repository, before.get(), after.get(), &options); code < 0) {
        return failure(code, "compare two trees");
    }
    const DiffHandle diff(raw);
    std::vector<Recorded> changes;
    changes.reserve(git_diff_num_deltas(raw));
    for (std::size_t i = 0; i < git_diff_num_deltas(raw); ++i) {
        const git_diff_delta* delta = git_diff_get_delta(raw, i);
        if (delta->status == GIT_DELTA_DELETED) {
            gone.emplace_back(delta->old_file.path);
            changes.push_back({gone.back(), std::nullopt, {}});
            continue;
        }
        std::string path = delta->new_file.path;
        if (!is_allowed(path) || paths_.size() + path.size() > UINT32_MAX) { return path_refused(std::move(path)); }
        changes.push_back(
            {std::move(path), TreeEntry{delta->new_file.id, static_cast<git_filemode_t>(delta->new_file.mode)}, {}});
    }
    std::sort(gone.begin(), gone.end());
    update(std::move(changes));
    return gone;
}

void FileTable::update(std::vector<Recorded> changes) {
    if (changes.empty()) { return; }
    std::stable_sort(changes.begin(), changes.end(), [](const Recorded& a, const Recorded& b) { return a.path < b.path; });
    const auto repeated =
        std::unique(changes.rbegin(), changes.rend(), [](const Recorded& a, const Recorded& b) { return a.path == b.path; });
    changes.erase(changes.begin(), repeated.base());
    const std::int64_t limit = newest_sure_time();
    for (Recorded& change : changes) { forget_if_fresh(change.stamp, limit); }
    bool same_paths = true;
    std::size_t position = 0;
    for (const Recorded& change : changes) {
        const bool known = find(change.path, &position) != nullptr;
        if (known && change.entry) {
            files_[position].id = change.entry->id;
            files_[position].mode = static_cast<std::uint16_t>(change.entry->mode);
            files_[position].stamp = change.stamp;
        }
        same_paths = same_paths && known == change.entry.has_value();
    }
    if (same_paths) { return; }
    std::vector<File> merged;  // The old paths keep their place.
    merged.reserve(files_.size() + changes.size());
    std::size_t next = 0;
    for (const Recorded& change : changes) {
        for (; next < files_.size() && path(next) < change.path; ++next) { merged.push_back(files_[next]); }
        const bool known = next < files_.size() && path(next) == change.path;
        if (change.entry && known) {
            merged.push_back(files_[next]);
        } else if (change.entry) {
            merged.push_back(make(change.path, *change.entry));
            merged.back().stamp = change.stamp;
        }
        if (known) { ++next; }
    }
    merged.insert(merged.end(), files_.begin() + static_cast<std::ptrdiff_t>(next), files_.end());
    files_ = std::move(merged);
}

void FileTable::forget_fresh_stamps() {
    const std::int64_t limit = newest_sure_time();
    for (File& file : files_) { forget_if_fresh(file.stamp, limit); }
}

bool FileTable::save(const std::filesystem::path& file, const git_oid& tree) const {
    TableHeader header;
    header.files = files_.size();
    header.tree = tree;
    // Writes the paths in order, without those no longer used.
    Checksum sum;
    for (File copy : files_) {
        copy.path_begin = static_cast<std::uint32_t>(header.path_bytes);
        header.path_bytes += copy.path_size;
        sum.add(&copy, sizeof copy);
    }
    for (std::size_t i = 0; i < files_.size(); ++i) { sum.add(path(i).data(), path(i).size()); }
    header.sum = sum.value();

    Replacement out(file);
    bool written = out.add(&header, sizeof header).ok();
    std::uint32_t begin = 0;
    for (std::size_t i = 0; written && i < files_.size(); ++i) {
        File copy = files_[i];
        copy.path_begin = begin;
        begin += copy.path_size;
        written = out.add(&copy, sizeof copy).ok();
    }
    for (std::size_t i = 0; written && i < files_.size(); ++i) { written = out.add(path(i).data(), path(i).size()).ok(); }
    return written && out.finish().ok();
}

std::optional<std::pair<FileTable, git_oid>> FileTable::load(const std::filesystem::path& file) {
    const FileDescriptor in(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat st {};
    TableHeader header;
    const TableHeader expected;
    if (!in.valid() || ::fstat(in.get(), &st) != 0 || !S_ISREG(st.st_mode) || !read_whole(in.get(), &header, sizeof header)) {
        return std::nullopt;
    }
    const std::uint64_t rest = static_cast<std::uint64_t>(st.st_size) - sizeof header;
    if (header.magic != expected.magic || header.files > rest / sizeof(File) ||
        header.path_bytes != rest - (header.files * sizeof(File)) || header.path_bytes > UINT32_MAX) {
        return std::nullopt;
    }
    FileTable table;
    table.files_.resize(header.files);
    table.paths_.resize(header.path_bytes);
    if (!read_whole(in.get(), table.files_.data(), header.files * sizeof(File)) ||
        !read_whole(in.get(), table.paths_.data(), header.path_bytes)) {
        return std::nullopt;
    }
    Checksum sum;
    std::uint64_t end = 0;
    for (const File& one : table.files_) {
        if (one.path_begin != end) { return std::nullopt; }
        end += one.path_size;
        sum.add(&one, sizeof one);
    }
    if (end != header.path_bytes) { return std::nullopt; }
    for (std::size_t i = 0; i < table.size(); ++i) { sum.add(table.path(i).data(), table.path(i).size()); }
    if (sum.value() != header.sum) { return std::nullopt; }
    return std::pair{std::move(table), header.tree};
}

Result<void> FileTable::write_index(const std::filesystem::path& file) const {
    const auto digest = std::unique_ptr<EVP_MD_CTX, Releaser<EVP_MD_CTX_free>>(EVP_MD_CTX_new());
    if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha1(), nullptr) != 1) {
        return Error{"AF-GIT-099", "git could not create an index: OpenSSL has no SHA-1", file.string(),
                     "Check whether OpenSSL's settings forbid it", ErrorKind::io};
    }
    Replacement out(file);
    const auto add = [&](const void* bytes, std::size_t size) {
        EVP_DigestUpdate(digest.get(), bytes, size);
        return out.add(bytes, size);
    };
    const auto number = [](std::array<unsigned char, 62>& into, std::size_t at, std::uint32_t value) {
        for (std::size_t i = 0; i < 4; ++i) { into[at + i] = static_cast<unsigned char>(value >> (24 - (8 * i))); }
    };
    std::array<unsigned char, 62> head{'D', 'I', 'R', 'C', 0, 0, 0, 2};
    number(head, 8, static_cast<std::uint32_t>(files_.size()));
    AF_CHECK(add(head.data(), 12));
    for (std::size_t i = 0; i < files_.size(); ++i) {
        head = {};  // Times, device, inode, owner and size are zero: unknown.
        number(head, 24, files_[i].mode);
        std::memcpy(head.data() + 40, files_[i].id.id, sizeof files_[i].id.id);
        const std::string_view name = path(i);
        const auto length = static_cast<std::uint16_t>(std::min<std::size_t>(name.size(), 0xFFF));
        head[60] = static_cast<unsigned char>(length >> 8U);
        head[61] = static_cast<unsigned char>(length & 0xFFU);
        AF_CHECK(add(head.data(), head.size()));
        AF_CHECK(add(name.data(), name.size()));
        constexpr std::array<char, 8> zeros{};
        AF_CHECK(add(zeros.data(), 8 - ((head.size() + name.size()) % 8)));
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
    unsigned sum_size = 0;
    EVP_DigestFinal_ex(digest.get(), sum.data(), &sum_size);
    AF_CHECK(out.add(sum.data(), sum_size));
    return out.finish();
}

}  // namespace agentforge::kernel::git
