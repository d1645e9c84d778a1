// SPDX-License-Identifier: Apache-2.0
#include "handler.hpp"

#include "resolution.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace agentforge::escalation_file {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds interval{250};
constexpr off_t max_bytes = 256 * 1024;

Result<std::string> resolution_file(const std::string& directory, const std::string& id) {
    const bool good = !id.empty() && id.size() <= 128 && id.front() != '.' && std::all_of(id.begin(), id.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
    });
    if (good) { return directory + "/" + id + ".resolution.yaml"; }
    return Error{"AF-ESC-101", "The id of the question is no file name", id, "This is a defect of the caller: please report it.", ErrorKind::internal};
}

/// `there` is false while nobody has written it.
struct Written { bool there = false; std::string text, owner; };

std::string name_of(uid_t user) {
    std::array<char, 4'096> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) { return entry.pw_name; }
    return "uid " + std::to_string(user);
}

/// The file, where it is there and not empty. Links are not followed: the folder may be shared.
Result<Written> look(const std::string& file) {
    const auto failure = [&file](const std::string& what) {
        return Error{"AF-ESC-102", "The resolution file cannot be read: " + what, file, "Replace it by a plain file that you own.", ErrorKind::io};
    };
    const int handle = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (handle < 0) {
        if (errno == ENOENT) { return Written(); }
        return failure(errno == ELOOP ? "it is a symbolic link" : std::system_category().message(errno));
    }
    struct stat about {};
    Written written;
    std::string problem;
    if (::fstat(handle, &about) != 0) { problem = std::system_category().message(errno); }
    else if (!S_ISREG(about.st_mode)) { problem = "it is not a file"; }
    else if (about.st_size > max_bytes) { problem = "it has more than 256 KiB"; }
    std::array<char, 4'096> block{};
    while (problem.empty()) {
        const ssize_t size = ::read(handle, block.data(), block.size());
        if (size < 0 && errno == EINTR) { continue; }
        if (size < 0) { problem = std::system_category().message(errno); }
        if (size <= 0) { break; }
        written.text.append(block.data(), static_cast<std::size_t>(size));
        if (written.text.size() > static_cast<std::size_t>(max_bytes)) { problem = "it has more than 256 KiB"; }
    }
    ::close(handle);
    if (!problem.empty()) { return failure(problem); }
    if (written.text.find_first_not_of(" \t\r\n") == std::string::npos) { return Written(); }
    written.owner = name_of(about.st_uid);
    written.there = true;
    return written;
}

/// Looks until the file is there, the deadline has passed or the call is cancelled.
Result<Written> wait_for(const std::string& file, CallContext& context) {
    for (;;) {
        AF_TRY(Written written, look(file));
        if (written.there) { return written; }
        milliseconds pause = interval;
        if (const auto deadline = context.deadline()) {
            const auto left = std::chrono::ceil<milliseconds>(*deadline - steady_clock::now());
            if (left <= milliseconds(0)) { return Written(); }
            pause = std::min(pause, left);
        }
        if (context.cancelled()) { return Written(); }
        ::poll(nullptr, 0, static_cast<int>(pause.count()));
    }
}

}  // namespace

Result<void> FileHandler::notify(const Escalation& escalation, CallContext& context) {
    AF_TRY(const std::string file, resolution_file(escalation.directory, escalation.id));
    context.progress(escalation.id + ": " + escalation.stage + " asks. Answer in " + file + ": `answer: …` (or `context: {…}`, `abort: true`)");
    return {};
}

Result<std::optional<Resolution>> FileHandler::wait_for_resolution(const Escalation& escalation, CallContext& context) {
    AF_TRY(const std::string file, resolution_file(escalation.directory, escalation.id));
    AF_TRY(const Written written, wait_for(file, context));
    if (!written.there) { return std::optional<Resolution>(); }
    AF_TRY(Resolution resolution, read_resolution(written.text, file));
    if (resolution.resolved_by.empty()) { resolution.resolved_by = written.owner; }
    return std::optional<Resolution>(std::move(resolution));
}

Result<void> FileHandler::notify_approval(const ApprovalRequest& request, CallContext& context) {
    AF_TRY(const std::string file, resolution_file(request.directory, request.id));
    if (request.id.starts_with("ACT-")) {
        context.progress(request.id + ": an action in " + request.stage + " waits. Answer in " + file + ": `approved: true` (with `edited: {arguments: {…}}` to change it), or `approved: false` and `feedback: …`");
        return {};
    }
    context.progress(request.id + ": the result of " + request.stage + " waits for approval. Answer in " + file + ": `approved: true` (or `approved: false` and `feedback: …`)");
    return {};
}

Result<std::optional<Approval>> FileHandler::wait_for_approval(const ApprovalRequest& request, CallContext& context) {
    AF_TRY(const std::string file, resolution_file(request.directory, request.id));
    AF_TRY(const Written written, wait_for(file, context));
    if (!written.there) { return std::optional<Approval>(); }
    AF_TRY(Approval approval, read_approval(written.text, file, request.artifact_hash, request.id.starts_with("ACT-")));
    if (approval.decided_by.empty()) { approval.decided_by = written.owner; }
    return std::optional<Approval>(std::move(approval));
}

}  // namespace agentforge::escalation_file
