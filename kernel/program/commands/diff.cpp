// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

struct DiffArguments {
    std::string task;
    bool stat = false;
    std::string artifact;    ///< A stage; empty: what the task changed in the repository.
    std::uint64_t from = 0;  ///< Versions of it; 0: the one before the newest, and the newest.
    std::uint64_t to = 0;
};

struct ArtifactVersion {
    unsigned number = 0;
    std::string hash;
};

/// Returns the versions that a person was shown, and the stage's newest version.
std::vector<ArtifactVersion> versions_of(const StageState& stage) {
    std::vector<ArtifactVersion> versions;
    for (const ShownVersion& shown : stage.history) {
        if (versions.empty() || versions.back().number != shown.version) {
            versions.push_back({shown.version, shown.artifact_hash});
        }
    }
    const bool newer = !stage.artifact_hash.empty() && (versions.empty() || versions.back().hash != stage.artifact_hash);
    if (newer) { versions.push_back({artifact_version(stage), stage.artifact_hash}); }
    return versions;
}

/// Says which stages have several versions to compare, and how many, so that the user can choose.
std::string comparable_stages(const TaskState& state) {
    std::string names;
    for (const StageState& stage : state.stages) {
        const std::size_t count = stage.status == StageStatus::skipped ? 0 : versions_of(stage).size();
        if (count > 1) { names += (names.empty() ? "" : ", ") + stage.name + " (" + std::to_string(count) + ")"; }
    }
    return names.empty() ? std::string("No stage has several versions") : "Stages with several versions: " + names;
}

Result<std::string> text_of_version(const BlobStore& blobs, const ArtifactVersion& version) {
    AF_TRY(const std::string text, blobs.get(version.hash));
    AF_TRY(json::value artifact, parse_json(text, "version " + std::to_string(version.number)));
    if (json::object* object = artifact.if_object()) {
        for (const std::string_view key : {"_artifact_meta", "_metadata"}) { object->erase(key); }
    }
    return to_yaml(artifact);
}

/// Returns the patch with git's colours. `patch` must be safe on a terminal.
std::string coloured_patch(const std::string& patch) {
    std::string out;
    bool in_hunk = false;
    for (std::size_t at = 0; at < patch.size();) {
        const std::size_t end = std::min(patch.find('\n', at), patch.size());
        const std::string_view line(patch.data() + at, end - at);
        if (line.starts_with("diff --git ")) { in_hunk = false; }
        const char* colour = "";
        if (line.starts_with("@@")) {
            in_hunk = true;
            colour = "36";
        } else if (!in_hunk) {
            colour = "1";
        } else if (line.starts_with('+')) {
            colour = "32";
        } else if (line.starts_with('-')) {
            colour = "31";
        }
        if (*colour == '\0') {
            out += line;
        } else {
            out.append("\x1b[").append(colour).append("m").append(line).append("\x1b[0m");
        }
        if (end < patch.size()) { out += '\n'; }
        at = end + 1;
    }
    return out;
}

/// A file or pipe gets the exact patch, for `git apply`. On a terminal, control characters are escaped.
void show_patch(Program& program, const std::string& patch) {
    if (!program.out_is_terminal) {
        program.out << patch;
        return;
    }
    const std::string safe = printable_lines(patch);
    program.out << (wants_colour(program.environment) ? coloured_patch(safe) : safe);
}

/// Two versions of an artifact. Null: there is no version of the given number.
struct ComparedVersions {
    const ArtifactVersion* from;
    const ArtifactVersion* to;
};

/// Chooses by default the last version and the one before. `versions`: at least two.
ComparedVersions versions_to_compare(const std::vector<ArtifactVersion>& versions, const DiffArguments& arguments) {
    const auto pick = [&](std::uint64_t number, const ArtifactVersion& otherwise) {
        if (number == 0) { return &otherwise; }
        const auto version = std::ranges::find(versions, number, &ArtifactVersion::number);
        return version == versions.end() ? nullptr : &*version;
    };
    const ArtifactVersion* const to = pick(arguments.to, versions.back());
    const bool is_first = to == nullptr || to == &versions.front();
    const ArtifactVersion& earlier = is_first ? versions.front() : versions[static_cast<std::size_t>(to - versions.data()) - 1];
    return {pick(arguments.from, earlier), to};
}

void print_compared_versions(Program& program, const TaskState& state, const std::string& stage, const ComparedVersions& pair,
                             const std::string& patch) {
    if (program.json_output) {
        program.print_json({{"task_id", state.task_id},
                            {"stage", stage},
                            {"from", pair.from->number},
                            {"to", pair.to->number},
                            {"from_hash", pair.from->hash},
                            {"to_hash", pair.to->hash},
                            {"patch", patch}});
        return;
    }
    if (patch.empty()) {
        program.err << "agentforge: versions " << pair.from->number << " and " << pair.to->number << " of stage "
                    << printable(stage, 80) << " are identical\n";
    }
    show_patch(program, patch);
}

