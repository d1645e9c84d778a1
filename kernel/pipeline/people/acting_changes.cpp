// SPDX-License-Identifier: Apache-2.0
#include "pipeline/people/acting_changes.hpp"

#include <algorithm>
#include <map>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "contracts/names.hpp"
#include "tools/acting_files.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {
namespace {

std::vector<std::string> paths_in(const json::object& specification) {
    std::vector<std::string> paths;
    for (const char* list : {"files_to_create", "files_to_modify"}) {
        for (const json::value& each : list_of(specification, list)) {
            const auto path = each.is_string() ? normalize_path(each.get_string()) : Result<std::string>(Error{});
            if (path.ok()) { paths.push_back(*path); }
        }
    }
    return paths;
}

Result<std::string> line_of(TaskTrees& trees, const std::string& tree, const std::string& path, const std::string& link) {
    const std::string why = link.empty() ? "" : " (" + link + " is a link to it)";
    AF_TRY(const auto content, trees.file_in_tree(tree, path));
    if (!content) { return path + " would have taken effect later" + why + ", but it is gone"; }
    return path + " takes effect later" + why + ", outside the sandbox; its sha256 is " + sha256(*content);
}

}  // namespace

Result<std::vector<std::string>> specified_files(const TaskSession& session) {
    const TaskState& state = session.state();
    std::vector<std::string> paths;
    const bool by_a_stage = std::ranges::any_of(
        state.pipeline.stages, [](const StageTemplate& stage) { return makes(stage, contract_name::specification); });
    if (!by_a_stage) {
        AF_TRY(const auto imported, session.artifact_of(contract_name::specification));
        return imported ? paths_in(*imported) : paths;
    }
    for (const StageTemplate& stage : state.pipeline.stages) {
        if (!makes(stage, contract_name::specification)) { continue; }
        AF_TRY(const auto specification, session.artifact(stage.name));
        if (!specification) { continue; }
        std::ranges::move(paths_in(*specification), std::back_inserter(paths));
    }
    return paths;
}

Result<std::vector<std::string>> acting_changes(const TaskSession& session, TaskTrees& trees, const std::string& tree) {
    AF_TRY(const auto changes, trees.diff(session.state().base_tree, tree));
    if (changes.empty()) { return std::vector<std::string>(); }
    AF_TRY(const ActingLinks before, trees.acting_links(session.state().base_tree));
    AF_TRY(const ActingLinks now, trees.acting_links(tree));
    std::map<std::string, std::string> paths;  // Each path with the link that leads to it.
    for (const TreeChange& change : changes) {
        for (const std::string& path : {change.path, change.old_path}) {
            const std::string_view link = before.leading_to(path).empty() ? now.leading_to(path) : before.leading_to(path);
            if (acts_later(path)) { paths.emplace(path, ""); }
            if (!link.empty()) { paths.emplace(path, link); }
        }
    }
    std::vector<std::string> lines;
    for (const auto& [path, link] : paths) {
        AF_TRY(std::string line, line_of(trees, tree, path, link));
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<std::string> not_yet_approved(const TaskSession& session, std::vector<std::string> lines) {
    const auto& approved = session.state().resumption.approved_by_content;
    std::erase_if(lines, [&](const std::string& line) { return approved.contains(line); });
    return lines;
}

bool has_suspicions(const json::object& facts, const std::vector<std::string>& acting) {
    return std::ranges::any_of(list_of(facts, "to_look_at"), [&](const json::value& line) {
        return std::ranges::find(acting, std::string(line.get_string())) == acting.end();
    });
}

}  // namespace agentforge::kernel
