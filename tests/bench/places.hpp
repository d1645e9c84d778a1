// SPDX-License-Identifier: Apache-2.0
// Folders for benchmarks, and shared helper functions.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::bench {

/// A folder on the measured disk: below $BENCH_DIRECTORY, else the build folder (/tmp may be memory). Its destructor removes it
/// with all contents.
class WorkFolder {
public:
    explicit WorkFolder(std::string_view name);
    ~WorkFolder();
    WorkFolder(const WorkFolder&) = delete;
    WorkFolder& operator=(const WorkFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// Ends the program with a message: a benchmark that cannot do its work has nothing to report.
[[noreturn]] void give_up(const std::string& why);
template <class T>
T must(Result<T> result) {
    if (!result.ok()) { give_up(result.error().to_string()); }
    return std::move(result).value();
}
inline void must(const Result<void>& result) {
    if (!result.ok()) { give_up(result.error().to_string()); }
}

/// Returns the output of a shell command. A failure ends the program.
std::string shell(const std::string& command);
void write_text(const std::filesystem::path& file, std::string_view bytes);
/// Makes a git repository with one commit of the files of `from`.
void make_repository(const std::filesystem::path& folder, const std::filesystem::path& from);

/// The cost of one program, started repeatedly by the small helper.
struct Spawned {
    double milliseconds = 0;      ///< From before the start until it was waited for; the median.
    double cpu_milliseconds = 0;  ///< Processor time; the median. Other programs on the machine affect it least.
    double megabytes = 0;         ///< Largest resident size; the median.
};
/// Runs `a` and `b` alternately, `rounds` times each, with output to /dev/null.
[[nodiscard]] std::pair<Spawned, Spawned> spawn_in_turns(unsigned rounds, const std::vector<std::string>& a,
                                                         const std::vector<std::string>& b);

/// Runs a program once, without a warm-up.
[[nodiscard]] Spawned spawn_once(const std::vector<std::string>& words);

/// The program under test.
[[nodiscard]] std::string program();
[[nodiscard]] std::string source_folder();
[[nodiscard]] std::string binary_folder();

}  // namespace agentforge::bench
