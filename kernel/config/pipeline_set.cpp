// SPDX-License-Identifier: Apache-2.0
#include "config/pipeline_set.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/documents.hpp"
#include "config/one_file.hpp"
#include "config/overlay.hpp"
#include "config/pipeline_checks.hpp"
#include "config/pipeline_fields.hpp"
#include "config/pipeline_json.hpp"
#include "config/stage_mapping.hpp"
#include "config/summary.hpp"
#include "config/template_checks.hpp"

namespace agentforge::kernel {

namespace {

/// The fields that a stage takes over from the stage of the same name in the shipped `implement`.
constexpr std::string_view inherited[] = {"executor",    "agent",           "reviewers",      "review_mode",  "contract",
                                          "artifact",    "prerequisites",   "config",         "entry_point",  "exit_point",
                                          "iterable",    "timeout_seconds", "max_iterations", "max_retries",  "max_cycles",
                                          "max_reviews", "max_heals",       "max_steps",      "budget_share", "part"};

const json::array* stages_of(const YamlDocument& document) {
    const auto* top = document.value.if_object();
    const auto* pipeline = top == nullptr ? nullptr : top->if_contains("pipeline");
    if (pipeline == nullptr || !pipeline->is_object()) { return nullptr; }
    const auto* stages = pipeline->get_object().if_contains("stages");
    return stages == nullptr ? nullptr : stages->if_array();
}

const json::object* stage_named(const json::array* stages, const json::value& name) {
    if (stages == nullptr) { return nullptr; }
    for (const auto& stage : *stages) {
        if (stage.is_object() && stage.get_object().contains("name") && stage.get_object().at("name") == name) {
            return &stage.get_object();
        }
    }
    return nullptr;
}

/// `contract` and `skip_if` of a stage each have an alias.
Result<void> resolve_aliases(json::object& stage, const std::string& at) {
    constexpr std::pair<std::string_view, std::string_view> aliases[] = {{"skippable_if", "skip_if"},
                                                                         {"output_contract", "contract"}};
    for (const auto& [other, name] : aliases) {
        const json::value* given = stage.if_contains(other);
        if (given == nullptr) { continue; }
        if (stage.contains(name)) {
            return pipeline_error(
                "AF-PIPE-001", at + "/" + std::string(other) + "#",
                "the stage has both `" + std::string(other) + "` and `" + std::string(name) + "`, which are the same",
                "Keep one of the two.");
        }
        stage[name] = *given;
        stage.erase(other);
    }
    return {};
}

/// A stage that replaces another takes from it every field that it leaves out. A stage that does not iterate needs no question
/// about its versions.
Result<void> take_rest(json::object& stage, const StagePlace& place) {
    json::object rest = place.rest;
    AF_CHECK(resolve_aliases(rest, place.pointer));
    const json::value* const iterable = stage.if_contains("iterable");
    const bool never_iterates = iterable != nullptr && *iterable == json::value(false);
    for (const auto& [key, value] : rest) {
        const bool of_iteration = key == "iterate" || key == "iterate_prompt";
        if (!stage.contains(key) && !(never_iterates && of_iteration)) { stage[key] = value; }
    }
    return {};
}

std::string contract_in(const json::value& stage) {
    const json::object* object = stage.if_object();
    const std::string own = object == nullptr ? std::string() : text_of(*object, "contract");
    return own.empty() && object != nullptr ? text_of(*object, "output_contract") : own;
}

std::string contract_of_removed(const json::value& stage, const json::array* defaults) {
    const json::object* shipped =
        contract_in(stage).empty() && stage.is_object() ? stage_named(defaults, stage.get_object().at("name")) : nullptr;
    return shipped == nullptr ? contract_in(stage) : contract_in(*shipped);
}

/// A change removed something that a stage of the shipped template needs. The error points at the change.
Error placed_at_change(Error error, const ResolvedTemplate& document, const PipelineTemplate& pipeline,
                       const json::array* defaults) {
    const auto found = find_unprovided(pipeline, [](const StageTemplate& stage) { return stage.prerequisites; });
    error.where = document.where(error.where);
    if (!found || document.stages[found->stage].document == document.own) { return error; }
    for (const auto& [stage, change] : document.removed) {
        if (contract_of_removed(stage, defaults) == found->contract) { error.where = document.own->where(change); }
    }
    return error;
}

/// The error, with its place in the file that wrote the faulty part.
Error placed_in(const ResolvedTemplate& document, Error error) {
    error.where = document.where(error.where);
    return error;
}

/// Checks the template against the contract `pipeline_template`.
Result<void> check_form(const json::object& written, const Contract& contract) {
    const auto verdict = contract.validate(written, {});
    if (verdict.valid()) { return {}; }
    const auto& first = verdict.violations.front();
    return pipeline_error("AF-PIPE-001", first.path + (first.rule == "additionalProperties" ? "#" : ""),
                          "the pipeline template violates its contract: " + first.message + others(verdict),
                          "`agentforge help docs/contracts.md` describes pipeline_template.");
}

/// A template whose stages have every field that they inherit.
struct CompleteTemplate {
    json::object pipeline;
    std::vector<OwnKeys> own;  ///< The keys that each stage wrote itself.
    bool has_exit = false;
};

/// Fills in what the stages inherit. `defaults`: the stages of the shipped `implement`.
Result<CompleteTemplate> complete(const json::object& written, const ResolvedTemplate& document, const json::array* defaults,
                                  const Contract& contract) {
    CompleteTemplate out;
    try {
        out.pipeline = written.at("pipeline").as_object();
        out.has_exit = out.pipeline.contains("exit");
        for (auto& stage : out.pipeline.at("stages").as_array()) {
            auto& object = stage.as_object();
            AF_CHECK(resolve_aliases(object, "/pipeline/stages/" + std::to_string(out.own.size())));
            auto& said = out.own.emplace_back();
            for (const auto& [key, unused] : object) { said.emplace(key); }
            AF_CHECK(take_rest(object, document.stages[out.own.size() - 1]));
            const auto* base = stage_named(defaults, object.at("name"));
            if (base == nullptr) { continue; }
            for (const auto key : inherited) {
                if (!object.contains(key) && base->contains(key)) { object[key] = base->at(key); }
            }
        }
    } catch (const std::exception&) {
        return pipeline_error("AF-PIPE-012", "",
                              "the template lacks required fields, although the contract pipeline_template in force accepts it",
                              "Remove the project's own pipeline_template from its contracts (" + contract.source() + ").");
    }
    return out;
}

/// Overrides agents and reviewers by the orchestration file. In a project's own template, what a stage wrote itself wins.
void apply_mapping(PipelineTemplate& pipeline, const ResolvedTemplate& document, const std::vector<OwnKeys>& own,
                   const std::map<std::string, StageAgents>& mapping, bool of_project) {
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        auto& stage = pipeline.stages[i];
        const auto found = mapping.find(stage.name);
        if (found == mapping.end()) { continue; }
        const bool own_keys_win = of_project && document.stages[i].document == document.own;
        const auto may = [&](std::string_view key) { return !own_keys_win || !own[i].contains(key); };
        if (found->second.primary && may("agent")) { stage.agent = *found->second.primary; }
        if (found->second.reviewers && may("reviewers")) { stage.reviewers = *found->second.reviewers; }
        if (found->second.review_blocking && may("review_mode")) { stage.review_blocking = *found->second.review_blocking; }
    }
}

/// Sets the fields that follow from the contracts: `also_makes`, `provided_as`, and the deliverable if the template names none.
void fill_from_contracts(PipelineTemplate& pipeline, const ContractSet& contracts) {
    for (StageTemplate& stage : pipeline.stages) {
        const auto made = contracts.get(stage.contract);
        stage.also_makes = made.ok() ? made->extends() : std::string();
    }
    pipeline.provided_as.clear();
    for (const auto* externals : {&pipeline.accepts_external, &pipeline.requires_external}) {
        for (const auto& [name, artifact] : *externals) {
            const auto imported = contracts.get(artifact.contract);
            if (imported.ok() && !imported->provided_as().empty()) {
                pipeline.provided_as[artifact.contract] = imported->provided_as();
            }
        }
    }
    if (!pipeline.deliverable.empty()) { return; }
    if (const auto exit = pipeline.index_of(pipeline.exit_stage)) { pipeline.deliverable = pipeline.stages[*exit].contract; }
}

/// An error of `check_pipeline`. If a change removed the stage that it misses, the error points at the change.
Error placed_at_removal(Error found, const ResolvedTemplate& document, const PipelineTemplate& pipeline) {
    Error error = placed_in(document, std::move(found));
    for (const auto& [stage, change] : document.removed) {
        const std::string name = stage.is_object() ? text_of(stage.get_object(), "name") : std::string();
        const bool is_named = name == pipeline.exit_stage ||
                              std::ranges::any_of(pipeline.accepts_external,
                                                  [&name](const auto& external) { return external.second.skips_to == name; });
        if (error.code == "AF-PIPE-006" && is_named) { error.where = document.own->where(change); }
    }
    return error;
}

/// Checks the completed template; `check_template_can_run` may add to it. The errors name their place in the files.
Result<void> check_file_template(PipelineTemplate& pipeline, const ResolvedTemplate& document, const CompleteTemplate& complete,
                                 const json::array* defaults, const ContractSet& contracts) {
    if (auto checked = check_pipeline(pipeline, "/pipeline"); !checked.ok()) {
        return placed_at_removal(checked.error(), document, pipeline);
    }
    if (auto checked = check_contracts(pipeline, contracts); !checked.ok()) { return placed_in(document, checked.error()); }
    if (auto checked = check_template_can_run(pipeline, complete.own, complete.has_exit); !checked.ok()) {
        return checked.error().code == "AF-PIPE-020" ? placed_at_change(checked.error(), document, pipeline, defaults)
                                                     : placed_in(document, checked.error());
    }
    if (const auto stem = std::filesystem::path(document.source).stem().string(); stem != pipeline.name) {
        return placed_in(document, pipeline_error("AF-PIPE-010", "/pipeline/name",
                                                  "the file " + stem + ".yaml defines the pipeline " + pipeline.name,
                                                  "Name the file after its pipeline: " + pipeline.name + ".yaml."));
    }
    return {};
}

/// Returns the template that a file describes. `defaults`: the stages of the shipped `implement`.
Result<PipelineTemplate> read_file_template(const ResolvedTemplate& document, const json::array* defaults,
                                            const std::map<std::string, StageAgents>& mapping, bool of_project,
                                            const Contract& contract, const ContractSet& contracts) {
    const auto* top = document.value.if_object();
    if (top == nullptr) {
        return placed_in(document,
                         pipeline_error("AF-PIPE-001", "", "a pipeline template is a map", "Start it with `pipeline:`."));
    }
    if (auto checked = check_form(*top, contract); !checked.ok()) { return placed_in(document, checked.error()); }
    const auto completed = complete(*top, document, defaults, contract);
    if (!completed.ok()) { return placed_in(document, completed.error()); }
    auto read = read_pipeline(completed->pipeline, "/pipeline");
    if (!read.ok()) { return placed_in(document, std::move(read).error()); }
    read->source = document.source;
    apply_mapping(*read, document, completed->own, mapping, of_project);
    fill_from_contracts(*read, contracts);
    AF_CHECK(check_file_template(*read, document, *completed, defaults, contracts));
    return read;
}

using Pipelines = std::map<std::string, PipelineTemplate, std::less<>>;

/// Beside the folders of the templates; the project's first.
std::vector<std::string> summary_folders(const std::string& product_directory, const std::string& project_directory) {
    std::vector<std::string> folders;
    for (const std::string& directory : {project_directory, product_directory}) {
        if (!directory.empty()) { folders.push_back((std::filesystem::path(directory).parent_path() / "summaries").string()); }
    }
    return folders;
}

struct LoadedPipelines {
    Pipelines pipelines;
    std::map<std::string, std::vector<StageOrigin>, std::less<>> origins;
};

/// Returns the origins of the stages, then those of the removed ones.
std::vector<StageOrigin> origins_of(const PipelineTemplate& pipeline, const ResolvedTemplate& document,
                                    const YamlDocument* implement) {
    std::vector<StageOrigin> origins;
    const auto* shipped = implement == nullptr ? nullptr : stages_of(*implement);
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        StageOrigin origin{pipeline.stages[i].name, document.where("/pipeline/stages/" + std::to_string(i)),
                           document.stages[i].change, "", ""};
        const auto* defaults = document.stages[i].document == implement ? nullptr : shipped;
        for (std::size_t other = 0; defaults != nullptr && other < defaults->size(); ++other) {
            if ((*defaults)[other].is_object() && text_of((*defaults)[other].get_object(), "name") == origin.stage) {
                origin.defaults = implement->where("/pipeline/stages/" + std::to_string(other));
            }
        }
        if (!document.stages[i].rest_where.empty()) { origin.defaults = document.stages[i].rest_where; }
        origins.push_back(std::move(origin));
    }
    for (const auto& [stage, change] : document.removed) {
        const std::string name = stage.is_object() ? text_of(stage.get_object(), "name") : std::string();
        origins.push_back({name, document.own->where(change), "removed", "", contract_of_removed(stage, shipped)});
    }
    return origins;
}

