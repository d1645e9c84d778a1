// SPDX-License-Identifier: Apache-2.0
#include "config/pipeline_checks.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.hpp"
#include "config/gate_names.hpp"
#include "config/pipeline_fields.hpp"
#include "config/skip_condition.hpp"
#include "config/verification.hpp"
#include "contracts/names.hpp"

namespace agentforge::kernel {

namespace {

constexpr unsigned cycle_limit = 10;

template <typename Fact>
std::vector<std::string> gates_that(Fact holds) {
    std::vector<std::string> names;
    for (const GateFacts& gate : gate_table) {
        if (std::invoke(holds, gate)) { names.emplace_back(gate.name); }
    }
    return names;
}

/// Rules for every template, wherever it comes from.
Result<void> check_words(const StageTemplate& stage, const std::string& at) {
    for (const auto& [key, said, words] : {std::tuple{"part", &stage.part, &stage_parts()},
                                           std::tuple{"context_strategy", &stage.context_strategy, &context_strategies()}}) {
        if (said->empty() || std::ranges::find(*words, *said) != words->end()) { continue; }
        return unknown_word(at + "/" + key, key, *said, *words);
    }
    return {};
}

Result<void> check_exit_criteria(const StageTemplate& stage, const std::string& at) {
    AF_TRY(const auto criteria, exit_criteria(stage.config, at + "/config"));
    const auto* gate = stage.config.if_contains("exit_gate");
    // The gate of a delivery is the kernel's own, whatever the template says.
    if (!criteria.empty() && !makes_delivery(stage) && (gate == nullptr || !gate->is_string() || gate->get_string().empty())) {
        return pipeline_error("AF-PIPE-001", at + "/config/exit_criteria",
                              "the stage has exit criteria but no exit gate to measure them", "Name one with `exit_gate`.");
    }
    return {};
}

/// Checks that the stage's gates do what the stage needs of them.
Result<void> check_gates_fit(const StageTemplate& stage, const std::string& at) {
    if (stage.config.contains("hand_back_gate") && !gate_facts(hand_back_gate(stage)).verifies_the_change) {
        const std::string able = joined(gates_that(&GateFacts::verifies_the_change));
        return pipeline_error("AF-PIPE-001", at + "/config/hand_back_gate",
                              "only the gate `" + able + "` can show that a test is wrong",
                              "Write " + able + ", or remove `hand_back_gate`.");
    }
    if (stage.compares_with && !gate_facts(closing_gate(stage)).judges_a_stage && hand_back_gate(stage).empty()) {
        return pipeline_error(
            "AF-PIPE-001", at + "/compares_with", "the stage has no gate that compares trees",
            "Name one with `exit_gate` (" + joined(gates_that(&GateFacts::judges_a_stage)) + "), or remove `compares_with`.");
    }
    return {};
}

Result<void> check_stage(const StageTemplate& stage, const std::string& at) {
    if (stage.max_cycles > cycle_limit) {
        return pipeline_error("AF-PIPE-004", at + "/max_cycles",
                              "max_cycles is " + std::to_string(stage.max_cycles) + "; at most 10 cycles are allowed",
                              "Write 10 or less.");
    }
    AF_CHECK(check_words(stage, at));
    if (stage.timeout.count() <= 0) {
        return pipeline_error("AF-PIPE-001", at + "/timeout_seconds", "the stage's timeout is 0", "Write at least 1 second.");
    }
    AF_CHECK(edit_checks(stage.config, at + "/config"));
    AF_CHECK(check_exit_criteria(stage, at));
    AF_CHECK(check_gates_fit(stage, at));
    if (stage.max_steps == 0) { return pipeline_error("AF-PIPE-001", at + "/max_steps", "max_steps is 0", "Write at least 1."); }
    if (const std::string named = exit_gate(stage); !named.empty() && gate_facts(named).name.empty()) {
        return pipeline_error("AF-PIPE-001", at + "/config/exit_gate", "there is no gate `" + ellipsis(named, 60) + "`",
                              "Known gates: " + joined(gates_that([](const GateFacts&) { return true; })) + ".");
    }
    return {};
}

/// The kernel locks one suite of tests, and delivers once.
Result<void> check_done_once(const PipelineTemplate& pipeline, const std::string& pointer) {
    struct Once {
        bool (*is)(const StageTemplate& stage);
        const char* key;
        const char* what;
    };
    for (const auto& [is, key, what] :
         {Once{writes_tests, "locks_tests", "locks its tests"}, Once{makes_delivery, "delivers", "delivers"}}) {
        const auto first = std::ranges::find_if(pipeline.stages, is);
        const auto second = first == pipeline.stages.end() ? first : std::find_if(std::next(first), pipeline.stages.end(), is);
        if (second == pipeline.stages.end()) { continue; }
        return pipeline_error("AF-PIPE-015", pointer + "/stages/" + std::to_string(second - pipeline.stages.begin()),
                              "stage " + second->name + " " + what + ", and so does " + first->name,
                              std::string("Only one stage of a pipeline may do that: write `") + key + ": false` in the other.");
    }
    return {};
}

Result<void> check_external_artifact(const PipelineTemplate& pipeline, const ExternalArtifact& artifact, const std::string& at) {
    if (!artifact.skips_to.empty() && !pipeline.index_of(artifact.skips_to)) {
        return pipeline_error("AF-PIPE-006", at + "/skips_to",
                              "skips_to names " + ellipsis(artifact.skips_to, 60) + ", which is not a stage of the pipeline",
                              "Name one of its stages.");
    }
    for (const auto& other : artifact.required) {
        if (!pipeline.accepts_external.contains(other) && !pipeline.requires_external.contains(other)) {
            return pipeline_error("AF-PIPE-008", at + "/requires",
                                  "requires names " + ellipsis(other, 60) + ", which is not an external artifact of the pipeline",
                                  "Add it to accepts_external.");
        }
    }
    return {};
}

/// Checks the words of `skip_if`: `never`, those that contracts declare, and those of imported artifacts.
Result<void> check_conditions(const StageTemplate& stage, const std::string& at, const ContractSet& contracts) {
    const auto condition = SkipCondition::parse(stage.skip_if);
    if (!condition.ok()) {
        return pipeline_error("AF-PIPE-005", at + "/skip_if", condition.error().message, condition.error().remedy);
    }
    std::vector<std::string> known{"never"};
    known.insert(known.end(), contracts.skip_words().begin(), contracts.skip_words().end());
    const std::string named = joined(known);
    for (const std::string& name : contracts.names()) {
        for (std::string& word : provided_words(name)) { known.push_back(std::move(word)); }
    }
    for (const std::string& word : condition->words()) {
        if (std::find(known.begin(), known.end(), word) != known.end()) { continue; }
        const auto near = nearest(word, known);
        return pipeline_error(
            "AF-PIPE-005", at + "/skip_if", "skip_if names the condition `" + ellipsis(word, 60) + "`, which does not exist",
            near.empty() ? "Conditions, joined by AND, OR and NOT: " + named + ", CONTRACT_provided, external_CONTRACT_provided."
                         : "Did you mean `" + near + "`?");
    }
    return {};
}

/// Checks that a stage's artifact has the fields for what the stage locks or delivers.
Result<void> check_purpose(const StageTemplate& stage, const std::string& at, const Contract& contract) {
    const json::value* fields = contract.schema().if_contains("properties");
    const auto has = [&](std::string_view field) {
        return fields != nullptr && fields->is_object() && fields->get_object().contains(field);
    };
    if (writes_tests(stage) && !has("test_files")) {
        return pipeline_error(
            "AF-PIPE-015", at,
            "stage " + stage.name + " locks its tests, but its contract " + stage.contract + " has no `test_files` to name them",
            "Give it the contract test_suite or another one with `test_files`, or remove `locks_tests`.");
    }
    if (!exit_gate(stage).empty() && exit_gate(stage) == gate_name::deliver && !makes_delivery(stage)) {
        return pipeline_error("AF-PIPE-015", at, "stage " + stage.name + " has the exit gate `deliver` but does not deliver",
                              "Write `delivers: true`, or remove the gate.");
    }
    return {};
}

}  // namespace

Result<void> check_pipeline(const PipelineTemplate& pipeline, const std::string& pointer) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        const auto& stage = pipeline.stages[i];
        const auto at = pointer + "/stages/" + std::to_string(i);
        if (std::find(names.begin(), names.end(), stage.name) != names.end()) {
            return pipeline_error("AF-PIPE-003", at + "/name", "two stages have the name " + stage.name,
                                  "Rename one, and name its plugin with `executor`.");
        }
        names.push_back(stage.name);
        AF_CHECK(check_stage(stage, at));
    }
    AF_CHECK(check_done_once(pipeline, pointer));
    if (!pipeline.index_of(pipeline.exit_stage)) {
        const auto near = nearest(pipeline.exit_stage, names);
        return pipeline_error("AF-PIPE-006", pointer + "/exit/stage",
                              "the pipeline ends at " + ellipsis(pipeline.exit_stage, 60) + ", which is not a stage of it",
                              near.empty() ? "Name one of its stages." : "Did you mean " + near + "?");
    }
    for (const auto* externals : {&pipeline.accepts_external, &pipeline.requires_external}) {
        const auto at = pointer + (externals == &pipeline.accepts_external ? "/accepts_external/" : "/requires_external/");
        for (const auto& [name, artifact] : *externals) { AF_CHECK(check_external_artifact(pipeline, artifact, at + name)); }
    }
    if (pipeline.timeout.count() <= 0) {
        return pipeline_error("AF-PIPE-001", pointer + "/timeout_seconds", "the pipeline's timeout is 0",
                              "Write at least 1 second.");
    }
    return {};
}

