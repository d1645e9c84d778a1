// SPDX-License-Identifier: Apache-2.0
// Waits for a journal that another process writes.
#pragma once

#include <filesystem>

#include "base/files.hpp"

namespace agentforge::kernel {

class JournalChange {
public:
    explicit JournalChange(const std::filesystem::path& journal);
    /// Until the file changes, half a second at most: the end of a process changes no file.
    void wait() const;

private:
    FileDescriptor events_;
};

}  // namespace agentforge::kernel
