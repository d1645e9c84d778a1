// SPDX-License-Identifier: Apache-2.0
#include "pipeline/entry/imports.hpp"

#include <algorithm>
#include <set>

#include <agentforge/artifact.hpp>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/skip_condition.hpp"
#include "config/template_checks.hpp"
#include "contracts/form.hpp"
#include "contracts/names.hpp"

namespace agentforge::kernel {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view from_user = "user_provided";
constexpr std::string_view from_task = "task_reference";
constexpr std::size_t most_test_files = 500;
constexpr std::uintmax_t largest_test_file = 1UL << 20U;

const ExternalArtifact* external_named(const PipelineTemplate& pipeline, std::string_view name) {
    for (const auto* all : {&pipeline.accepts_external, &pipeline.requires_external}) {
        if (const auto found = all->find(name); found != all->end()) { return &found->second; }
    }
    return nullptr;
}

/// Returns how the task can get to an artifact that it does not have yet.
std::string way_to_artifact(const TaskState& state, std::string_view contract) {
    const bool follows =
        std::any_of(state.pipeline.stages.begin() + static_cast<std::ptrdiff_t>(state.stage_index), state.pipeline.stages.end(),
                    [&](const StageTemplate& stage) { return makes(stage, contract); });
    if (!follows || state.status == TaskStatus::aborted) { return "Name another task: no remaining stage of this one makes it"; }
    const std::string waits(state.waiting_for());
    if (waits == "approval") {
        return "Approve what it shows (`agentforge approve " + short_id(state.task_id) +
               "`; if that is done, `agentforge resume " + short_id(state.task_id) + "`), or name another task";
    }
    if (!waits.empty()) {
        return "Answer its question (`agentforge status " + short_id(state.task_id) + "` shows it), or name another task";
    }
    return std::string("Run it until it has one (`agentforge ") +
           (state.status == TaskStatus::completed ? "continue " : "resume ") + short_id(state.task_id) +
           "`), or name another task";
}

/// Writes one line for each field. Omits a named rule that repeats what the schema says of the same place.
Error refused_artifact(const std::string& shown, const Contract& contract, const ContractVerdict& verdict,
                       const std::function<std::string(const std::string&)>& place) {
    const auto is_rule = [&](const ContractViolation& each) {
        return std::ranges::find(contract.rules(), each.rule) != contract.rules().end();
    };
    std::string text = "`" + ellipsis(shown, 200) + "` does not satisfy the contract " + contract.name() + ":";
    for (const ContractViolation& each : verdict.violations) {
        const auto says_the_same = [&](const ContractViolation& other) { return !is_rule(other) && other.path == each.path; };
        if (is_rule(each) && std::ranges::any_of(verdict.violations, says_the_same)) { continue; }
        text += "\n  " + place(each.path) + ellipsis(each.message, 400);
    }
    return Error{"AF-EXT-001", std::move(text), "",
                 "Fill in the named fields; `agentforge contracts template " + contract.name() + "` prints the whole form",
                 ErrorKind::invalid};
}

/// Returns the part that the user wrote: without the envelope and the kernel's measurements.
json::object without_kernels_part(const Contract& contract, json::object artifact) {
    artifact.erase("_artifact_meta");
    artifact.erase("_metadata");
    contract.fill_measured(artifact, {});
    return with_defaults(contract, std::move(artifact));
}

std::string quoted(const std::string& contract) { return std::string(article_for(contract)) + " `" + contract + "`"; }

bool is_left_out(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.starts_with('.') || name == "__pycache__" || name == "node_modules" || name.ends_with(".pyc");
}

Error no_tests(std::string why, const std::string& where, std::string remedy) {
    return Error{"AF-EXT-007", std::move(why), where, std::move(remedy), ErrorKind::invalid};
}

Result<ImportedFile> read_test_file(const fs::path& file, std::string path) {
    std::error_code error;
    if (fs::is_symlink(fs::symlink_status(file, error))) {
        return no_tests("`" + ellipsis(path, 200) + "` is a link; tests are locked by their content", file.string(),
                        "Put the file itself there");
    }
    if (fs::file_size(file, error) > largest_test_file || error) {
        return no_tests("`" + ellipsis(path, 200) + "` has more than 1 MiB, or cannot be read", file.string(),
                        "Leave it out, and commit other files that tests need to the repository");
    }
    AF_TRY(std::string content, read_file(file));
    if (content.find('\0') != std::string::npos || !is_valid_utf8(content)) {
        return no_tests("`" + ellipsis(path, 200) + "` is not UTF-8 text", file.string(),
                        "Leave it out, or commit it to the repository first");
    }
    return ImportedFile{std::move(path), std::move(content)};
}

/// True if the template accepts the artifact from this source: `source: user_provided OR task_reference`. No source means both.
bool takes_from(const ExternalArtifact& external, std::string_view source) {
    if (external.source.empty()) { return true; }
    const auto words = SkipCondition::parse(external.source);
    return words.ok() && !words->reason([&](std::string_view word) { return word == source; }).empty();
}

std::string option_for(const ExternalArtifact& external, const std::string& name) {
    if (!takes_from(external, from_user)) { return "--from-task TASK"; }
    if (external.contract == contract_name::specification) {
        return takes_from(external, from_task) ? "--from-spec FILE or --from-task TASK" : "--from-spec FILE";
    }
    if (external.contract == contract_name::test_suite) { return "--from-tests FOLDER"; }
    return "--external " + name + "=FILE";
}

Result<void> check_given(const PipelineTemplate& pipeline, const std::vector<Import>& imports) {
    const auto given = [&](std::string_view name) {
        return std::ranges::any_of(imports, [&](const Import& each) { return each.name == name; });
    };
    const auto missing = [&](const std::string& who, const std::string& name) {
        const ExternalArtifact* external = external_named(pipeline, name);
        return Error{
            "AF-EXT-003",
            who + " needs " + quoted(external == nullptr ? name : external->contract) + " from outside, but none was given",
            pipeline.source,
            "Give it: " + (external == nullptr ? "--external " + name + "=FILE" : option_for(*external, name)) +
                "; or select another pipeline with --pipeline",
            ErrorKind::invalid};
    };
    std::set<std::string> seen;
    for (const Import& each : imports) {
        if (!seen.insert(each.contract).second) {
            return Error{"AF-EXT-005", "two artifacts of the contract `" + each.contract + "` were given", each.path,
                         "Give one of them", ErrorKind::conflict};
        }
        const ExternalArtifact* external = external_named(pipeline, each.name);
        if (external == nullptr) { return external_name(pipeline, each.name).error(); }
        if (!takes_from(*external, each.source)) {
            return Error{"AF-EXT-005",
                         "pipeline `" + pipeline.name + "` takes its " + each.name + " from `" + external->source +
                             "`, but this one is `" + each.source + "`",
                         pipeline.source, "Give it with: " + option_for(*external, each.name), ErrorKind::invalid};
        }
        for (const std::string& other : external->required) {
            if (!given(other)) { return missing("`" + each.name + "`", other); }
        }
    }
    for (const auto& [name, external] : pipeline.requires_external) {
        if (!given(name)) { return missing("pipeline `" + pipeline.name + "`", name); }
    }
    return {};
}

Result<std::size_t> known_stage(const PipelineTemplate& pipeline, const std::string& name, std::string_view what) {
    if (const auto index = pipeline.index_of(name)) { return *index; }
    return unknown_stage(pipeline, name, what);
}

/// Checks that each remaining stage has its inputs, whatever conditions hold.
Result<void> check_provided(const PipelineTemplate& pipeline, const Entry& entry, std::size_t first, std::size_t last) {
    Beginning beginning;
    for (const Import& each : entry.imports) {
        beginning.names.insert(each.name);
        beginning.contracts.insert(each.contract);
    }
    beginning.left_out = {entry.left_out.begin(), entry.left_out.end()};
    beginning.first = first;
    beginning.last = last;
    const auto found = find_unprovided(
        pipeline, [](const StageTemplate& stage) { return stage.prerequisites; }, beginning);
    if (!found) { return {}; }
    const auto external = std::ranges::find_if(pipeline.accepts_external,
                                               [&](const auto& each) { return each.second.contract == found->contract; });
    return Error{"AF-EXT-006",
                 "stage `" + pipeline.stages[found->stage].name + "` builds on " + quoted(found->contract) +
                     ", but no earlier stage that runs produces one",
                 pipeline.source,
                 external == pipeline.accepts_external.end()
                     ? "Begin with an earlier stage, or leave no stage out"
                     : "Begin with an earlier stage, or give it: " + option_for(external->second, external->first),
                 ErrorKind::invalid};
}

/// Returns a path relative to the task's folder.
fs::path file_of(const Import& import) { return fs::path("external_inputs") / (import.name + ".yaml"); }

/// Returns the artifact as the journal keeps it. Tests are listed with the blobs that their files become.
json::object kept_artifact(const Import& import, const Redactor& redactor) {
    json::object artifact = import.artifact;
    if (import.files.empty()) { return artifact; }
    json::array list;
    for (const ImportedFile& file : import.files) {
        list.push_back(
            json::object{{"path", file.path}, {"sha256", sha256(file.content)}, {"blob", sha256(redactor.redact(file.content))}});
    }
    artifact["files"] = std::move(list);
    return artifact;
}

std::string status_of(const Import& import) { return import.files.empty() ? "passed" : "pending"; }

/// Removes the fields that an artifact has only by the contract that extends this one.
void keep_fields_of(const Contract& contract, json::object& artifact) {
    const json::value* fields = contract.schema().if_contains("properties");
    std::vector<std::string> others;
    for (const auto& [key, value] : artifact) {
        if (fields != nullptr && !fields->get_object().contains(key)) { others.emplace_back(key); }
    }
    for (const std::string& key : others) { artifact.erase(key); }
}

Error not_there(const TaskState& state, std::string_view contract) {
    return Error{"AF-EXT-004",
                 "task " + state.task_id + " has no accepted `" + std::string(contract) + "`: it is " +
                     std::string(to_string(state.status)) + " at stage `" + state.stage().name + "` of pipeline `" +
                     state.pipeline.name + "`",
                 "task " + state.task_id, way_to_artifact(state, contract), ErrorKind::not_found};
}

/// An accepted artifact of a task.
struct Accepted {
    std::string hash;  ///< Empty: there is none.
    std::string file;
    const StageTemplate* stage = nullptr;  ///< Null: the task imported it.
};

Accepted accepted_in(const TaskState& state, std::string_view contract) {
    for (std::size_t index = state.stages.size(); index-- > 0;) {
        const StageState& stage = state.stages[index];
        if (stage.status == StageStatus::completed && makes(state.pipeline.stages[index], contract)) {
            return {stage.artifact_hash, stage.artifact, &state.pipeline.stages[index]};
        }
    }
    const auto input = state.external_inputs.find(contract);
    return input == state.external_inputs.end() ? Accepted() : Accepted{input->second.hash, input->second.artifact};
}

Result<json::object> map_in(const BlobStore& blobs, const Accepted& accepted) {
    AF_TRY(const std::string text, blobs.get(accepted.hash));
    AF_TRY(json::value value, parse_json(text, "blob " + accepted.hash));
    if (value.is_object()) { return std::move(value.get_object()); }
    return Error{"AF-EXT-004", "an artifact of another task is not a map", accepted.file, "Name another task",
                 ErrorKind::corrupt};
}

Result<std::vector<ImportedFile>> files_of_manifest(const json::value& manifest, const BlobStore& blobs) {
    std::vector<ImportedFile> files;
    if (!manifest.is_object()) { return files; }
    for (const json::value& each : list_of(manifest.get_object(), "files")) {
        if (!each.is_object()) { continue; }
        AF_TRY(std::string content, blobs.get(text_of(each.get_object(), "blob")));
        files.push_back({text_of(each.get_object(), "path"), std::move(content)});
    }
    return files;
}

/// Checks that the stages where a task begins and ends will run.
Result<void> check_ends_by_itself(const PipelineTemplate& pipeline, const Entry& entry, const StageTemplate& last) {
    const auto is_left_out = [&](const std::string& name) {
        return std::ranges::find(entry.left_out, name) != entry.left_out.end();
    };
    const auto refused = [&](std::string message, std::string remedy) {
        return Error{"AF-EXT-006", std::move(message), pipeline.source, std::move(remedy), ErrorKind::invalid};
    };
    if (!entry.stage.empty() && is_left_out(entry.stage)) {
        return refused("the task would begin at stage `" + entry.stage + "`, which --without leaves out",
                       "Begin with a later stage, or remove --without " + entry.stage);
    }
    if (is_left_out(last.name)) {
        return refused("the task would end with stage `" + last.name + "`, which --without leaves out",
                       "End with an earlier stage (--through STAGE), or remove --without " + last.name);
    }
    const auto given = std::ranges::find(entry.imports, last.contract, &Import::contract);
    if (given == entry.imports.end() || !given->files.empty()) { return {}; }
    return refused("the task would end with stage `" + last.name + "`, which does not run: its " + last.contract + " was given",
                   "End with a later stage, or do not give it");
}

}  // namespace

