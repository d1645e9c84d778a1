// SPDX-License-Identifier: Apache-2.0
#include "pipeline/dependencies.hpp"

#include <algorithm>
#include <set>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "base/versions.hpp"
#include "base/yaml.hpp"
#include "contracts/names.hpp"
#include "git/repository.hpp"
#include "git/tags.hpp"
#include "journal/blob_store.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

/// Returns the store that has a dependency's task.
Result<TaskStore> store_of(const TaskDependency& dependency, const TaskStore& own, const FindRepository& find) {
    if (dependency.repo.empty()) { return TaskStore(own.root().parent_path()); }
    if (!find) {
        return Error{"AF-DEP-002", "no repository is known as `" + ellipsis(dependency.repo, 80) + "`", "dependencies.tasks",
                     "`agentforge repo list` lists them", ErrorKind::not_found};
    }
    AF_TRY(const OtherRepository other, find(dependency.repo));
    return TaskStore(other.path / ".agentforge");
}

std::optional<std::size_t> stage_index_of(const TaskState& state, const std::string& stage) {
    return state.pipeline.index_of(stage);
}

std::string shown(const TaskDependency& dependency) {
    return ellipsis(dependency.task_id, 120) + (dependency.repo.empty() ? "" : " of " + ellipsis(dependency.repo, 80));
}

std::string known_stages(const TaskState& state) {
    std::string names;
    for (const StageTemplate& stage : state.pipeline.stages) { names += (names.empty() ? "" : ", ") + stage.name; }
    return names;
}

Error never(const TaskDependency& dependency, const std::string& why, const std::string& remedy) {
    return Error{"AF-DEP-002",
                 "the specification depends on stage `" + ellipsis(dependency.required_stage, 80) + "` of task " +
                     shown(dependency) + ", " + why,
                 "dependencies.tasks", remedy, ErrorKind::unavailable};
}

/// Finds a path of unmet dependencies from one task to another: the ids on it, or nothing.
class CycleSearch {
public:
    CycleSearch(const TaskStore& own, std::string id, const FindRepository& find)
        : root_(own.root()), id_(std::move(id)), find_(find) {}

    std::vector<std::string> from(const Dependencies& dependencies, const TaskStore& store, const std::string& waits) {
        for (const TaskDependency& each : dependencies.tasks) {
            const auto other = store_of(each, store, find_);
            if (!other.ok()) { continue; }
            if (each.task_id == id_ && same(other->root(), root_)) { return {waits, id_}; }
            if (!seen_.insert(other->root().string() + "/" + each.task_id).second) { continue; }
            const auto state = read_task_state(*other, each.task_id);
            if (!state.ok() || has_reached(*state, each.required_stage)) { continue; }
            const std::string hash = specification_in_force(*state);
            if (hash.empty()) { continue; }
            const auto next = dependencies_in(BlobStore(other->paths(each.task_id).blobs()), hash);
            if (!next.ok()) { continue; }
            if (auto rest = from(*next, *other, each.task_id); !rest.empty()) {
                rest.insert(rest.begin(), waits);
                return rest;
            }
        }
        return {};
    }

private:
    static bool same(const fs::path& one, const fs::path& other) {
        std::error_code error;
        return one == other || fs::equivalent(one, other, error);
    }
    fs::path root_;
    std::string id_;
    const FindRepository& find_;
    std::set<std::string> seen_;
};

/// Returns "A waits for B, and B for A". Empty if there is no cycle.
std::string circle(const Dependencies& dependencies, const TaskState& state, const TaskStore& tasks, const FindRepository& find) {
    const auto way = CycleSearch(tasks, state.task_id, find).from(dependencies, tasks, state.task_id);
    if (way.empty()) { return {}; }
    if (way.size() == 2) { return "task " + state.task_id + " would wait for itself"; }
    std::string text = "task " + way[0] + " waits for task " + way[1];
    for (std::size_t at = 1; at + 1 < way.size(); ++at) { text += ", and task " + way[at] + " for task " + way[at + 1]; }
    return text;
}

