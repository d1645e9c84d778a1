// SPDX-License-Identifier: Apache-2.0
#include "program/sets/set_branches.hpp"

#include "git/branches.hpp"
#include "git/repository.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "program/sets/part_tasks.hpp"

namespace agentforge::kernel {

namespace {

/// Checks that the commit has the measured tree and the part's base, and names the task in its message.
Result<void> check_commit(const SetPart& part, const PreparedCommit& prepared) {
    AF_TRY(const auto state, state_if_created(tasks_of(part), part.task));
    const auto written = written_commit(part.path, prepared.commit);
    const bool fits = state && written.ok() && written->tree == prepared.tree && written->parent == state->base_commit &&
                      written->message.find(part.task) != std::string::npos;
    if (fits) { return {}; }
    return Error{"AF-SET-018",
                 "commit " + prepared.commit + " of repository `" + part.repo +
                     "` is not the measured change of its task, so no branch was created",
                 tasks_of(part).paths(part.task).journal().string(),
                 "agentforge audit verify " + part.task + " shows what was changed", ErrorKind::corrupt};
}

Error cannot_create_branch(const TaskSet& set, const SetPart& part, const Error& why) {
    const bool locked = why.kind == ErrorKind::transient;
    return Error{
        "AF-SET-006",
        "cannot create branch " + part.branch + " of repository `" + part.repo + "`, so the set has no branches: " + why.message,
        part.path.string(),
        (locked ? why.remedy : "rename the conflicting branch (git branch -m)") + ", then agentforge resume " + set.id,
        ErrorKind::conflict};
}

/// Removes the branches and goes back to the phase `specified`. If a branch remains, the phase stays `branching`.
Result<void> back_to_specified(OpenSet& open, const std::string& why) {
    AF_TRY(open.kept, remove_branches(open));
    if (open.kept.empty()) { open.set.phase = SetPhase::specified; }
    open.set.reason = why;
    return open.save();
}

std::string kept_words(const OpenSet& open) {
    std::string words;
    for (const std::string& line : open.kept) { words += "; " + line; }
    return words;
}

}  // namespace

Result<void> intend_branches(OpenSet& open) {
    for (SetPart& part : open.set.parts) {
        AF_TRY(const PreparedCommit prepared, prepared_commit(part));
        part.branch = prepared.branch;
        part.commit = prepared.commit;
        AF_CHECK(check_commit(part, prepared));
        AF_TRY(const Repository repository, Repository::open(part.path));
        AF_TRY(const auto there, repository.branch_commit(part.branch));
        if (there && *there != part.commit) {
            return cannot_create_branch(open.set, part,
                                        Error{"", "the branch exists, at " + *there, "", "", ErrorKind::conflict});
        }
    }
    open.set.phase = SetPhase::branching;
    open.set.reason.clear();
    return open.save();
}

Result<void> make_branches(OpenSet& open) {
    for (const SetPart& part : open.set.parts) {
        AF_TRY(const auto state, state_if_created(tasks_of(part), part.task));
        if (state && is_prepared(*state)) { continue; }
        AF_CHECK(back_to_specified(open, "task " + part.task + " of repository `" + part.repo + "` " +
                                             (state ? "is " + std::string(to_string(state->status)) : std::string("is gone"))));
        return Error{"AF-SET-004", open.set.reason + ", so the set cannot be finished" + kept_words(open), open.file().string(),
                     "agentforge abort " + open.set.id + " ends the others", ErrorKind::conflict};
    }
    for (const SetPart& part : open.set.parts) {
        const auto repository = Repository::open(part.path);
        const auto made =
            repository.ok() ? repository->create_branch(part.branch, part.commit) : Result<void>(repository.error());
        if (made.ok()) { continue; }
        Error error = cannot_create_branch(open.set, part, made.error());
        AF_CHECK(back_to_specified(open, error.message));
        error.message += kept_words(open);
        return error;
    }
    open.set.phase = SetPhase::delivering;
    return open.save();
}

Result<std::vector<std::string>> remove_branches(const OpenSet& open) {
    std::vector<std::string> kept;
    if (open.set.phase != SetPhase::branching && open.set.phase != SetPhase::undoing) { return kept; }
    for (auto part = open.set.parts.rbegin(); part != open.set.parts.rend(); ++part) {
        if (part->branch.empty() || part->commit.empty()) { continue; }
        AF_TRY(const bool removed, take_back_branch(part->path, part->branch, part->commit));
        if (removed) {
            open.report("removed branch " + part->branch + " of " + part->repo);
            continue;
        }
        // Another branch of this name is the user's own.
        AF_TRY(const bool stays, branch_holds(part->path, part->branch, part->commit));
        if (stays) {
            kept.push_back("branch " + part->branch + " of " + part->repo +
                           " stays, because it is checked out or has newer commits; `git -C " + part->path.string() +
                           " branch -D " + part->branch + "` removes it");
        }
    }
    return kept;
}

}  // namespace agentforge::kernel