Result<std::string> external_name(const PipelineTemplate& pipeline, std::string_view wanted) {
    for (const auto* all : {&pipeline.accepts_external, &pipeline.requires_external}) {
        for (const auto& [name, external] : *all) {
            if (name == wanted || external.contract == wanted) { return name; }
        }
    }
    std::string known;
    for (const auto* all : {&pipeline.accepts_external, &pipeline.requires_external}) {
        for (const auto& [name, external] : *all) { known += (known.empty() ? "" : ", ") + name; }
    }
    return Error{
        "AF-EXT-002", "pipeline `" + pipeline.name + "` accepts no `" + ellipsis(wanted, 80) + "` from outside", pipeline.source,
        known.empty() ? "It accepts none; name another pipeline, or add accepts_external to the template" : "It takes: " + known,
        ErrorKind::invalid};
}

Result<Import> import_file(const ContractSet& contracts, std::string name, const std::string& contract_name,
                           const std::string& file, const std::string& shown) {
    AF_TRY(const Contract contract, contracts.get(contract_name));
    AF_TRY(const YamlDocument document, load_yaml(file));
    const json::object* object = document.value.if_object();
    if (object == nullptr) {
        return Error{"AF-EXT-001", "`" + ellipsis(shown, 200) + "` is not a map, so it cannot be used as " + contract_name, file,
                     "`agentforge contracts template " + contract_name + "` prints the form", ErrorKind::invalid};
    }
    json::object artifact = without_kernels_part(contract, *object);
    const ContractVerdict verdict = contract.validate_answer(artifact, {});
    if (!verdict.valid()) {
        return refused_artifact(shown, contract, verdict, [&](const std::string& pointer) {
            const std::string place = document.where(pointer);
            return (place.starts_with(file) ? shown + place.substr(file.size()) : place) + ": ";
        });
    }
    return Import{.name = std::move(name),
                  .contract = contract_name,
                  .source = std::string(from_user),
                  .path = shown,
                  .artifact = std::move(artifact)};
}

