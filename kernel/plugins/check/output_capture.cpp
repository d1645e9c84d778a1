// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/output_capture.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace agentforge::kernel {

OutputCapture::OutputCapture() : file_(::memfd_create("stdout", MFD_CLOEXEC)) {
    if (file_ < 0) { return; }
    ::dup2(file_, STDOUT_FILENO);
    ::fcntl(file_, F_SETFL, O_APPEND);
}

std::optional<OutputCapture::Written> OutputCapture::take() {
    std::fflush(stdout);
    struct stat status {};
    if (file_ < 0 || ::fstat(file_, &status) != 0 || status.st_size <= taken_) { return std::nullopt; }
    Written written{status.st_size - taken_, {}};
    std::string& text = written.beginning;
    text.resize(static_cast<std::size_t>(std::min<off_t>(written.bytes, 200)));
    const ssize_t got = ::pread(file_, text.data(), text.size(), taken_);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    taken_ = status.st_size;
    return written;
}

}  // namespace agentforge::kernel
