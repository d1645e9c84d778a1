// SPDX-License-Identifier: Apache-2.0
#include "config/pipeline_json.hpp"

#include <algorithm>
#include <utility>

#include "config/pipeline_checks.hpp"
#include "config/pipeline_fields.hpp"
#include "contracts/names.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::pair<std::string_view, ComparedTree> compared_trees[] = {{"base", ComparedTree::base},
                                                                        {"locked_tests", ComparedTree::locked_tests}};

Result<ComparedTree> read_compared_tree(const std::string& said, const std::string& pointer) {
    std::vector<std::string> words;
    for (const auto& [word, tree] : compared_trees) {
        if (word == said) { return tree; }
        words.emplace_back(word);
    }
    return unknown_word(pointer + "/compares_with", "compares_with", said, words);
}

/// Who works in a stage, and who reviews its artifact.
Result<void> read_roles(PipelineFields& fields, const std::string& pointer, StageTemplate& out) {
    fields.text("name", out.name);
    fields.text("executor", out.executor);
    fields.text_or_null("agent", out.agent);
    fields.texts("reviewers", out.reviewers);
    fields.boolean("review_blocking", out.review_blocking);
    std::string mode;
    fields.text("review_mode", mode);
    if (!mode.empty() && mode != "blocking" && mode != "advisory") {
        return pipeline_error("AF-PIPE-001", pointer + "/review_mode", "`review_mode` is neither blocking nor advisory",
                              "Write one of the two.");
    }
    if (!mode.empty()) { out.review_blocking = mode == "blocking"; }
    return {};
}

void read_limits(PipelineFields& fields, StageTemplate& out) {
    fields.number("max_iterations", out.max_iterations);
    fields.number("max_retries", out.max_retries);
    fields.number("max_cycles", out.max_cycles);
    fields.number("max_reviews", out.max_reviews);
    fields.number("max_heals", out.max_contract_retries);
    fields.number("max_steps", out.max_steps);
    fields.number("budget_share", out.budget_share);
    fields.timeout(out.timeout);
}

Result<StageTemplate> read_stage(const json::value& value, const std::string& pointer) {
    const auto* object = value.if_object();
    if (object == nullptr) { return pipeline_error("AF-PIPE-001", pointer, "a stage is a map", "Write `- name: <stage>`."); }
    StageTemplate out;
    PipelineFields fields(*object, pointer);
    AF_CHECK(read_roles(fields, pointer, out));
    fields.text("contract", out.contract);
    fields.text("artifact", out.artifact);
    fields.texts("prerequisites", out.prerequisites);
    fields.boolean("required", out.required);
    fields.text("purpose", out.purpose);
    fields.text("skip_if", out.skip_if);
    fields.boolean("iterable", out.iterable);
    fields.boolean("iterate", out.iterate);
    fields.text("iterate_prompt", out.iterate_prompt);
    fields.boolean("default_exit", out.default_exit);
    fields.text("also_makes", out.also_makes);
    fields.text("part", out.part);
    fields.text("context_strategy", out.context_strategy);
    fields.boolean("locks_tests", out.locks_tests);
    fields.boolean("delivers", out.delivers);
    std::string compares_with;
    fields.text("compares_with", compares_with);
    read_limits(fields, out);
    fields.boolean("approve", out.approve);
    fields.boolean("entry_point", out.entry_point);
    fields.boolean("exit_point", out.exit_point);
    if (const auto* config = fields.object("config")) { out.config = *config; }
    AF_CHECK(fields.finish());
    if (fields.has("compares_with")) { AF_TRY(out.compares_with, read_compared_tree(compares_with, pointer)); }
    if (out.name.empty()) { return pipeline_error("AF-PIPE-001", pointer, "a stage has no `name`", "Name it."); }
    if (out.executor.empty()) { out.executor = out.name; }
    if (out.artifact.empty()) { out.artifact = out.contract.empty() ? out.name : out.contract; }
    return out;
}