Result<Import> import_from_task(const ContractSet& contracts, std::string name, const std::string& contract_name,
                                const TaskStore& tasks, const std::string& task_id) {
    AF_TRY(const Contract contract, contracts.get(contract_name));
    AF_TRY(const TaskState state, read_task_state(tasks, task_id));
    const Accepted accepted = accepted_in(state, contract_name);
    if (accepted.hash.empty()) { return not_there(state, contract_name); }
    AF_TRY(json::object artifact, map_in(BlobStore(tasks.paths(task_id).blobs()), accepted));
    artifact = without_kernels_part(contract, std::move(artifact));
    if (accepted.stage != nullptr && accepted.stage->contract != contract_name) { keep_fields_of(contract, artifact); }
    const ContractVerdict verdict = contract.validate_answer(artifact, {});
    if (!verdict.valid()) {
        return refused_artifact(task_id + "/" + accepted.file, contract, verdict,
                                [](const std::string&) { return std::string(); });
    }
    return Import{.name = std::move(name),
                  .contract = contract_name,
                  .source = std::string(from_task),
                  .path = accepted.file,
                  .task = task_id,
                  .artifact = std::move(artifact)};
}

Result<Import> import_tests_from_task(std::string name, const std::string& contract, const TaskStore& tasks,
                                      const std::string& task_id, const Repository& repository) {
    AF_TRY(const TaskState state, read_task_state(tasks, task_id));
    const Accepted accepted = accepted_in(state, contract);
    if (accepted.hash.empty()) { return not_there(state, contract); }
    const BlobStore blobs(tasks.paths(task_id).blobs());
    AF_TRY(const json::object suite, map_in(blobs, accepted));
    Import import{
        .name = std::move(name), .contract = contract, .source = std::string(from_task), .path = accepted.file, .task = task_id};
    if (const json::value* traced = suite.if_contains("test_files")) { import.artifact["test_files"] = *traced; }
    if (accepted.stage == nullptr) {
        AF_TRY(import.files, files_of_manifest(json::value(suite), blobs));
        return import;
    }
    // Also the files beside the tests, such as fixtures. The kernel declares the interfaces again.
    const std::vector<std::string> skeleton = texts_of(suite, "skeleton_files");
    const auto changes = repository.diff(state.base_tree, state.red_tree);
    if (!changes.ok()) {
        return Error{"AF-EXT-004", "git no longer has the tests of task " + task_id + ": " + changes.error().message,
                     "task " + task_id, "Give them from a folder instead: --from-tests FOLDER", changes.error().kind};
    }
    for (const TreeChange& change : *changes) {
        if (std::ranges::find(skeleton, change.path) != skeleton.end()) { continue; }
        AF_TRY(auto content, repository.file_in_tree(state.red_tree, change.path));
        if (content) { import.files.push_back({change.path, std::move(*content)}); }
    }
    return import.files.empty() ? Result<Import>(not_there(state, contract)) : import;
}

