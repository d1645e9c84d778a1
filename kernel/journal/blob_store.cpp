// SPDX-License-Identifier: Apache-2.0
#include "journal/blob_store.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "journal/blob_lines.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view head = blobs_head;
constexpr std::string_view line_start = blob_line_start;
constexpr std::size_t hash_digits = blob_hash_digits;
constexpr std::size_t most_in_memory = 8UL << 20U;
constexpr std::size_t chunk = 1UL << 20U;  ///< Bytes to read at once.

bool is_hash(std::string_view text) noexcept {
    return text.size() == hash_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error not_stored(const fs::path& file, const std::string& why) {
    return Error{"AF-JRNL-010", "Cannot store a blob: " + why, file.string(),
                 "Check the permissions and the free space, then resume the task.", ErrorKind::io};
}

Error not_read(const fs::path& file, const std::string& why) {
    return Error{"AF-JRNL-010", "Cannot read a blob: " + why, file.string(), "Check the file's permissions and its disk.",
                 ErrorKind::io};
}

/// Reads the whole range. Returns 0 or an errno value.
int read_range(int descriptor, std::uint64_t offset, std::string& into) {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got = ::pread(descriptor, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) { continue; }
        if (got < 0) { return errno; }
        if (got == 0) { return EIO; }
        done += static_cast<std::size_t>(got);
    }
    return 0;
}

/// Locks out other stores of the same file while this one appends.
class Turn {
public:
    explicit Turn(int descriptor) : descriptor_(descriptor) {
        int result = 0;
        do { result = ::flock(descriptor, LOCK_EX); } while (result != 0 && errno == EINTR);
        taken_ = result == 0;
    }
    ~Turn() {
        if (taken_) { ::flock(descriptor_, LOCK_UN); }
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    [[nodiscard]] bool taken() const noexcept { return taken_; }

private:
    int descriptor_;
    bool taken_ = false;
};

/// Position of a blob's line in the file.
struct Place {
    std::uint64_t offset = 0;
    std::size_t size = 0;  ///< Size of the line without its end.
};

/// Places of the blobs put last. This is enough to find what a step puts again, and its size does not grow with the number of
/// blobs.
class RecentPlaces {
public:
    void add(const std::string& hash, Place place) {
        if (young_.size() == most) { old_ = std::exchange(young_, {}); }
        young_.insert_or_assign(hash, place);
    }
    [[nodiscard]] const Place* find(std::string_view hash) const {
        for (const auto* places : {&young_, &old_}) {
            if (const auto found = places->find(hash); found != places->end()) { return &found->second; }
        }
        return nullptr;
    }
    void clear() {
        young_.clear();
        old_.clear();
    }

private:
    static constexpr std::size_t most = 1024;
    std::map<std::string, Place, std::less<>> young_;
    std::map<std::string, Place, std::less<>> old_;
};

/// Places of all blobs, sorted by hash. Built by reading the file when a blob is requested that was not put recently.
class AllPlaces {
public:
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
    [[nodiscard]] const Place* find(std::string_view hash) const {
        const auto after = std::upper_bound(entries_.begin(), entries_.end(), hash,
                                            [](std::string_view key, const Entry& entry) { return key < entry.key(); });
        if (after == entries_.begin() || std::prev(after)->key() != hash) { return nullptr; }
        return &std::prev(after)->place;  // The newest of several.
    }
    /// Adds a part of the file that begins at `end()` and ends with a line.
    void add(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = text.find('\n', at);
            const std::string_view line = text.substr(at, end - at);
            if (line.starts_with(line_start) && line.size() > line_start.size() + hash_digits) {
                const std::string_view hash = line.substr(line_start.size(), hash_digits);
                if (is_hash(hash)) { entries_.emplace_back(hash, Place{end_ + at, line.size()}); }
            }
            at = end + 1;
        }
        end_ += text.size();
    }
    /// Call it after the last `add` and before the next `find`.
    void sort() {
        const auto added = entries_.begin() + static_cast<std::ptrdiff_t>(sorted_);
        std::ranges::stable_sort(added, entries_.end(), {}, &Entry::key);
        std::ranges::inplace_merge(entries_, added, {}, &Entry::key);
        sorted_ = entries_.size();
    }

private:
    struct Entry {
        Entry(std::string_view hash, Place where) : place(where) { std::ranges::copy(hash, digits.begin()); }
        [[nodiscard]] std::string_view key() const { return {digits.data(), digits.size()}; }
        std::array<char, hash_digits> digits{};
        Place place;
    };
    std::vector<Entry> entries_;
    std::size_t sorted_ = 0;
    std::uint64_t end_ = 0;
};

}  // namespace