Result<std::map<std::string, ExternalArtifact, std::less<>>> read_external(const json::object* object,
                                                                           const std::string& pointer) {
    std::map<std::string, ExternalArtifact, std::less<>> out;
    if (object == nullptr) { return out; }
    for (const auto& [key, value] : *object) {
        const auto at = pointer + "/" + std::string(key);
        if (!value.is_object()) {
            return pipeline_error("AF-PIPE-001", at, "an external artifact is a map", "Write {contract: <name>}.");
        }
        PipelineFields fields(value.get_object(), at);
        ExternalArtifact artifact;
        fields.text("contract", artifact.contract);
        fields.text("skips_to", artifact.skips_to);
        fields.texts("requires", artifact.required);
        fields.text("source", artifact.source);
        AF_CHECK(fields.finish());
        out.emplace(std::string(key), std::move(artifact));
    }
    return out;
}

/// Reads `provided_as` of task.yaml. Tasks of earlier versions lack it: they knew these words of two contracts.
Result<std::map<std::string, std::vector<std::string>, std::less<>>> read_provided_as(const json::object* object,
                                                                                      const std::string& pointer) {
    std::map<std::string, std::vector<std::string>, std::less<>> out;
    if (object == nullptr) {
        return std::map<std::string, std::vector<std::string>, std::less<>>{
            {std::string(contract_name::specification), {"spec_provided", "external_spec_provided"}},
            {std::string(contract_name::test_suite), {"tests_provided", "external_tests_provided"}}};
    }
    PipelineFields fields(*object, pointer);
    for (const auto& [contract, unused] : *object) { fields.texts(contract, out[contract]); }
    AF_CHECK(fields.finish());
    return out;
}

json::array list_of(const std::vector<std::string>& texts) {
    json::array out;
    for (const auto& text : texts) { out.push_back(json::string(text)); }
    return out;
}

json::object external_json(const std::map<std::string, ExternalArtifact, std::less<>>& externals) {
    json::object out;
    for (const auto& [name, artifact] : externals) {
        out[name] = json::object{{"contract", artifact.contract},
                                 {"skips_to", artifact.skips_to},
                                 {"requires", list_of(artifact.required)},
                                 {"source", artifact.source}};
    }
    return out;
}

json::object stage_json(const StageTemplate& stage) {
    json::object entry{{"name", stage.name},
                       {"executor", stage.executor},
                       {"agent", stage.agent},
                       {"reviewers", list_of(stage.reviewers)},
                       {"review_blocking", stage.review_blocking},
                       {"contract", stage.contract},
                       {"artifact", stage.artifact},
                       {"prerequisites", list_of(stage.prerequisites)},
                       {"required", stage.required},
                       {"purpose", stage.purpose},
                       {"skip_if", stage.skip_if},
                       {"iterate", stage.iterate},
                       {"iterate_prompt", stage.iterate_prompt},
                       {"default_exit", stage.default_exit},
                       {"max_iterations", stage.max_iterations},
                       {"max_retries", stage.max_retries},
                       {"max_cycles", stage.max_cycles},
                       {"max_reviews", stage.max_reviews},
                       {"max_heals", stage.max_contract_retries},
                       {"max_steps", stage.max_steps},
                       {"budget_share", stage.budget_share},
                       {"timeout_ms", stage.timeout.count()},
                       {"approve", stage.approve},
                       {"entry_point", stage.entry_point},
                       {"exit_point", stage.exit_point},
                       {"config", stage.config}};
    if (stage.iterable) { entry["iterable"] = true; }
    if (!stage.also_makes.empty()) { entry["also_makes"] = stage.also_makes; }
    if (!stage.part.empty()) { entry["part"] = stage.part; }
    if (!stage.context_strategy.empty()) { entry["context_strategy"] = stage.context_strategy; }
    if (stage.locks_tests) { entry["locks_tests"] = *stage.locks_tests; }
    if (stage.delivers) { entry["delivers"] = *stage.delivers; }
    for (const auto& [word, tree] : compared_trees) {
        if (stage.compares_with == tree) { entry["compares_with"] = word; }
    }
    return entry;
}

}  // namespace