Result<Import> import_tests(std::string name, const std::string& contract, const fs::path& given, const fs::path& repository,
                            const std::string& shown) {
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(given, error);
    if (!fs::exists(folder, error)) {
        return Error{"AF-EXT-007", "there is no folder `" + ellipsis(shown, 200) + "`", given.string(),
                     "Name the folder that contains the tests", ErrorKind::not_found};
    }
    const fs::path root = fs::weakly_canonical(repository, error);
    const fs::path relative = folder.lexically_relative(root);
    const bool inside = !relative.empty() && *relative.begin() != "..";
    const bool whole = inside && relative == ".";
    if (whole) {
        return no_tests("`" + ellipsis(shown, 200) + "` is the whole repository", folder.string(),
                        "Name the folder that contains the tests");
    }
    const fs::path into = inside ? relative : fs::path(folder.filename());
    Import import{.name = std::move(name), .contract = contract, .source = std::string(from_user), .path = shown};
    std::vector<fs::path> files;
    if (!fs::is_directory(folder, error)) {
        files.push_back(folder);
    } else {
        fs::recursive_directory_iterator at(folder, error);
        for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
            if (is_left_out(at->path())) {
                at.disable_recursion_pending();
                continue;
            }
            if (!at->is_directory(error)) { files.push_back(at->path()); }
            if (files.size() > most_test_files) {
                return no_tests("`" + ellipsis(shown, 200) + "` contains more than " + std::to_string(most_test_files) + " files",
                                folder.string(), "Name a folder that contains only the tests");
            }
        }
        if (error) {
            return no_tests("`" + ellipsis(shown, 200) + "` cannot be read: " + error.message(), folder.string(),
                            "Check its permissions");
        }
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        const fs::path path =
            file == folder ? (inside ? into : fs::path("tests") / folder.filename()) : into / file.lexically_relative(folder);
        AF_TRY(ImportedFile read, read_test_file(file, path.generic_string()));
        import.files.push_back(std::move(read));
    }
    if (import.files.empty()) {
        return no_tests("`" + ellipsis(shown, 200) + "` contains no file", folder.string(),
                        "Name the folder that contains the tests");
    }
    return import;
}

