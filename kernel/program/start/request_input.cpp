// SPDX-License-Identifier: Apache-2.0
#include "program/start/request_input.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ostream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_counted_bytes = 16UL << 20;  // Per pipe, for the error about a request that is too long.

/// Returns the size of a request after `size` bytes were read. A file's size is known. A pipe is read up to a limit, because it
/// may never end.
std::string counted_bytes(std::size_t size) {
    struct stat file {};
    const off_t at = ::lseek(STDIN_FILENO, 0, SEEK_CUR);
    if (::fstat(STDIN_FILENO, &file) == 0 && S_ISREG(file.st_mode) && at >= 0) {
        return std::to_string(size + static_cast<std::size_t>(std::max<off_t>(0, file.st_size - at)));
    }
    std::string dropped(64UL << 10, '\0');
    while (size <= most_counted_bytes) {
        const ssize_t got = ::read(STDIN_FILENO, dropped.data(), dropped.size());
        if (got == 0) { return std::to_string(size); }
        if (got < 0) { break; }
        size += static_cast<std::size_t>(got);
    }
    return "more than " + std::to_string(std::min(size, most_counted_bytes));
}

}  // namespace

Result<std::string> request_of(const Program& program, const StartArguments& arguments) {
    if (arguments.request != "-") { return arguments.request; }
    if (program.in_is_terminal && !program.quiet) { program.err << "agentforge: write the request, then Ctrl-D" << std::endl; }
    std::string text(max_request_bytes + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t got = ::read(STDIN_FILENO, text.data() + size, text.size() - size);
        if (got == 0) { break; }
        if (got < 0) {
            if (errno == EINTR && !program.cancel->requested() && !program.cancel->finishing()) { continue; }
            if (errno == EINTR) {
                return Error{"AF-CLI-136", "the request was not read: cancelled", "standard input", "run the command again",
                             ErrorKind::cancelled};
            }
            return Error{"AF-CLI-136", "cannot read the request: " + errno_text(errno), "standard input",
                         "give it a file or a pipe: agentforge start - < FILE", ErrorKind::io};
        }
        size += static_cast<std::size_t>(got);
    }
    if (size > max_request_bytes) { return request_too_long(counted_bytes(size)); }
    text.resize(size);
    while (text.ends_with('\n')) { text.pop_back(); }
    return text;
}

Result<std::string> request_about_path(const Program& program, Project& project, const std::string& given,
                                       const std::string& verb) {
    namespace fs = std::filesystem;
    std::error_code error;
    const bool one_word = given.find_first_of(" \t\r\n") == std::string::npos;
    const bool like_a_path = one_word && (given.find('/') != std::string::npos || given == "." || given == "..");
    const fs::path named = program.directory / given;
    if (given.size() > 4000 || given.find_first_of("\r\n") != std::string::npos ||
        !fs::exists(fs::symlink_status(named, error))) {
        constexpr std::size_t shortest_id = 8;
        if (one_word && given.size() >= shortest_id && project.tasks().resolve(given).ok()) {
            return Error{"AF-CLI-206", "`" + printable(given, 120) + "` is a task, not a file or a request", "",
                         "`agentforge review " + printable(given, 120) + " --force` reviews its delivered change again",
                         ErrorKind::invalid};
        }
        if (!like_a_path) { return given; }
        return Error{"AF-CLI-140", "there is no file or folder `" + printable(given, 120) + "`", program.directory.string(),
                     "name a file or folder of the repository, or describe what to review", ErrorKind::not_found};
    }
    const fs::path inside =
        fs::weakly_canonical(named, error).lexically_relative(fs::weakly_canonical(project.place().root, error));
    if (inside.empty() || *inside.begin() == "..") {
        return Error{"AF-CLI-140", "`" + printable(given, 120) + "` is outside the repository", project.place().root.string(),
                     "name a file or folder of the repository", ErrorKind::invalid};
    }
    return inside == "."
               ? verb + " the whole repository"
               : verb + " " + inside.generic_string() + (fs::is_directory(named, error) ? "/" : "") + " of this repository";
}

}  // namespace agentforge::kernel