/// Returns the YAML files of a folder by their names without the extension.
Result<std::map<std::string, YamlDocument>> read_documents(const std::string& directory) {
    std::map<std::string, YamlDocument> documents;
    AF_TRY(const auto files, yaml_files_of(directory));
    for (const auto& file : files) {
        AF_TRY(YamlDocument document, load_yaml(file));
        documents.emplace(std::filesystem::path(file).stem().string(), std::move(document));
    }
    return documents;
}

/// The files with templates: the product's, and the project's over them.
struct TemplateFiles {
    std::map<std::string, YamlDocument> product;
    std::map<std::string, YamlDocument> project;
};

using ResolvedTemplates = std::map<std::string, ResolvedTemplate>;

/// Reads each file's template into `loaded` and `resolved`; a project's template replaces the product's of the same name.
Result<void> read_templates(const TemplateFiles& files, const std::map<std::string, StageAgents>& mapping,
                            const ContractSet& contracts, LoadedPipelines& loaded, ResolvedTemplates& resolved) {
    if (files.product.empty() && files.project.empty()) { return {}; }
    AF_TRY(const Contract contract, contracts.get("pipeline_template"));
    const auto found = files.product.find("implement");
    const YamlDocument* const implement = found == files.product.end() ? nullptr : &found->second;
    const auto* defaults = implement == nullptr ? nullptr : stages_of(*implement);
    for (const auto* documents : {&files.product, &files.project}) {
        const bool of_project = documents == &files.project;
        for (const auto& [stem, document] : *documents) {
            AF_TRY(ResolvedTemplate written,
                   of_project ? resolve_template(document, files.product) : resolve_template(document, {}));
            AF_TRY(PipelineTemplate pipeline, read_file_template(written, defaults, mapping, of_project, contract, contracts));
            loaded.origins.insert_or_assign(pipeline.name, origins_of(pipeline, written, implement));
            resolved.insert_or_assign(pipeline.name, std::move(written));
            loaded.pipelines.insert_or_assign(pipeline.name, std::move(pipeline));
        }
    }
    return {};
}

