// SPDX-License-Identifier: Apache-2.0
#include "pipeline/delivery.hpp"

#include "base/text.hpp"
#include "pipeline/measure.hpp"

namespace agentforge::kernel {

namespace {

/// A trailer is one line; a model's text must not be able to write another one.
std::string one_line(std::string_view text) {
    std::string line;
    for (const char character : sanitize_utf8(text)) {
        line += static_cast<unsigned char>(character) < 0x20 || character == 0x7f ? ' ' : character;
    }
    return line;
}

std::string commit_message(const TaskState& state, const JournalHead& head, const DeliveryRequest& request) {
    std::string message = ellipsis(one_line(request.title), 100) + "\n";
    std::string body = sanitize_utf8(request.body);
    while (!body.empty() && (body.back() == '\n' || body.back() == ' ')) { body.pop_back(); }
    if (!body.empty()) { message += "\n" + body + "\n"; }
    message += "\n";
    for (const auto& [name, value] : request.trailers) { message += one_line(name) + ": " + one_line(value) + "\n"; }
    message += "AgentForge-Task: " + state.task_id + "\n";
    message += "AgentForge-Journal: " + std::to_string(head.seq) + ":" + head.hash + "\n";
    return message;
}

Result<void> record_delivery(TaskSession& session, const Delivery& delivery) {
    return session.record("delivered", {{"stage", session.state().stage().name},
                                        {"branch", delivery.branch},
                                        {"commit", delivery.commit},
                                        {"tree", delivery.tree}});
}

}  // namespace

Result<Delivery> deliver_task(TaskSession& session, Workshop& workshop, TaskServices& services, StageClock& clock, const DeliveryRequest& request) {
    // Delivered already, and only this call's answer was lost: nothing is measured or committed again.
    if (const TaskState& state = session.state(); !state.commit.empty()) {
        AF_TRY(const auto there, workshop.branch(state.branch));
        if (there && there->first == state.commit && there->second == state.tree) {
            AF_TRY(const auto delivered, workshop.diff(state.base_tree, state.tree));
            Delivery delivery{state.branch, state.commit, state.tree, {}};
            for (const TreeChange& change : delivered) { delivery.files.push_back(change.path); }
            return delivery;
        }
    }
    GateRequest gate;
    gate.gate = "deliver";
    std::optional<StageClock::Pause> measuring(std::in_place, clock);
    AF_TRY(const GateReport report,
           measure(session, workshop, services.events, gate, session.state().tree, nullptr, Stop{&services.cancel, std::nullopt}));
    measuring.reset();
    if (!report.passed) {
        std::string issues;
        for (const std::string& issue : report.blocking_issues) { issues += (issues.empty() ? "" : "; ") + issue; }
        return Error{"AF-ORCH-030", "nothing was committed: the deliver gate does not pass: " + issues, "tree " + report.tree,
                     "mend what it names; the tree it measured is kept", ErrorKind::denied};
    }
    AF_TRY(const auto changes, workshop.diff(session.state().base_tree, session.state().tree));
    if (changes.empty()) {
        return Error{"AF-ORCH-031", "nothing was committed: the task changed no file", "tree " + session.state().tree,
                     "if the request needs no change, abort the task", ErrorKind::invalid};
    }
    Delivery delivery;
    delivery.branch = "agentforge/" + session.state().task_id;
    delivery.tree = session.state().tree;
    for (const TreeChange& change : changes) { delivery.files.push_back(change.path); }
    // A crash between the commit and its record leaves the branch: that commit is taken, no second one is made.
    AF_TRY(const auto made, workshop.branch(delivery.branch));
    if (made && made->second == delivery.tree) {
        delivery.commit = made->first;
        AF_CHECK(record_delivery(session, delivery));
        return delivery;
    }
    // The journal's head is anchored in the commit, outside the task's folder: a cut tail shows.
    AF_TRY(delivery.commit, workshop.commit(delivery.tree, session.state().base_commit, delivery.branch,
                                            commit_message(session.state(), session.head(), request), services.clock.now()));
    AF_CHECK(record_delivery(session, delivery));
    return delivery;
}

}  // namespace agentforge::kernel
