// SPDX-License-Identifier: Apache-2.0
// Waits for changes to a journal that another process writes.
#pragma once

#include <filesystem>

#include "base/files.hpp"

namespace agentforge::kernel {

class JournalWatch {
public:
    explicit JournalWatch(const std::filesystem::path& journal);
    /// Waits until the file changes, or for half a second, because a process may end without changing it.
    void wait() const;

private:
    FileDescriptor events_;
};

}  // namespace agentforge::kernel
