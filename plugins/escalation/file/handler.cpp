// SPDX-License-Identifier: Apache-2.0
#include "handler.hpp"

#include <poll.h>
#include <algorithm>
#include <chrono>

namespace agentforge::escalation_file {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds nap{50};

Result<std::string> resolution_file(const std::string& directory, const std::string& id) {
    const bool good = !id.empty() && id.size() <= 128 && id.front() != '.' && std::all_of(id.begin(), id.end(), [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
               letter == '-' || letter == '_' || letter == '.';
    });
    if (good) { return directory + "/" + id + ".resolution.yaml"; }
    return Error{"AF-ESC-101", "The id of the question is not a file name", id,
                 "This is a defect of the caller: please report it.", ErrorKind::internal};
}

/// Waits only for the end of the call.
void wait_out(const CallContext& context) {
    const auto deadline = context.deadline();
    while (!context.cancelled() && deadline && steady_clock::now() < *deadline) {
        ::poll(nullptr, 0, static_cast<int>(nap.count()));
    }
}

}  // namespace

Result<void> FileHandler::notify(const Escalation& escalation, CallContext& context) {
    AF_TRY(const std::string file, resolution_file(escalation.directory, escalation.id));
    context.progress(escalation.id + ": " + escalation.stage + " asks. Answer in " + file +
                     ": `answer: …` (or `context: {…}`, `abort: true`)");
    return {};
}

Result<std::optional<Resolution>> FileHandler::wait_for_resolution(const Escalation&, CallContext& context) {
    wait_out(context);
    return std::optional<Resolution>();
}

Result<void> FileHandler::notify_approval(const ApprovalRequest& request, CallContext& context) {
    AF_TRY(const std::string file, resolution_file(request.directory, request.id));
    if (request.id.starts_with("ACT-")) {
        context.progress(
            request.id + ": an action in " + request.stage + " waits. Answer in " + file +
            ": `approved: true` (with `edited: {arguments: {…}}` to change it), or `approved: false` and `feedback: …`");
        return {};
    }
    context.progress(request.id + ": the result of " + request.stage + " waits for approval. Answer in " + file +
                     ": `approved: true` (or `approved: false` and `feedback: …`)");
    return {};
}

Result<std::optional<Approval>> FileHandler::wait_for_approval(const ApprovalRequest&, CallContext& context) {
    wait_out(context);
    return std::optional<Approval>();
}

}  // namespace agentforge::escalation_file