Result<TaskState> state_of_dependency(const TaskDependency& each, const TaskStore& tasks, const FindRepository& find) {
    AF_TRY(const TaskStore store, store_of(each, tasks, find));
    return read_task_state(store, each.task_id);
}

/// Returns what meets the dependency. Errors: the task has not reached the required stage, or never will.
Result<records::TaskMet> reach(const TaskDependency& each, const std::string& waiting, const TaskStore& tasks,
                               const FindRepository& find) {
    const auto state = state_of_dependency(each, tasks, find);
    if (!state.ok()) {
        return never(
            each, "which cannot be read: " + state.error().message,
            state.error().remedy.empty() ? "restore the task, or have the specification corrected" : state.error().remedy);
    }
    if (!stage_index_of(*state, each.required_stage)) {
        return never(each, "whose pipeline `" + state->pipeline.name + "` has no such stage; it has " + known_stages(*state),
                     "start the task again with a specification that names one of them");
    }
    if (has_reached(*state, each.required_stage)) {
        return records::TaskMet{each.task_id, each.repo, each.required_stage, state->branch, state->commit};
    }
    if (state->status == TaskStatus::aborted || state->status == TaskStatus::completed) {
        return never(each, "which was " + std::string(to_string(state->status)) + " at stage `" + state->stage().name + "`",
                     state->status == TaskStatus::aborted
                         ? "start this task again with another specification"
                         : "`agentforge continue " + short_id(each.task_id) + "` continues it, if more stages follow");
    }
    const std::string reason = each.reason.empty() ? "" : " (" + ellipsis(sanitize_utf8(each.reason), 200) + ")";
    return Error{"AF-DEP-001",
                 "waits for stage `" + each.required_stage + "` of task " + shown(each) + ", which is " +
                     std::string(to_string(state->status)) + " at stage `" + state->stage().name + "`" + reason,
                 "dependencies.tasks", "once it is done: agentforge resume " + short_id(waiting), ErrorKind::unavailable};
}

/// The version that a tag such as `v1.4.0`, `NAME-1.4.0`, `NAME/v1.4.0` or `NAME@1.4.0` gives an artifact.
struct TaggedVersion {
    Version version;
    bool of_artifact = false;  ///< The tag names it.
};
std::optional<TaggedVersion> version_in(const std::string& tag, const std::string& artifact) {
    if (tag.size() > artifact.size() + 1 && tag.starts_with(artifact) &&
        std::string_view("-/@").find(tag[artifact.size()]) != std::string_view::npos) {
        const auto version = Version::parse(std::string_view(tag).substr(artifact.size() + 1));
        return version ? std::optional(TaggedVersion{*version, true}) : std::nullopt;
    }
    const auto version = Version::parse(tag);
    return version ? std::optional(TaggedVersion{*version, false}) : std::nullopt;
}

/// Returns the file that is the artifact: by its whole path, or by its name (with any ending) in the folder for it, else
/// anywhere. If several match, the first.
std::string artifact_in(const std::vector<std::string>& files, const std::string& artifact, const std::string& folder) {
    if (std::ranges::find(files, artifact) != files.end()) { return artifact; }
    std::string below = folder;
    while (below.ends_with('/')) { below.pop_back(); }
    if (below.starts_with("./")) { below.erase(0, 2); }
    for (const std::string& file : files) {
        const fs::path path(file);
        const bool named = path.filename() == artifact || path.stem() == artifact ||
                           (!below.empty() && path.lexically_relative(below).replace_extension() == artifact);
        if (named && (below.empty() || below == "." || file.starts_with(below + "/"))) { return file; }
    }
    return {};
}

Error not_there(const ExternalDependency& each, const std::string& why, const fs::path& where, const std::string& remedy) {
    return Error{"AF-DEP-004",
                 "the specification depends on `" + ellipsis(each.artifact, 120) + "` " +
                     (each.version.empty() ? "" : each.version + " ") + "of repository `" + each.repo + "`, but " + why,
                 where.string(), remedy, ErrorKind::unavailable};
}

