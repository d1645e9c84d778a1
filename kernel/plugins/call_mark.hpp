// SPDX-License-Identifier: Apache-2.0
// Which plugin call a process is in, in a file that outlives the process: whoever comes next can name the plugin that took it
// down.
//
// A call costs two writes of a few bytes, and no sync: what was written survives the death of the process, not of the machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace agentforge::kernel {

/// While one lives, every call into a plugin (CallWatch::Call) stands in its file: one line for each thread, its innermost call.
/// One at a time in a process. Destroyed, it removes the file. Where the file cannot be written there is no mark, and nothing
/// else is different.
class CallMark {
public:
    explicit CallMark(std::filesystem::path file);
    CallMark(const CallMark&) = delete;
    CallMark& operator=(const CallMark&) = delete;
    ~CallMark();

    /// The innermost call of this thread is now this one; null: none. Any thread.
    static void note(const std::string* whom, const char* function) noexcept;

private:
    std::filesystem::path file_;
};

/// ``call() of the tool `x` of plugin `y` ``: the newest call in a file that a process left behind; empty where there is no file,
/// or no call in it.
[[nodiscard]] std::optional<std::string> last_marked_call(const std::filesystem::path& file);

}  // namespace agentforge::kernel
