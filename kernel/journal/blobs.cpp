// SPDX-License-Identifier: Apache-2.0
#include "journal/blobs.hpp"

#include <algorithm>
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

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view head = "agentforge_blobs: 1\nblobs:\n";
constexpr std::string_view line_start = "- {\"sha256\": \"";
constexpr std::size_t hash_digits = 64;
constexpr std::size_t most_in_memory = 8UL << 20U;

bool is_hash(std::string_view text) noexcept {
    return text.size() == hash_digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error not_stored(const fs::path& file, const std::string& why) {
    return Error{"AF-JRNL-010", "A blob could not be stored: " + why, file.string(), "Check the rights and the space left, then resume the task.", ErrorKind::io};
}

Error not_read(const fs::path& file, const std::string& why) {
    return Error{"AF-JRNL-010", "A blob could not be read: " + why, file.string(), "Check the rights of the file and its disk.", ErrorKind::io};
}

std::string to_hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    return text;
}

std::string from_hex(std::string_view text) {
    const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10) & 15U; };
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t at = 0; at + 1 < text.size(); at += 2) { bytes += static_cast<char>(digit(text[at]) << 4U | digit(text[at + 1])); }
    return bytes;
}

void append_line(std::string& text, const std::string& hash, std::string_view bytes) {
    const bool plain = is_valid_utf8(bytes);
    text += line_start;
    text += hash;
    text += "\", \"bytes\": " + std::to_string(bytes.size()) + (plain ? ", \"text\": " : ", \"hex\": ");
    append_json_line(text, json::value(plain ? std::string(bytes) : to_hex(bytes)));
    text += "}\n";
}

/// The bytes that a line holds; empty where it is not a line as `append_line` makes them.
std::optional<std::string> bytes_of(std::string_view line) {
    if (!line.starts_with("- ")) { return std::nullopt; }
    const auto parsed = parse_json(line.substr(2), "blobs.yaml");
    if (!parsed.ok() || !parsed->is_object()) { return std::nullopt; }
    const json::object& object = parsed->get_object();
    if (const auto* text = object.if_contains("text"); text != nullptr && text->is_string()) { return std::string(text->get_string()); }
    if (const auto* hex = object.if_contains("hex"); hex != nullptr && hex->is_string()) { return from_hex(hex->get_string()); }
    return std::nullopt;
}

/// The whole range, or an errno value.
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

/// Other stores of the same file wait while this one appends.
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

}  // namespace

struct BlobStore::State {
    struct Place {
        std::uint64_t offset = 0;
        std::size_t size = 0;       ///< Of the line, without its end.
    };

    fs::path file;
    std::mutex mutex;
    FileDescriptor descriptor;                          ///< Opened when it is first needed.
    std::map<std::string, Place, std::less<>> places;   ///< The newest of each hash.
    std::uint64_t known = 0;                            ///< The file up to here is in `places`; ends a line.
    std::map<std::string, std::string, std::less<>> pending;
    std::size_t pending_bytes = 0;
    bool unsynced = false;                              ///< The file holds lines that nobody is known to have synced.

    /// False where there is no file yet. Errors: AF-JRNL-010.
    Result<bool> open() {
        if (descriptor.valid()) { return true; }
        do {
            descriptor = FileDescriptor(::open(file.c_str(), O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
            // Somebody who may only look (`agentforge inspect`) reads all the same.
            if (!descriptor.valid() && (errno == EACCES || errno == EROFS)) { descriptor = FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)); }
        } while (!descriptor.valid() && errno == EINTR);
        if (descriptor.valid()) { return true; }
        if (errno == ENOENT || errno == ENOTDIR) { return false; }
        return not_read(file, errno_text(errno));
    }

