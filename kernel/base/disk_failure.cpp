// SPDX-License-Identifier: Apache-2.0
#include "base/disk_failure.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "base/files.hpp"

namespace agentforge::kernel {

bool mentions_failing_disk(std::string_view output) {
    static constexpr std::array<std::string_view, 7> words{"No space left on device",
                                                           "Disk quota exceeded",
                                                           "Input/output error",
                                                           "Read-only file system",
                                                           "ENOSPC",
                                                           "EDQUOT",
                                                           "EIO"};
    return std::any_of(words.begin(), words.end(), [&](const auto each) { return output.find(each) != std::string_view::npos; });
}

int failure_of_writing(const std::filesystem::path& directory, std::uint64_t enough) {
    std::error_code error;
    if (const auto space = std::filesystem::space(directory, error); !error && space.available < enough) { return ENOSPC; }
    auto path = (directory / ".room-XXXXXX").string();
    const FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file.valid()) { return errno == ENOENT ? 0 : errno; }
    ::unlink(path.c_str());
    static constexpr std::array<char, 1U << 16U> block{};
    for (int blocks = 0; blocks < 16; ++blocks) {
        const auto written = ::write(file.get(), block.data(), block.size());
        if (written < 0) { return errno; }
        if (written != static_cast<ssize_t>(block.size())) { return ENOSPC; }
    }
    // Some file systems report a full disk only here.
    return ::fdatasync(file.get()) == 0 ? 0 : errno;
}

int failure_of_reading(const std::vector<std::filesystem::path>& files) {
    std::vector<char> block(1U << 16U);
    for (const auto& path : files) {
        const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        if (!file.valid() && errno == EIO) { return EIO; }
        ssize_t got = file.valid() ? 1 : 0;
        while (got > 0) { got = ::read(file.get(), block.data(), block.size()); }
        if (got < 0 && errno == EIO) { return EIO; }
    }
    return 0;
}

}  // namespace agentforge::kernel