/// The summary that `exit.summary_template` names must exist and fit the deliverable's contract.
Result<void> check_summary_exists(const PipelineTemplate& pipeline, const ResolvedTemplate& document,
                                  const std::vector<std::string>& folders, const ContractSet& contracts) {
    if (pipeline.summary_template.empty()) { return {}; }
    const auto summary = load_summary(folders, pipeline.summary_template);
    if (!summary) {
        return placed_in(document, pipeline_error("AF-PIPE-022", "/pipeline/exit/summary_template",
                                                  "there is no summary `" + ellipsis(pipeline.summary_template, 60) + "`",
                                                  "Write it into .agentforge/summaries/" +
                                                      ellipsis(pipeline.summary_template, 60) + ".txt, or remove the key."));
    }
    AF_TRY(const Contract deliverable, contracts.get(pipeline.deliverable));
    return check_summary(*summary, deliverable);
}

/// The pipeline that `continuation.next_pipeline` names must exist and accept what this one provides.
Result<void> check_next_pipeline(const PipelineTemplate& pipeline, const ResolvedTemplate& document, const Pipelines& pipelines) {
    if (pipeline.continuation.next_pipeline.empty()) { return {}; }
    const auto next = pipelines.find(pipeline.continuation.next_pipeline);
    if (next == pipelines.end()) {
        std::vector<std::string> names;
        for (const auto& [name, unused] : pipelines) { names.push_back(name); }
        const auto near = nearest(pipeline.continuation.next_pipeline, names);
        return Error{"AF-PIPE-011",
                     "pipeline " + pipeline.name + " names the continuation " +
                         ellipsis(pipeline.continuation.next_pipeline, 60) + ", which does not exist",
                     pipeline.source, near.empty() ? "Name one of the templates." : "Did you mean " + near + "?",
                     ErrorKind::not_found};
    }
    if (auto checked = check_continuation(pipeline, next->second); !checked.ok()) { return placed_in(document, checked.error()); }
    return {};
}