Result<Entry> resolve_entry(const PipelineTemplate& pipeline, std::vector<Import> imports, const EntryRequest& request) {
    AF_CHECK(check_given(pipeline, imports));
    std::size_t first = 0;
    std::set<std::string> targets;
    for (const Import& each : imports) {
        const std::string& target = external_named(pipeline, each.name)->skips_to;
        const auto index = pipeline.index_of(target);
        if (!index) { continue; }
        targets.insert(target);
        first = std::max(first, *index);
    }
    if (!request.skip_to.empty()) {
        AF_TRY(first, known_stage(pipeline, request.skip_to, "to begin with"));
        const StageTemplate& stage = pipeline.stages[first];
        if (first != 0 && !stage.entry_point && !targets.contains(stage.name)) {
            std::string points = pipeline.stages.front().name;
            for (const StageTemplate& each : pipeline.stages) {
                if (each.entry_point && each.name != pipeline.stages.front().name) { points += ", " + each.name; }
            }
            return Error{"AF-EXT-006", "stage `" + stage.name + "` is not an entry point of pipeline `" + pipeline.name + "`",
                         pipeline.source, "Begin with one of: " + points + "; an artifact from outside may allow others",
                         ErrorKind::invalid};
        }
    }
    Entry entry{std::move(imports), first == 0 ? std::string() : pipeline.stages[first].name, request.left_out};
    for (const std::string& name : entry.left_out) {
        AF_TRY(const std::size_t index, known_stage(pipeline, name, "to leave out"));
        if (!pipeline.stages[index].required) { continue; }
        return Error{"AF-EXT-010", "stage `" + name + "` of pipeline `" + pipeline.name + "` cannot be left out", pipeline.source,
                     "Only stages with `required: false` in the template can be left out", ErrorKind::invalid};
    }
    AF_TRY(const std::size_t last,
           known_stage(pipeline, request.exit.empty() ? pipeline.exit_stage : request.exit, "to end with"));
    AF_CHECK(check_ends_by_itself(pipeline, entry, pipeline.stages[last]));
    if (last < first) {
        return Error{"AF-EXT-006",
                     "the task would begin at stage `" + pipeline.stages[first].name + "` and end before it, at `" +
                         pipeline.stages[last].name + "`",
                     pipeline.source, "End with that stage or a later one", ErrorKind::invalid};
    }
    const bool as_always = entry.imports.empty() && entry.stage.empty() && entry.left_out.empty();
    if (!as_always) { AF_CHECK(check_provided(pipeline, entry, first, last)); }
    return entry;
}