    /// Takes in what others appended. A last line without an end is left out.
    Result<void> look() {
        AF_TRY(const bool there, open());
        if (!there) { return {}; }
        struct stat status {};
        if (::fstat(descriptor.get(), &status) != 0) { return not_read(file, errno_text(errno)); }
        const auto size = static_cast<std::uint64_t>(status.st_size);
        if (size == known) { return {}; }
        if (size < known) {     // Somebody cut it: what is left counts.
            places.clear();
            known = 0;
        }
        std::string text(size - known, '\0');
        if (const int error = read_range(descriptor.get(), known, text); error != 0) { return not_read(file, errno_text(error)); }
        const std::size_t whole = text.rfind('\n') + 1;     // 0 where there is none.
        if (known == 0 && text.size() < head.size()) { return {}; }     // Torn when it was made.
        if (known == 0 && !text.starts_with(head)) {
            return Error{"AF-JRNL-012", "The file of the blobs does not begin as one", file.string(),
                         "It was changed or damaged, or belongs to another version; restore it from a backup.", ErrorKind::corrupt};
        }
        for (std::size_t at = 0; at < whole;) {
            const std::size_t end = text.find('\n', at);
            const std::string_view line = std::string_view(text).substr(at, end - at);
            if (line.starts_with(line_start) && line.size() > line_start.size() + hash_digits) {
                const std::string_view hash = line.substr(line_start.size(), hash_digits);
                if (is_hash(hash)) { places.insert_or_assign(std::string(hash), Place{known + at, line.size()}); }
            }
            at = end + 1;
        }
        known += whole;
        unsynced = true;
        return {};
    }

    Result<std::string> read(const Place& place, std::string_view hash) const {
        std::string line(place.size, '\0');
        if (const int error = read_range(descriptor.get(), place.offset, line); error != 0) { return not_read(file, errno_text(error)); }
        auto bytes = bytes_of(line);
        if (!bytes || sha256(*bytes) != hash) {
            return Error{"AF-JRNL-012", "The blob's bytes do not have the hash of its name", file.string() + " at byte " + std::to_string(place.offset),
                         "It was changed or damaged; restore the file from a backup.", ErrorKind::corrupt};
        }
        return std::move(*bytes);
    }

    Result<void> create() {
        AF_CHECK(make_directories(file.parent_path()));
        AF_CHECK(sync_directory(file.parent_path().parent_path()));
        auto made = create_file_exclusive(file, head, Durability::synced);
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
        if (::fdatasync(descriptor.get()) != 0) {
            const int error = errno;
            // Nothing the kernel still holds can be relied on: all is read, and where needed written, again.
            places.clear();
            known = 0;
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
        AF_CHECK(look());
        struct stat status {};
        if (::fstat(descriptor.get(), &status) != 0) { return not_stored(file, errno_text(errno)); }
        if (status.st_nlink == 0) { return not_stored(file, "the file was deleted or replaced while it was in use"); }
        // A torn last line: no record names what it would have held.
        if (static_cast<std::uint64_t>(status.st_size) != known && ::ftruncate(descriptor.get(), static_cast<off_t>(known)) != 0) {
            return not_stored(file, errno_text(errno));
        }
        std::string text;
        if (known == 0) { text += head; }
        std::vector<std::pair<std::string, Place>> added;
        for (const auto& [hash, bytes] : pending) {
            const std::size_t begin = text.size();
            append_line(text, hash, bytes);
            added.emplace_back(hash, Place{known + begin, text.size() - begin - 1});
        }
        if (auto written = write_all(descriptor.get(), text, file); !written.ok()) {
            // Cut back; where even that fails, the torn line is cut by whoever appends next.
            if (::ftruncate(descriptor.get(), static_cast<off_t>(known)) != 0) { return not_stored(file, written.error().message + "; nor could it be cut back"); }
            return not_stored(file, written.error().message);
        }
        for (auto& [hash, place] : added) { places.insert_or_assign(std::move(hash), place); }
        known += text.size();
        return {};
    }
};

BlobStore::BlobStore(fs::path root) : state_(std::make_shared<State>()) { state_->file = std::move(root) / "blobs.yaml"; }

Result<std::string> BlobStore::put(std::string_view bytes) {
    std::string hash = sha256(bytes);
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    if (state.pending.contains(hash)) { return hash; }
    AF_CHECK(state.look());
    if (const auto found = state.places.find(hash); found != state.places.end()) {
        if (state.read(found->second, hash).ok()) { return hash; }    // A damaged one is put again; the newest counts.
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
        if (!state.places.contains(hash)) { AF_CHECK(state.look()); }
        if (const auto found = state.places.find(hash); found != state.places.end()) { return state.read(found->second, hash); }
    }
    return Error{"AF-JRNL-011", "There is no blob '" + std::string(hash.substr(0, 80)) + "'", state.file.string(),
                 "Check the hash; the file may have been removed.", ErrorKind::not_found};
}

bool BlobStore::contains(std::string_view hash) const {
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    if (!is_hash(hash)) { return false; }
    if (state.pending.contains(hash)) { return true; }
    return state.look().ok() && state.places.contains(hash);
}

}  // namespace agentforge::kernel