struct BlobStore::State {
    fs::path file;
    std::mutex mutex;
    FileDescriptor descriptor;  ///< Opened on first use.
    RecentPlaces recent;
    AllPlaces all;
    std::map<std::string, std::string, std::less<>> pending;
    std::size_t pending_bytes = 0;
    std::vector<std::shared_ptr<State>> shared;  ///< Stores of the tasks that this one was forked from.
    Durability durability = Durability::synced;
    bool unsynced = false;  ///< True if the file may hold lines that were never synced.

    /// Returns false if there is no file yet. Errors: AF-JRNL-010; AF-JRNL-012 if it is another kind of file.
    Result<bool> open() {
        if (descriptor.valid()) { return true; }
        do {
            descriptor = FileDescriptor(::open(file.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
            // A reader without write permission (`agentforge inspect`) can still read.
            if (!descriptor.valid() && (errno == EACCES || errno == EROFS)) {
                descriptor = FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
            }
        } while (!descriptor.valid() && errno == EINTR);
        if (!descriptor.valid() && (errno == ENOENT || errno == ENOTDIR)) { return false; }
        if (!descriptor.valid()) { return not_read(file, errno_text(errno)); }
        unsynced = true;
        if (auto checked = check_head(); !checked.ok()) {
            descriptor = FileDescriptor();
            return checked.error();
        }
        return true;
    }

    [[nodiscard]] Result<std::uint64_t> size() const {
        struct stat status {};
        if (::fstat(descriptor.get(), &status) != 0) { return not_read(file, errno_text(errno)); }
        return static_cast<std::uint64_t>(status.st_size);
    }

    /// A file shorter than its head was torn while it was made.
    [[nodiscard]] Result<void> check_head() const {
        AF_TRY(const std::uint64_t bytes, size());
        if (bytes < head.size()) { return {}; }
        std::string begin(head.size(), '\0');
        if (const int error = read_range(descriptor.get(), 0, begin); error != 0) { return not_read(file, errno_text(error)); }
        if (begin == head) { return {}; }
        return Error{"AF-JRNL-012", "The blob file has a wrong header", file.string(),
                     "It was changed or damaged, or belongs to another version; restore it from a backup.", ErrorKind::corrupt};
    }

    /// Returns the end of the file's last whole line. 0 if the head is not whole.
    [[nodiscard]] Result<std::uint64_t> end_of_lines(std::uint64_t bytes) const {
        if (bytes < head.size()) { return std::uint64_t{0}; }
        std::string part(1, '\0');  // Nearly always the end of a line.
        for (std::uint64_t end = bytes; end > 0; part.resize(chunk)) {
            const std::uint64_t begin = end - std::min<std::uint64_t>(end, part.size());
            part.resize(end - begin);
            if (const int error = read_range(descriptor.get(), begin, part); error != 0) {
                return not_read(file, errno_text(error));
            }
            if (const std::size_t last = part.rfind('\n'); last != std::string::npos) { return begin + last + 1; }
            end = begin;
        }
        return std::uint64_t{0};
    }

    /// Reads all lines that the file has now, including those of other stores.
    Result<void> read_new_lines() {
        AF_TRY(const bool there, open());
        if (!there) { return {}; }
        AF_TRY(const std::uint64_t bytes, size());
        if (bytes < all.end()) { forget(); }  // Another process cut the file. What is left counts.
        AF_TRY(const std::uint64_t end, end_of_lines(bytes));
        if (end <= all.end()) { return {}; }
        std::string rest;  // Rest of a line that continues in the next part.
        for (std::uint64_t at = all.end(); at < end;) {
            std::string part(std::min<std::uint64_t>(end - at, chunk), '\0');
            if (const int error = read_range(descriptor.get(), at, part); error != 0) {
                return not_read(file, errno_text(error));
            }
            at += part.size();
            rest += part;
            const std::size_t whole = rest.rfind('\n') + 1;
            all.add(std::string_view(rest).substr(0, whole));
            rest.erase(0, whole);
        }
        all.sort();
        return {};
    }

    void forget() {
        recent.clear();
        all = {};
    }

    /// Returns nothing if no line has the hash. A damaged line is an error.
    Result<std::optional<std::string>> find(std::string_view hash) {
        AF_TRY(const bool there, open());
        if (!there) { return std::optional<std::string>(); }
        const Place* place = recent.find(hash);
        if (place == nullptr) {
            AF_CHECK(read_new_lines());
            place = all.find(hash);
        }
        if (place == nullptr) { return std::optional<std::string>(); }
        AF_TRY(std::string bytes, read(*place, hash));
        return std::optional<std::string>(std::move(bytes));
    }

    Result<std::string> read(const Place& place, std::string_view hash) const {
        std::string line(place.size, '\0');
        if (const int error = read_range(descriptor.get(), place.offset, line); error != 0) {
            return not_read(file, errno_text(error));
        }
        auto bytes = bytes_of_blob_line(line);
        if (!bytes || sha256(*bytes) != hash) {
            return Error{"AF-JRNL-012", "The blob's content does not match the hash in its name",
                         file.string() + " at byte " + std::to_string(place.offset),
                         "It was changed or damaged; restore the file from a backup.", ErrorKind::corrupt};
        }
        return std::move(*bytes);
    }

    Result<void> create() {
        AF_CHECK(make_directories(file.parent_path()));
        AF_CHECK(sync_directory(file.parent_path().parent_path()));
        auto made = create_file_exclusive(file, head, durability);
        if (!made.ok() && made.error().kind != ErrorKind::conflict) { return made; }
        AF_TRY(const bool there, open());
        return there ? Result<void>() : Result<void>(not_stored(file, errno_text(ENOENT)));
    }

    Result<void> sync() {
        if (pending.empty() && !unsynced) { return {}; }
        AF_TRY(const bool there, open());
        if (!there) {
            if (auto made = create(); !made.ok()) { return not_stored(file, made.error().message); }
        }
        if (!pending.empty()) { AF_CHECK(append()); }
        if (durability == Durability::synced && ::fdatasync(descriptor.get()) != 0) {
            const int error = errno;
            // After a failed sync the page cache cannot be trusted: reads everything again, and writes it again if needed.
            forget();
            return not_stored(file, errno_text(error));
        }
        for (const auto& [hash, bytes] : pending) { pending_bytes -= bytes.size(); }
        pending.clear();
        unsynced = false;
        return {};
    }

    Result<void> append() {
        const Turn turn(descriptor.get());
        if (!turn.taken()) { return not_stored(file, errno_text(errno)); }
        struct stat status {};
        if (::fstat(descriptor.get(), &status) != 0) { return not_stored(file, errno_text(errno)); }
        if (status.st_nlink == 0) { return not_stored(file, "the file was deleted or replaced while it was in use"); }
        const auto bytes_now = static_cast<std::uint64_t>(status.st_size);
        AF_TRY(const std::uint64_t known, end_of_lines(bytes_now));
        // A torn last line: no record names its blob.
        if (bytes_now != known && ::ftruncate(descriptor.get(), static_cast<off_t>(known)) != 0) {
            return not_stored(file, errno_text(errno));
        }
        std::string text;
        if (known == 0) { text += head; }
        std::vector<std::pair<std::string, Place>> added;
        for (const auto& [hash, bytes] : pending) {
            const std::size_t begin = text.size();
            append_blob_line(text, hash, bytes);
            added.emplace_back(hash, Place{known + begin, text.size() - begin - 1});
        }
        if (auto written = write_all(descriptor.get(), text, file); !written.ok()) {
            // Cuts the file back. If that fails, the next store to append cuts the torn line.
            if (::ftruncate(descriptor.get(), static_cast<off_t>(known)) != 0) {
                return not_stored(file, written.error().message + "; nor could it be cut back");
            }
            return not_stored(file, written.error().message);
        }
        for (const auto& [hash, place] : added) { recent.add(hash, place); }
        return {};
    }
};

BlobStore::BlobStore(fs::path root, Durability durability) : state_(std::make_shared<State>()) {
    state_->durability = durability;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(root, none)) {
        if (entry.is_directory(none) && !entry.is_symlink(none)) { state_->shared.push_back(BlobStore(entry.path()).state_); }
    }
    state_->file = std::move(root) / "blobs.yaml";
}

namespace {

/// `folder`: a task's `artifacts/blobs`.
Error blobs_freed(const std::filesystem::path& folder) {
    return Error{"AF-JRNL-011", "The task's blobs were freed", folder.string(),
                 "`agentforge archive restore " + folder.parent_path().parent_path().filename().string() +
                     "` brings them back if the repository keeps the task (`agentforge archive list`).",
                 ErrorKind::not_found};
}

}  // namespace

Result<void> BlobStore::share(const fs::path& parent, std::string_view parent_task, const fs::path& child) {
    const auto link = [](const fs::path& from, const fs::path& folder) -> Result<void> {
        std::error_code error;
        if (!fs::exists(from, error)) { return {}; }
        AF_CHECK(make_directories(folder));
        fs::create_hard_link(from, folder / "blobs.yaml", error);
        if (error) { fs::copy_file(from, folder / "blobs.yaml", error); }
        return error ? Result<void>(not_stored(folder / "blobs.yaml", error.message())) : sync_directory(folder);
    };
    std::error_code none;
    if (!fs::exists(parent, none) && !none) { return blobs_freed(parent); }
    AF_CHECK(link(parent / "blobs.yaml", child / parent_task));
    for (const auto& entry : fs::directory_iterator(parent, none)) {
        if (entry.is_directory(none)) { AF_CHECK(link(entry.path() / "blobs.yaml", child / entry.path().filename())); }
    }
    return sync_directory(child);
}

Result<std::string> BlobStore::put(std::string_view bytes) {
    std::string hash = sha256(bytes);
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    if (state.pending.contains(hash)) { return hash; }
    AF_TRY(const bool there, state.open());
    if (const Place* const place = state.recent.find(hash); there && place != nullptr) {
        if (state.read(*place, hash).ok()) { return hash; }  // A damaged blob is put again. The newest counts.
    }
    state.pending.emplace(hash, bytes);
    state.pending_bytes += bytes.size();
    if (state.pending_bytes > most_in_memory) { AF_CHECK(state.sync()); }
    return hash;
}

Result<void> BlobStore::sync() {
    const std::lock_guard lock(state_->mutex);
    return state_->sync();
}

Result<std::string> BlobStore::get(std::string_view hash) const {
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    if (is_hash(hash)) {
        if (const auto found = state.pending.find(hash); found != state.pending.end()) { return found->second; }
        AF_TRY(std::optional<std::string> bytes, state.find(hash));
        if (bytes) { return std::move(*bytes); }
        for (const auto& other : state.shared) {
            if (const BlobStore store(other); store.contains(hash)) { return store.get(hash); }
        }
    }
    std::error_code none;
    if (is_hash(hash) && !std::filesystem::exists(state.file.parent_path(), none) && !none) {
        return blobs_freed(state.file.parent_path());
    }
    return Error{"AF-JRNL-011", "There is no blob '" + std::string(hash.substr(0, 80)) + "'", state.file.string(),
                 "Check the hash; the file may have been removed.", ErrorKind::not_found};
}

bool BlobStore::contains(std::string_view hash) const {
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    if (!is_hash(hash)) { return false; }
    if (state.pending.contains(hash)) { return true; }
    if (state.recent.find(hash) != nullptr) { return true; }
    if (state.read_new_lines().ok() && state.all.find(hash) != nullptr) { return true; }
    return std::ranges::any_of(state.shared, [&](const auto& other) { return BlobStore(other).contains(hash); });
}

}  // namespace agentforge::kernel