/// The first ten names of a list.
class TagNames {
public:
    void add(const std::string& name) {
        if (++count_ <= most) { text_ += (text_.empty() ? "" : ", ") + name; }
    }
    void mark_last(const std::string& note) {
        if (count_ <= most) { text_ += note; }
    }
    [[nodiscard]] std::string text() const {
        return count_ <= most ? text_ : text_ + " and " + std::to_string(count_ - most) + " more";
    }

private:
    static constexpr std::size_t most = 10;
    std::size_t count_ = 0;
    std::string text_;
};

/// Searches a repository for the artifact that a specification depends on.
class ArtifactSearch {
public:
    ArtifactSearch(const ExternalDependency& wanted, const VersionRange& range, const OtherRepository& other,
                   const Repository& repository)
        : wanted_(wanted), range_(range), other_(other), repository_(repository) {}

    Result<records::ExternalMet> find() {
        AF_TRY(auto tagged, find_in_tags());
        if (tagged) { return *std::move(tagged); }
        return range_.is_any() ? find_in_head() : Result<records::ExternalMet>(no_tag_fits());
    }

private:
    using Versions = std::vector<std::pair<TaggedVersion, const Tag*>>;

    Result<std::optional<records::ExternalMet>> find_in_tags() {
        AF_TRY(const std::vector<Tag> tags, tags_of(other_.path));
        const Versions versions = newest_first(tags);
        // Tags with the artifact's name take precedence over those of the whole repository.
        const bool has_own = std::ranges::any_of(versions, [](const auto& one) { return one.first.of_artifact; });
        for (const auto& [tagged, tag] : versions) {
            if (has_own && !tagged.of_artifact) {
                ignored_.add(tag->name);
                continue;
            }
            seen_.add(tag->name);
            if (!range_.contains(tagged.version)) { continue; }
            AF_TRY(const std::string path, path_in(tag->commit));
            if (!path.empty() || tagged.of_artifact) { return std::optional(met(tag->name, tag->commit, path)); }
            seen_.mark_last(" (without it)");
        }
        return std::optional<records::ExternalMet>();
    }

    [[nodiscard]] Versions newest_first(const std::vector<Tag>& tags) const {
        Versions versions;
        for (const Tag& tag : tags) {
            if (const auto version = version_in(tag.name, wanted_.artifact)) { versions.emplace_back(*version, &tag); }
        }
        std::ranges::sort(versions, [](const auto& one, const auto& two) { return one.first.version > two.first.version; });
        return versions;
    }

    /// No version was requested: use the current state of the repository.
    [[nodiscard]] Result<records::ExternalMet> find_in_head() const {
        std::optional<std::string> head;
        if (!other_.default_branch.empty()) { AF_TRY(head, repository_.branch_commit(other_.default_branch)); }
        if (!head) { AF_TRY(head, repository_.head_commit()); }
        AF_TRY(const std::string path, path_in(*head));
        if (!path.empty()) { return met("", *head, path); }
        return not_there(
            wanted_, "it has no such file", other_.path,
            "create it there, then agentforge resume; or start again with a specification that names existing files");
    }

    /// Returns the artifact's path. Empty: the commit does not have it.
    [[nodiscard]] Result<std::string> path_in(const std::string& commit) const {
        AF_TRY(const std::string tree, repository_.tree_of(commit));
        AF_TRY(const auto files, repository_.files_in_tree(tree));
        return artifact_in(files, wanted_.artifact, other_.contracts_path);
    }

    [[nodiscard]] records::ExternalMet met(const std::string& tag, const std::string& commit, const std::string& path) const {
        return {wanted_.repo, wanted_.artifact, wanted_.version, tag, commit, path};
    }

    [[nodiscard]] Error no_tag_fits() const {
        std::string why = seen_.text().empty() ? "no tag there names a version" : "none of its tags fits: " + seen_.text();
        if (!ignored_.text().empty()) { why += "; tags that do not name it do not count: " + ignored_.text(); }
        const bool is_name = wanted_.artifact.find(' ') == std::string::npos;
        return not_there(wanted_, why, other_.path,
                         "tag it there (git tag " + (is_name ? wanted_.artifact + "-VERSION" : std::string("VERSION")) +
                             "), then agentforge resume; or start again with another specification");
    }

