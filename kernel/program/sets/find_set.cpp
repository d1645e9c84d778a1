// SPDX-License-Identifier: Apache-2.0
#include "program/sets/find_set.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "program/project/known_repositories.hpp"
#include "program/suggestions.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

Error no_such_set(const std::string& id, const std::vector<std::string>& ids, const fs::path& sets) {
    const std::string near = nearest(id, ids);
    return Error{
        "AF-SET-007", "there is no set `" + printable(id, 120) + "`", sets.string(),
        near.empty() ? "`agentforge start --repos` prints the id of the set that it starts" : "did you mean `" + near + "`?",
        ErrorKind::not_found};
}

Error several_sets(const std::string& id, std::vector<std::string> candidates, const fs::path& sets) {
    constexpr std::size_t most = 10;
    std::ranges::sort(candidates);
    std::string names;
    for (std::size_t at = 0; at < std::min(most, candidates.size()); ++at) {
        names += (at == 0 ? "" : ", ") + printable(candidates[at], 120);
    }
    if (candidates.size() > most) { names += " and " + std::to_string(candidates.size() - most) + " more"; }
    return Error{"AF-SET-007",
                 "`" + printable(id, 120) + "` " +
                     (candidates.empty() ? std::string("names no set, and there are no sets")
                                         : "does not name one set; candidates: " + names),
                 sets.string(), "Give more of the id.", ErrorKind::conflict};
}

}  // namespace

bool is_set_id(std::string_view id) { return id.starts_with(set_prefix); }

Result<std::filesystem::path> find_set_folder(const Program& program, const std::string& id) {
    AF_TRY(const fs::path sets, sets_folder(program));
    std::vector<std::string> ids;
    std::error_code error;
    for (const fs::directory_entry& each : fs::directory_iterator(sets, error)) {
        if (!is_set_id(each.path().filename().string())) { continue; }
        ids.push_back(each.path().filename().string());
    }
    if (std::ranges::find(ids, id) != ids.end()) { return sets / id; }
    // `set-` alone names no set, even if only one exists.
    const std::string end = id.substr(set_prefix.size());
    std::vector<std::string> found;
    for (const std::string& each : ids) {
        if (!end.empty() && (each.starts_with(id) || each.ends_with(end))) { found.push_back(each); }
    }
    if (found.size() == 1) { return sets / found.front(); }
    return found.empty() && !end.empty() ? no_such_set(id, ids, sets) : several_sets(id, end.empty() ? ids : found, sets);
}

Result<TaskSet> find_set(const Program& program, const std::string& id) {
    AF_TRY(const fs::path folder, find_set_folder(program, id));
    SetListing listing = list_sets(folder.parent_path());
    const auto found = std::ranges::find(listing.sets, folder.filename().string(), &TaskSet::id);
    return found == listing.sets.end() ? load_set(set_file(folder)) : std::move(*found);
}

std::vector<std::string> unfinished_sets(const Program& program, const std::filesystem::path& place) {
    const auto folder = sets_folder(program);
    if (!folder.ok()) { return {}; }
    const SetListing listing = list_sets(*folder);
    std::vector<std::string> lines;
    for (const Error& problem : listing.problems) {
        lines.push_back("cannot read a set: " + printable(problem.message + " (" + problem.where + ")", 400));
    }
    for (const TaskSet& set : listing.sets) {
        const bool here = place.empty() || std::ranges::find(set.parts, place, &SetPart::path) != set.parts.end();
        if (!here || set.has_ended()) { continue; }
        if (set.running) {
            lines.push_back("a process works on set " + printable(set.id, 120));
            continue;
        }
        const bool has_branches = set.phase == SetPhase::branching || set.phase == SetPhase::delivering;
        if (set.phase == SetPhase::undoing) {
            lines.push_back("set " + printable(set.id, 120) + " is not undone yet: agentforge resume " + printable(set.id, 120));
            continue;
        }
        lines.push_back("set " + printable(set.id, 120) + " is not finished" +
                        (has_branches ? ", and some of its branches may exist" : ", and has no branch") + ": agentforge resume " +
                        printable(set.id, 120));
    }
    return lines;
}

}  // namespace agentforge::kernel
