// SPDX-License-Identifier: Apache-2.0
// Catches what a plugin writes to standard output.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace agentforge::kernel {

/// Redirects the process's standard output to a memory file, which grows if a call writes to it. Never undone. If the system has
/// no memory files, captures nothing.
class OutputCapture {
public:
    OutputCapture();
    OutputCapture(const OutputCapture&) = delete;
    OutputCapture& operator=(const OutputCapture&) = delete;

    struct Written {
        off_t bytes = 0;
        std::string beginning;  ///< At most 200 bytes.
    };
    /// Returns what was written since the last `take`. Empty: nothing.
    [[nodiscard]] std::optional<Written> take();

private:
    int file_;
    off_t taken_ = 0;
};

}  // namespace agentforge::kernel
