// SPDX-License-Identifier: Apache-2.0
#include "journal/blobs.hpp"

#include "base/files.hpp"
#include "base/hash.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

bool is_hash(std::string_view text) noexcept {
    return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

fs::path place(const fs::path& root, std::string_view hash) { return root / hash.substr(0, 2) / hash.substr(2); }

Error as_blob_error(Error error) {
    error.code = "AF-JRNL-010";
    error.message = "A blob could not be stored: " + error.message;
    error.kind = ErrorKind::io;
    return error;
}

/// Makes the folder and brings its name to disk.
Result<void> ensure_folder(const fs::path& folder) {
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) { return {}; }
    AF_CHECK(make_directories(folder));
    return sync_directory(folder.parent_path());
}

}  // namespace

BlobStore::BlobStore(fs::path root) : root_(std::move(root)) {}

Result<std::string> BlobStore::put(std::string_view bytes) {
    const std::string hash = sha256(bytes);
    const fs::path path = place(root_, hash);
    if (const auto found = read_file(path, bytes.size()); found.ok() && found.value() == bytes) {
        // Another writer may have renamed it a moment ago: its name must be on disk before we say so.
        if (auto synced = sync_directory(path.parent_path()); !synced.ok()) { return as_blob_error(std::move(synced).error()); }
        return hash;
    }
    for (const fs::path& folder : {root_, path.parent_path()}) {
        if (auto made = ensure_folder(folder); !made.ok()) { return as_blob_error(std::move(made).error()); }
    }
    if (auto written = write_file_atomic(path, bytes, Durability::synced); !written.ok()) { return as_blob_error(std::move(written).error()); }
    return hash;
}

Result<std::string> BlobStore::get(std::string_view hash) const {
    const auto missing = [&] {
        return Error{"AF-JRNL-011", "There is no blob '" + std::string(hash.substr(0, 80)) + "'", root_.string(),
                     "Check the hash; the folder may have been cleaned.", ErrorKind::not_found};
    };
    if (!is_hash(hash)) { return missing(); }
    const fs::path path = place(root_, hash);
    auto bytes = read_file(path, 4ULL << 30U);
    if (!bytes.ok()) {
        if (bytes.error().kind == ErrorKind::not_found) { return missing(); }
        Error error = std::move(bytes).error();
        error.code = "AF-JRNL-010";
        error.message = "A blob could not be read: " + error.message;
        return error;
    }
    if (sha256(bytes.value()) != hash) {
        return Error{"AF-JRNL-012", "The blob's bytes do not have the hash of its name", path.string(),
                     "It was changed or damaged; restore it from a backup.", ErrorKind::corrupt};
    }
    return bytes;
}

bool BlobStore::contains(std::string_view hash) const {
    std::error_code ignored;
    return is_hash(hash) && fs::is_regular_file(place(root_, hash), ignored);
}

}  // namespace agentforge::kernel
