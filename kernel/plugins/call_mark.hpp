// SPDX-License-Identifier: Apache-2.0
// Records the current plugin call of a process in a file that outlives the process. The next process can then name the plugin
// that crashed it.
//
// Cost of a call: two writes of a few bytes and no sync. The file survives the death of the process, not of the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace agentforge::kernel {

/// While one exists, its file has a line for each thread with its innermost call into a plugin (CallWatch::Call). One at a time
/// in a process. Its destructor removes the file. If the file cannot be written, there is no mark, and nothing else changes.
class CallMark {
public:
    explicit CallMark(std::filesystem::path file);
    CallMark(const CallMark&) = delete;
    CallMark& operator=(const CallMark&) = delete;
    ~CallMark();

    /// Sets the innermost call of this thread. Null: none. Any thread.
    static void note(const std::string* callee, const char* function) noexcept;

private:
    std::filesystem::path file_;
};

/// Returns, for instance, ``call() of the tool `x` of plugin `y` ``: the newest call in a file that a process left behind. Empty
/// if there is no file, or no call in it.
[[nodiscard]] std::optional<std::string> last_marked_call(const std::filesystem::path& file);

}  // namespace agentforge::kernel