Result<PipelineTemplate> read_pipeline(const json::object& value, const std::string& pointer) {
    PipelineTemplate out;
    PipelineFields fields(value, pointer);
    fields.text("name", out.name);
    fields.text("description", out.description);
    fields.text("goal_type", out.goal_type);
    fields.boolean("supervised", out.supervised);
    fields.timeout(out.timeout);
    fields.text("source", out.source);
    AF_TRY(out.accepts_external, read_external(fields.object("accepts_external"), pointer + "/accepts_external"));
    AF_TRY(out.requires_external, read_external(fields.object("requires_external"), pointer + "/requires_external"));
    AF_TRY(out.provided_as, read_provided_as(fields.object("provided_as"), pointer + "/provided_as"));
    const auto* stages = fields.array("stages");
    const auto* exit = fields.object("exit");
    const auto* continuation = fields.object("continuation");
    AF_CHECK(fields.finish());
    if (out.name.empty()) { return pipeline_error("AF-PIPE-001", pointer, "the pipeline has no `name`", "Name it."); }
    if (stages == nullptr || stages->empty()) {
        return pipeline_error("AF-PIPE-001", pointer, "the pipeline has no stages", "List them under `stages`.");
    }
    for (std::size_t i = 0; i < stages->size(); ++i) {
        AF_TRY(StageTemplate stage, read_stage((*stages)[i], pointer + "/stages/" + std::to_string(i)));
        out.stages.push_back(std::move(stage));
    }
    if (exit != nullptr) {
        PipelineFields inner(*exit, pointer + "/exit");
        inner.text("stage", out.exit_stage);
        inner.text("deliverable", out.deliverable);
        inner.text("summary_template", out.summary_template);
        AF_CHECK(inner.finish());
    }
    if (out.exit_stage.empty()) {
        const auto marked = std::ranges::find_if(out.stages, &StageTemplate::default_exit);
        out.exit_stage = marked != out.stages.end() ? marked->name : out.stages.back().name;
    }
    if (continuation != nullptr) {
        PipelineFields inner(*continuation, pointer + "/continuation");
        inner.text("prompt", out.continuation.prompt);
        inner.text("next_pipeline", out.continuation.next_pipeline);
        inner.texts("provides", out.continuation.provides);
        AF_CHECK(inner.finish());
    }
    return out;
}

json::object PipelineTemplate::to_json() const {
    json::object out{{"name", name},
                     {"description", description},
                     {"goal_type", goal_type},
                     {"supervised", supervised},
                     {"timeout_ms", timeout.count()},
                     {"source", source},
                     {"accepts_external", external_json(accepts_external)},
                     {"requires_external", external_json(requires_external)}};
    json::object words;
    for (const auto& [contract, list] : provided_as) { words[contract] = list_of(list); }
    out["provided_as"] = std::move(words);
    json::array list;
    for (const auto& stage : stages) { list.push_back(stage_json(stage)); }
    out["stages"] = std::move(list);
    out["exit"] = json::object{{"stage", exit_stage}, {"deliverable", deliverable}, {"summary_template", summary_template}};
    out["continuation"] = json::object{{"prompt", continuation.prompt},
                                       {"next_pipeline", continuation.next_pipeline},
                                       {"provides", list_of(continuation.provides)}};
    return out;
}

Result<PipelineTemplate> PipelineTemplate::from_json(const json::object& value) {
    AF_TRY(PipelineTemplate pipeline, read_pipeline(value, ""));
    AF_CHECK(check_pipeline(pipeline, ""));
    return pipeline;
}

}  // namespace agentforge::kernel