/// Each stage that the orchestration file names must be in a pipeline.
Result<void> check_mapped_stages(const StageMapping& orchestration, const Pipelines& pipelines) {
    std::vector<std::string> known;
    for (const auto& [name, pipeline] : pipelines) {
        for (const auto& each : pipeline.stages) { known.push_back(each.name); }
    }
    for (const auto& [stage, unused] : orchestration.stages) {
        if (std::find(known.begin(), known.end(), stage) != known.end()) { continue; }
        const auto near = nearest(stage, known);
        return Error{"AF-PIPE-007", "the mapping names stage " + ellipsis(stage, 60) + ", which no pipeline has",
                     orchestration.document->where("/pipeline/stages/" + stage),
                     near.empty() ? "Remove it." : "Did you mean " + near + "?", ErrorKind::invalid};
    }
    return {};
}

/// Loads the product's templates, the project's over them, and `one` (if given) over both.
Result<LoadedPipelines> load_pipelines(const std::string& product_directory, const std::string& project_directory,
                                       const std::string& orchestration_file, const std::string& one,
                                       const ContractSet& contracts) {
    TemplateFiles files;
    AF_TRY(files.product, read_documents(product_directory));
    AF_TRY(files.project, read_documents(project_directory));
    if (!one.empty()) {
        AF_TRY(YamlDocument document, load_yaml(one));
        files.project.insert_or_assign(std::filesystem::path(one).stem().string(), std::move(document));
    }
    AF_TRY(const StageMapping orchestration, read_stage_mapping(orchestration_file));
    LoadedPipelines loaded;
    ResolvedTemplates resolved;  // They point into `files`.
    AF_CHECK(read_templates(files, orchestration.stages, contracts, loaded, resolved));
    const auto summaries = summary_folders(product_directory, project_directory);
    for (const auto& [name, pipeline] : loaded.pipelines) {
        AF_CHECK(check_summary_exists(pipeline, resolved.at(name), summaries, contracts));
        AF_CHECK(check_next_pipeline(pipeline, resolved.at(name), loaded.pipelines));
    }
    AF_CHECK(check_mapped_stages(orchestration, loaded.pipelines));
    return loaded;
}

}  // namespace

