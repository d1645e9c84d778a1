// SPDX-License-Identifier: Apache-2.0
#include "git/clone.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <openssl/evp.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/files.hpp"

namespace agentforge::kernel::git {

namespace {

bool clone_by_file_system(int to, int from) { return ::ioctl(to, FICLONE, from) == 0; }

/// True if the file equals the blob, byte for byte.
bool holds_blob(int file, std::uint64_t size, const git_oid& blob) {
    const auto digest = std::unique_ptr<EVP_MD_CTX, Releaser<EVP_MD_CTX_free>>(EVP_MD_CTX_new());
    if (!digest || EVP_DigestInit_ex(digest.get(), EVP_sha1(), nullptr) != 1) { return false; }
    const std::string head = "blob " + std::to_string(size);
    EVP_DigestUpdate(digest.get(), head.c_str(), head.size() + 1);
    std::array<char, 64UL << 10U> bytes;
    std::uint64_t total = 0;
    while (total <= size) {
        const ssize_t count = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(total));
        if (count < 0 && errno == EINTR) { continue; }
        if (count < 0) { return false; }
        if (count == 0) { break; }
        EVP_DigestUpdate(digest.get(), bytes.data(), static_cast<std::size_t>(count));
        total += static_cast<std::uint64_t>(count);
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
    unsigned sum_size = 0;
    EVP_DigestFinal_ex(digest.get(), sum.data(), &sum_size);
    return total == size && sum_size == GIT_OID_RAWSZ && std::memcmp(sum.data(), blob.id, GIT_OID_RAWSZ) == 0;
}

}  // namespace

CloneFile& clone_file() {
    static CloneFile chosen = clone_by_file_system;
    return chosen;
}

bool share_blob(git_repository* repository, const git_oid& blob, const std::filesystem::path& copy, int to, bool& possible) {
    const FileDescriptor from(::open(copy.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat st {};
    if (!from.valid() || ::fstat(from.get(), &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) { return false; }
    git_odb* raw = nullptr;
    if (git_repository_odb(&raw, repository) < 0) { return false; }
    const OdbHandle store(raw);
    std::size_t size = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    if (git_odb_read_header(&size, &type, raw, &blob) < 0 || static_cast<off_t>(size) != st.st_size) { return false; }
    if (!clone_file()(to, from.get())) {
        possible = false;
        return false;
    }
    if (holds_blob(to, size, blob)) { return true; }
    if (::ftruncate(to, 0) != 0) { possible = false; }
    return false;
}

}  // namespace agentforge::kernel::git
