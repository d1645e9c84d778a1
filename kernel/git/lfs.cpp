// SPDX-License-Identifier: Apache-2.0
#include "git/lfs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include <openssl/evp.h>

#include "base/files.hpp"
#include "git/folder.hpp"

namespace agentforge::kernel::git {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view pointer_begin = "version https://git-lfs.github.com/spec/v1\n";
constexpr std::string_view id_begin = "oid sha256:";
constexpr std::string_view size_begin = "size ";

fs::path store_of(git_repository* repository) { return fs::path(git_repository_commondir(repository)) / "lfs"; }

fs::path object_file(git_repository* repository, const std::string& id) {
    return store_of(repository) / "objects" / id.substr(0, 2) / id.substr(2, 2) / id;
}

/// Copies the rest of `from`. Returns its size and SHA-256.
Result<LfsPointer> copy_rest(int from, int to, const fs::path& path) {
    const auto digest = std::unique_ptr<EVP_MD_CTX, Releaser<EVP_MD_CTX_free>>(EVP_MD_CTX_new());
    if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha256(), nullptr) != 1) {
        return folder_error(ENOMEM, "hash a file", path);
    }
    std::array<char, 1UL << 16U> block{};
    LfsPointer copied;
    while (true) {
        const ssize_t count = ::read(from, block.data(), block.size());
        if (count < 0 && errno == EINTR) { continue; }
        if (count < 0) { return folder_error(errno, "read a file", path); }
        if (count == 0) { break; }
        EVP_DigestUpdate(digest.get(), block.data(), static_cast<std::size_t>(count));
        AF_CHECK(write_all(to, {block.data(), static_cast<std::size_t>(count)}, path));
        copied.size += static_cast<std::uint64_t>(count);
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
    unsigned size = 0;
    EVP_DigestFinal_ex(digest.get(), sum.data(), &size);
    constexpr std::string_view digits = "0123456789abcdef";
    for (unsigned i = 0; i < size; ++i) {
        copied.id.push_back(digits[sum[i] >> 4U]);
        copied.id.push_back(digits[sum[i] & 15U]);
    }
    return copied;
}

}  // namespace

std::optional<LfsPointer> read_pointer(std::string_view bytes) {
    constexpr std::size_t max_pointer_bytes = 1024;
    if (bytes.size() > max_pointer_bytes || !bytes.starts_with(pointer_begin)) { return std::nullopt; }
    LfsPointer pointer;
    bool sized = false;
    for (std::size_t begin = pointer_begin.size(); begin < bytes.size();) {
        const std::size_t end = bytes.find('\n', begin);
        if (end == std::string_view::npos) { return std::nullopt; }
        const std::string_view line = bytes.substr(begin, end - begin);
        if (line.starts_with(id_begin)) {
            pointer.id = line.substr(id_begin.size());
        } else if (line.starts_with(size_begin)) {
            const std::string_view number = line.substr(size_begin.size());
            const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), pointer.size);
            sized = error == std::errc() && rest == number.data() + number.size();
        } else {
            return std::nullopt;  // The pointer uses an extension: a program that we do not run makes its contents.
        }
        begin = end + 1;
    }
    if (!sized || pointer.id.size() != 64 || pointer.id.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return std::nullopt;
    }
    return pointer;
}

Result<std::optional<struct stat>> fill_pointer(git_repository* repository, int parent, const std::string& name,
                                                const std::string& path) {
    std::optional<struct stat> none;
    struct stat st {};
    std::array<char, 1025> bytes{};
    const FileDescriptor pointer_file = open_file(parent, name.c_str());
    if (!pointer_file.valid() || ::fstat(pointer_file.get(), &st) != 0) { return folder_error(errno, "read a file", path); }
    const ssize_t count = ::read(pointer_file.get(), bytes.data(), bytes.size());
    const auto pointer = read_pointer({bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))});
    if (!pointer) { return none; }
    const FileDescriptor contents(::open(object_file(repository, pointer->id).c_str(), O_RDONLY | O_CLOEXEC));
    struct stat there {};
    if (!contents.valid() || ::fstat(contents.get(), &there) != 0 || !S_ISREG(there.st_mode) ||
        static_cast<std::uint64_t>(there.st_size) != pointer->size) {
        return none;
    }
    if (::unlinkat(parent, name.c_str(), 0) != 0) { return folder_error(errno, "remove a Git LFS pointer", path); }
    const FileDescriptor file(retry_interrupted([&] {
        return ::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, st.st_mode & 0777U);
    }));
    if (!file.valid()) { return folder_error(errno, "create a file", path); }
    AF_TRY(const LfsPointer copied, copy_rest(contents.get(), file.get(), path));
    if (copied.id != pointer->id) {  // The contents are damaged: keeps the pointer instead.
        if (::ftruncate(file.get(), 0) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) {
            return folder_error(errno, "empty a file", path);
        }
        AF_CHECK(write_all(file.get(), {bytes.data(), static_cast<std::size_t>(count)}, path));
        return none;
    }
    if (::fstat(file.get(), &st) != 0) { return folder_error(errno, "look at a file", path); }
    return std::optional(st);
}

Result<std::string> keep_contents(git_repository* repository, int file, std::uint64_t size, const std::string& path) {
    const fs::path temporary_folder = store_of(repository) / "tmp";
    AF_CHECK(make_directories(temporary_folder));
    std::string temporary = (temporary_folder / "agentforge-XXXXXX").string();
    const FileDescriptor out(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!out.valid()) { return folder_error(errno, "create a file", temporary); }
    const auto kept = [&]() -> Result<std::string> {
        AF_TRY(const LfsPointer copied, copy_rest(file, out.get(), path));
        if (copied.size != size) {
            return Error{"AF-GIT-034", "A file changed while it was recorded", path,
                         "Stop the program that writes to the worktree, then retry", ErrorKind::conflict};
        }
        const fs::path object = object_file(repository, copied.id);
        AF_CHECK(make_directories(object.parent_path()));
        if (::fchmod(out.get(), 0444) != 0 || ::fsync(out.get()) != 0 || ::rename(temporary.c_str(), object.c_str()) != 0) {
            return folder_error(errno, "store a Git LFS object", object);
        }
        AF_CHECK(sync_directory(object.parent_path()));
        return std::string(pointer_begin) + std::string(id_begin) + copied.id + "\n" + std::string(size_begin) +
               std::to_string(copied.size) + "\n";
    }();
    if (!kept.ok()) { ::unlink(temporary.c_str()); }
    return kept;
}

}  // namespace agentforge::kernel::git