Result<PipelineSet> PipelineSet::load(const std::string& product_directory, const std::string& project_directory,
                                      const std::string& orchestration_file, const ContractSet& contracts) {
    PipelineSet set;
    AF_TRY(LoadedPipelines loaded, load_pipelines(product_directory, project_directory, orchestration_file, "", contracts));
    set.pipelines_ = std::move(loaded.pipelines);
    set.origins_ = std::move(loaded.origins);
    return set;
}

Result<CheckedPipeline> check_pipeline_file(const std::string& product_directory, const std::string& project_directory,
                                            const std::string& orchestration_file, const std::string& file,
                                            const ContractSet& contracts) {
    AF_TRY(LoadedPipelines loaded, load_pipelines(product_directory, project_directory, orchestration_file, file, contracts));
    const std::string name = std::filesystem::path(file).stem().string();
    return CheckedPipeline{std::move(loaded.pipelines.at(name)), std::move(loaded.origins.at(name))};
}

Result<PipelineTemplate> PipelineSet::get(std::string_view name) const {
    if (const auto found = pipelines_.find(name); found != pipelines_.end()) { return found->second; }
    const auto near = nearest(name, names());
    std::string known;
    for (const std::string& each : names()) { known += (known.empty() ? "" : ", ") + each; }
    return Error{"AF-PIPE-002", "there is no pipeline " + ellipsis(name, 80), "",
                 near.empty() ? "The pipelines are " + known + "." : "Did you mean " + near + "?", ErrorKind::not_found};
}

std::vector<StageOrigin> PipelineSet::origins(std::string_view name) const {
    const auto found = origins_.find(name);
    return found == origins_.end() ? std::vector<StageOrigin>() : found->second;
}

std::vector<std::string> PipelineSet::names() const {
    std::vector<std::string> names;
    for (const auto& [name, pipeline] : pipelines_) { names.push_back(name); }
    return names;
}

}  // namespace agentforge::kernel