std::vector<std::string> contracts_of(const Entry& entry) {
    std::vector<std::string> contracts;
    for (const Import& each : entry.imports) { contracts.push_back(each.contract); }
    return contracts;
}

Result<json::object> resolve_inputs(Entry& entry, const ContractSet& contracts, const json::object& names,
                                    const Redactor& redactor, const std::string& now) {
    json::object external;
    for (Import& each : entry.imports) {
        AF_TRY(const Contract contract, contracts.get(each.contract));
        if (each.files.empty()) { contract.fill_measured(each.artifact, names); }
        json::object kept = kept_artifact(each, redactor);
        redactor.redact(kept);
        json::object input{
            {"source", each.source}, {"contract", each.contract}, {"artifact_path", each.path}, {"imported_at", now}};
        if (!each.task.empty()) { input["task_id"] = each.task; }
        input["validation"] = json::object{
            {"contract", each.contract}, {"status", status_of(each)}, {"hash", sha256(json::serialize(json::value(kept)))}};
        external[each.name] = std::move(input);
    }
    return json::object{{"external", std::move(external)}};
}

Result<void> record_imports(TaskSession& session, const ContractSet& contracts, const Entry& entry) {
    for (const Import& each : entry.imports) {
        AF_TRY(const Contract contract, contracts.get(each.contract));
        records::ExternalArtifactImported imported{.artifact_type = each.name,
                                                   .source = each.source,
                                                   .source_path = each.path,
                                                   .artifact = file_of(each).string(),
                                                   .validation = {each.contract, contract.version(), status_of(each), ""},
                                                   .conditions = {}};
        if (!each.task.empty()) { imported.source_task = each.task; }
        imported.freshness = each.freshness;
        const json::object artifact = kept_artifact(each, session.redactor());
        if (each.files.empty()) {
            AF_TRY(const auto others, session.artifacts_by_contract());
            RuleContext rules;
            rules.artifacts = &others;
            const ContractVerdict verdict = contract.validate(artifact, rules);
            if (!verdict.valid()) {
                return refused_artifact(each.path, contract, verdict, [](const std::string&) { return std::string(); });
            }
            imported.conditions = contract.conditions_of(artifact, rules);
        } else {
            for (const ImportedFile& file : each.files) {
                AF_CHECK(session.put_text(file.content));
                const fs::path copy = session.paths().root / "external_inputs" / each.name / file.path;
                AF_CHECK(make_directories(copy.parent_path()));
                AF_CHECK(write_file_atomic(copy, session.redactor().redact(file.content), Durability::cached));
            }
        }
        AF_TRY(imported.validation.hash, session.put(artifact));
        AF_CHECK(save_artifact(session.paths().root / file_of(each), artifact));
        AF_CHECK(session.record(imported));
    }
    return {};
}

