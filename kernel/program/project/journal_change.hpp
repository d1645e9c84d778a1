// SPDX-License-Identifier: Apache-2.0
// Waits for changes of a journal that another process writes.
#pragma once

#include <filesystem>

#include "base/files.hpp"

namespace agentforge::kernel {

class JournalChange {
public:
    explicit JournalChange(const std::filesystem::path& journal);
    /// Waits until the file changes, at most half a second: a process that ends changes no file.
    void wait() const;

private:
    FileDescriptor events_;
};

}  // namespace agentforge::kernel
