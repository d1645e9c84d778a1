// SPDX-License-Identifier: Apache-2.0
#include "bench/places.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "bench/figures.hpp"

namespace agentforge::bench {

namespace fs = std::filesystem;

void give_up(const std::string& why) {
    std::cerr << "agentforge-bench: " << why << std::endl;
    std::exit(1);
}

namespace {

/// Asks the file system to place each folder in this one separately, as the unrelated trees that they represent would be (ext4:
/// chattr +T). Otherwise a run pays for earlier runs: to find an inode for a new file, an ext4 without a journal skips those
/// freed nearby in the last minutes.
void place_folders_apart(const fs::path& folder) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) { give_up("cannot open " + folder.string()); }
    int flags = 0;
    if (::ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0) {
        flags |= FS_TOPDIR_FL;
        ::ioctl(descriptor, FS_IOC_SETFLAGS, &flags);  // Has no effect on file systems that do not know the flag.
    }
    ::close(descriptor);
}

}  // namespace

WorkFolder::WorkFolder(std::string_view name) {
    const char* chosen = std::getenv("BENCH_DIRECTORY");
    const fs::path base = chosen != nullptr ? fs::path(chosen) : fs::path(AGENTFORGE_BINARY_DIR) / "bench-work";
    path_ = base / (std::string(name) + "-" + std::to_string(::getpid()));
    fs::remove_all(path_);
    fs::create_directories(base);
    place_folders_apart(base);
    fs::create_directories(path_);
    place_folders_apart(path_);
}

WorkFolder::~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string shell(const std::string& command) {
    std::string out;
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (pipe == nullptr) { give_up("popen failed: " + command); }
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) { out.append(buffer, got); }
    if (::pclose(pipe) != 0) { give_up("failed: " + command + "\n" + out); }
    return out;
}

void write_text(const fs::path& file, std::string_view bytes) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
}

void make_repository(const fs::path& folder, const fs::path& from) {
    fs::create_directories(folder);
    if (!from.empty()) { fs::copy(from, folder, fs::copy_options::recursive); }
    const std::string git = "git -C '" + folder.string() + "' ";
    shell(git + "init -q -b main . && " + git + "config user.name Bench && " + git +
          "config user.email bench@example.invalid && " + git + "add -A && " + git +
          "-c commit.gpgsign=false commit -q -m Import");
}

std::pair<Spawned, Spawned> spawn_in_turns(unsigned rounds, const std::vector<std::string>& a,
                                           const std::vector<std::string>& b) {
    std::string command = "'" + binary_folder() + "/tests/bench/agentforge-bench-spawn' " + std::to_string(rounds);
    for (const std::string& word : a) { command += " '" + word + "'"; }
    command += " --";
    for (const std::string& word : b) { command += " '" + word + "'"; }
    std::istringstream lines(shell(command));
    Samples time[2];
    Samples cpu[2];
    Samples memory[2];
    int which = 0;
    for (double nanoseconds = 0, cpu_nanoseconds = 0, kibibytes = 0; lines >> nanoseconds >> cpu_nanoseconds >> kibibytes;
         which = 1 - which) {
        time[which].add(nanoseconds / 1e6);
        cpu[which].add(cpu_nanoseconds / 1e6);
        memory[which].add(kibibytes / 1024);
    }
    if (time[1].empty()) { give_up("nothing came back from: " + command); }
    return {{time[0].median(), cpu[0].median(), memory[0].median()}, {time[1].median(), cpu[1].median(), memory[1].median()}};
}

Spawned spawn_once(const std::vector<std::string>& words) {
    std::string command = "'" + binary_folder() + "/tests/bench/agentforge-bench-spawn' once";
    for (const std::string& word : words) { command += " '" + word + "'"; }
    const std::string said = shell(command + " -- true");
    std::istringstream line(said);
    Spawned spent;
    if (!(line >> spent.milliseconds >> spent.cpu_milliseconds >> spent.megabytes)) {
        give_up("no figures came back from: " + command + "\n" + said);
    }
    spent.milliseconds /= 1e6;
    spent.cpu_milliseconds /= 1e6;
    spent.megabytes /= 1024;
    return spent;
}

std::string program() { return binary_folder() + "/bin/agentforge"; }
std::string source_folder() { return AGENTFORGE_SOURCE_DIR; }
std::string binary_folder() { return AGENTFORGE_BINARY_DIR; }

}  // namespace agentforge::bench