Result<Entry> entry_of(const TaskState& state, const BlobStore& blobs) {
    Entry entry{{}, state.entry_stage, {state.left_out.begin(), state.left_out.end()}};
    for (const auto& [contract, input] : state.external_inputs) {
        AF_TRY(const std::string text, blobs.get(input.hash));
        AF_TRY(json::value value, parse_json(text, "blob " + input.hash));
        Import import{.name = input.name,
                      .contract = contract,
                      .source = input.source,
                      .path = input.source_path,
                      .task = input.source_task};
        if (input.pending) { AF_TRY(import.files, files_of_manifest(value, blobs)); }
        if (value.is_object()) { import.artifact = std::move(value.get_object()); }
        if (input.pending) { import.artifact.erase("files"); }
        entry.imports.push_back(std::move(import));
    }
    return entry;
}

Result<ImportedTests> imported_tests(TaskSession& session, std::string_view contract) {
    ImportedTests tests;
    const auto input = session.state().external_inputs.find(contract);
    if (input == session.state().external_inputs.end()) { return tests; }
    AF_TRY(const json::value manifest, session.get(input->second.hash));
    AF_TRY(tests.files, files_of_manifest(manifest, session.blobs()));
    if (manifest.is_object()) { tests.traced = list_of(manifest.get_object(), "test_files"); }
    return tests;
}

}  // namespace agentforge::kernel