/// Compares two versions of a stage's artifact from the journal's blobs, so changes to the files have no effect.
int diff_artifact(Program& program, const ProjectPlace& place, const TaskPaths& paths, const TaskState& state,
                  const DiffArguments& arguments) {
    const auto found = std::ranges::find(state.stages, arguments.artifact, &StageState::name);
    const auto wrong = [&](std::string why, const std::string& remedy) {
        return program.fail(Error{"AF-CLI-164", std::move(why), "task " + state.task_id,
                                  remedy + "\n  " + comparable_stages(state), ErrorKind::invalid});
    };
    if (found == state.stages.end()) {
        std::string names;
        for (const StageState& stage : state.stages) { names += (names.empty() ? "" : ", ") + stage.name; }
        return wrong("the task has no stage `" + printable(arguments.artifact, 80) + "`", "its stages are " + names);
    }
    const std::vector<ArtifactVersion> versions = versions_of(*found);
    std::string numbers;
    for (const ArtifactVersion& version : versions) { numbers += (numbers.empty() ? "" : ", ") + std::to_string(version.number); }
    if (found->status == StageStatus::skipped) {
        return wrong("stage `" + found->name + "` was skipped, so it has no artifact",
                     "`agentforge history " + short_id(state.task_id) + "` says why it was skipped");
    }
    if (versions.empty()) {
        return wrong("the artifact of stage `" + found->name + "` has no version yet", "the stage makes one when it runs");
    }
    if (versions.size() == 1) {
        const bool waits = state.approval && state.stage().name == found->name;
        return wrong("the artifact of stage `" + found->name + "` has one version",
                     waits ? "say what to change in it: agentforge feedback " + short_id(state.task_id) + " \"…\""
                           : "a task started with `--iterate` stops at this stage, and your feedback makes another version");
    }
    const auto [from, to] = versions_to_compare(versions, arguments);
    if (from == nullptr || to == nullptr) {
        return wrong(
            "stage `" + found->name + "` has no version " + std::to_string(from == nullptr ? arguments.from : arguments.to),
            "its versions are " + numbers);
    }
    const BlobStore blobs(paths.blobs());
    const auto before = text_of_version(blobs, *from);
    if (!before.ok()) { return program.fail(before.error()); }
    const auto after = text_of_version(blobs, *to);
    if (!after.ok()) { return program.fail(after.error()); }
    const std::string name = found->artifact.substr(found->artifact.rfind('/') + 1);
    const auto patch = text_patch(place.root, name, *before, *after);
    if (!patch.ok()) { return program.fail(patch.error()); }
    print_compared_versions(program, state, found->name, {from, to}, *patch);
    return 0;
}

int run_diff(Program& program, const DiffArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_newest(program, store, arguments.task);
    if (!id.ok()) { return program.fail(id.error()); }
    const auto state = read_task_state(store, *id);
    if (!state.ok()) { return program.fail(state.error()); }
    if (!arguments.artifact.empty()) { return diff_artifact(program, *place, store.paths(*id), *state, arguments); }
    const std::string base = delivery_base(*state).tree;
    const std::string tree = delivered_tree(*state);
    if (!program.json_output && !arguments.stat) {
        const auto patch = whole_patch(place->root, base, tree);
        if (!patch.ok()) { return program.fail(patch.error()); }
        show_patch(program, *patch);
        if (patch->empty()) { program.err << "agentforge: task " << short_id(*id) << " has changed no file so far\n"; }
        return 0;
    }
    const auto repository = Repository::open(place->root);
    if (!repository.ok()) { return program.fail(repository.error()); }
    const auto changes = repository->diff(base, tree);
    if (!changes.ok()) { return program.fail(changes.error()); }
    if (program.json_output) {
        json::array files;
        for (const TreeChange& change : *changes) {
            files.push_back(json::object{{"path", change.path},
                                         {"old_path", change.old_path},
                                         {"status", std::string(1, change.status)},
                                         {"lines_added", change.lines_added},
                                         {"lines_removed", change.lines_removed}});
        }
        program.print_json({{"task_id", *id}, {"base_tree", base}, {"tree", tree}, {"files", std::move(files)}});
        return 0;
    }
    std::uint64_t added = 0;
    std::uint64_t removed = 0;
    for (const TreeChange& change : *changes) {
        added += change.lines_added;
        removed += change.lines_removed;
        program.out << change.status << "  " << (change.old_path.empty() ? "" : printable(change.old_path) + " -> ")
                    << printable(change.path) << "  +" << change.lines_added << " -" << change.lines_removed << "\n";
    }
    program.out << changes->size() << (changes->size() == 1 ? " file, " : " files, ") << added << " lines added, " << removed
                << " removed\n";
    return 0;
}

}  // namespace

void add_diff(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<DiffArguments>();
    const Command command =
        add_subcommand(app, "diff", "Show what a task has changed, or how two versions of an artifact differ, as a patch");
    add_option(*command, "task", arguments->task, newest_task_help)->type_name("TASK");
    const Option stat = add_flag(*command, "--stat", arguments->stat, "Only the files, with the lines added and removed");
    add_option(*command, "--artifact", arguments->artifact, "Instead, show how two versions of this stage's artifact differ")
        ->type_name("STAGE")
        ->excludes(stat);
    add_option(*command, "--from", arguments->from, "The earlier version (default: the one before)")
        ->type_name("N")
        ->positive()
        ->needs("--artifact");
    add_option(*command, "--to", arguments->to, "The later version (default: the newest)")
        ->type_name("N")
        ->positive()
        ->needs("--artifact");
    add_flag(*command, "--json", program.json_output, "Print the files as JSON");
    command->footer(
        "Examples:\n  agentforge diff 1f2e3d4c\n  agentforge diff 1f2e3d4c > change.patch\n  agentforge diff 1f2e3d4c --artifact spec --from 1 --to 3");
    command->callback([&program, arguments] {
        program.pages = true;
        program.command = [&program, arguments] { return run_diff(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