    const ExternalDependency& wanted_;
    const VersionRange& range_;
    const OtherRepository& other_;
    const Repository& repository_;
    TagNames seen_;
    TagNames ignored_;
};

Result<records::ExternalMet> resolve(const ExternalDependency& each, const FindRepository& find) {
    const auto range = VersionRange::parse(each.version);
    if (!range) {
        return not_there(each, "`" + ellipsis(each.version, 80) + "` is not a version range", "dependencies.external",
                         "write it as `>=1.2.0, <2`, `^1.2` or `1.4.0`");
    }
    const auto other = find ? find(each.repo)
                            : Result<OtherRepository>(Error{"AF-DEP-004", "no repository has that name", "dependencies.external",
                                                            "`agentforge repo list` lists them", ErrorKind::not_found});
    if (!other.ok()) {
        return not_there(each, "no repository is known by that name", "dependencies.external",
                         "agentforge repo add PATH --name " + each.repo + ", then agentforge resume");
    }
    AF_TRY(const Repository repository, Repository::open(other->path));
    return ArtifactSearch(each, *range, *other, repository).find();
}
}  // namespace

std::vector<std::string> faults_of(const Dependencies& dependencies, const TaskState& state, const TaskStore& tasks,
                                   const FindRepository& find) {
    std::vector<std::string> faults;
    for (const TaskDependency& each : dependencies.tasks) {
        const auto other = state_of_dependency(each, tasks, find);
        if (!other.ok()) {
            faults.push_back("dependencies.tasks: " + other.error().message +
                             (other.error().remedy.empty() ? "" : "; " + other.error().remedy));
        } else if (!stage_index_of(*other, each.required_stage)) {
            faults.push_back("dependencies.tasks: task " + shown(each) + " has no stage `" + ellipsis(each.required_stage, 80) +
                             "`; it has " + known_stages(*other));
        }
    }
    if (const std::string round = circle(dependencies, state, tasks, find); !round.empty()) {
        faults.push_back("dependencies.tasks: " + round + ": neither could ever continue");
    }
    for (const ExternalDependency& each : dependencies.external) {
        if (!VersionRange::parse(each.version)) {
            faults.push_back("dependencies.external: `" + ellipsis(each.version, 80) +
                             "` is not a version range, such as `>=1.2.0, <2`");
        }
        if (const auto other = find ? find(each.repo) : Result<OtherRepository>(OtherRepository()); !other.ok()) {
            faults.push_back("dependencies.external: " + other.error().message);
        }
    }
    return faults;
}

Result<void> record_met_dependencies(TaskSession& session, const TaskStore& tasks, const FindRepository& find) {
    const TaskState& state = session.state();
    const std::string hash = specification_in_force(state);
    if (hash.empty() || (state.dependencies && state.dependencies->specification_blob == hash)) { return {}; }
    AF_TRY(const Dependencies dependencies, dependencies_in(session.blobs(), hash));
    if (dependencies.empty()) { return {}; }
    if (const std::string round = circle(dependencies, state, tasks, find); !round.empty()) {
        return Error{"AF-DEP-003", round + ": none of them can continue", "dependencies.tasks",
                     "abort one of them, or start it again with a specification that does not wait for the other",
                     ErrorKind::conflict};
    }
    records::DependenciesMet met{state.stage().name, hash, {}, {}};
    for (const TaskDependency& each : dependencies.tasks) {
        AF_TRY(records::TaskMet reached, reach(each, state.task_id, tasks, find));
        met.tasks.push_back(std::move(reached));
    }
    for (const ExternalDependency& each : dependencies.external) {
        AF_TRY(records::ExternalMet resolved, resolve(each, find));
        met.external.push_back(std::move(resolved));
    }
    return session.record(met);
}

}  // namespace agentforge::kernel