Result<void> check_contracts(const PipelineTemplate& pipeline, const ContractSet& contracts) {
    const auto check = [&](const std::string& name, std::string pointer) -> Result<void> {
        if (contracts.get(name).ok()) { return {}; }
        const auto near = nearest(name, contracts.names());
        return pipeline_error("AF-PIPE-008", std::move(pointer), "there is no contract " + ellipsis(name, 60),
                              near.empty() ? "Add it to .agentforge/contracts/." : "Did you mean " + near + "?");
    };
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        const auto& stage = pipeline.stages[i];
        const auto at = "/pipeline/stages/" + std::to_string(i);
        if (stage.contract.empty()) {
            return pipeline_error("AF-PIPE-009", at, "stage " + stage.name + " has no `contract`",
                                  "Add `contract: <name>` for the artifact that the stage must produce.");
        }
        AF_CHECK(check(stage.contract, at + "/contract"));
        // Stages look artifacts up by stage name and by contract in one map, so the names must not clash.
        if (!makes(stage, stage.name) && contracts.get(stage.name).ok()) {
            return pipeline_error(
                "AF-PIPE-023", at + "/name",
                "stage " + stage.name + " has the name of a contract but produces another one: " + stage.contract,
                "Give the stage another name.");
        }
        AF_TRY(const Contract contract, contracts.get(stage.contract));
        AF_CHECK(check_purpose(stage, at, contract));
        AF_CHECK(check_conditions(stage, at, contracts));
        for (std::size_t j = 0; j < stage.prerequisites.size(); ++j) {
            AF_CHECK(check(stage.prerequisites[j], at + "/prerequisites/" + std::to_string(j)));
        }
    }
    for (const auto& [name, artifact] : pipeline.accepts_external) {
        AF_CHECK(check(artifact.contract, "/pipeline/accepts_external/" + name + "/contract"));
    }
    for (const auto& [name, artifact] : pipeline.requires_external) {
        AF_CHECK(check(artifact.contract, "/pipeline/requires_external/" + name + "/contract"));
    }
    if (!pipeline.deliverable.empty()) {
        AF_CHECK(check(pipeline.deliverable, "/pipeline/exit/deliverable"));
        const auto end =
            pipeline.stages.begin() +
            static_cast<std::ptrdiff_t>(pipeline.index_of(pipeline.exit_stage).value_or(pipeline.stages.size() - 1)) + 1;
        if (std::none_of(pipeline.stages.begin(), end,
                         [&](const StageTemplate& stage) { return makes(stage, pipeline.deliverable); })) {
            return pipeline_error("AF-PIPE-015", "/pipeline/exit/deliverable",
                                  "the pipeline is for " + std::string(article_for(pipeline.deliverable)) + " " +
                                      ellipsis(pipeline.deliverable, 60) + ", which no stage up to " + pipeline.exit_stage +
                                      " produces",
                                  "Name the contract of one of these stages, or end the pipeline later.");
        }
    }
    return {};
}

}  // namespace agentforge::kernel
