// SPDX-License-Identifier: Apache-2.0
// A pipeline template and its stages, as data.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "config/gate_names.hpp"

namespace agentforge::kernel {

struct StageTemplate {
    std::string name;      ///< Unique in the pipeline.
    std::string executor;  ///< Name of the stage plugin. Default: `name`.
    std::string agent;     ///< Primary role. Empty for a stage without a model.
    std::vector<std::string> reviewers;
    bool review_blocking = true;
    std::string contract;    ///< Output contract.
    std::string also_makes;  ///< The contract that `contract` extends: its artifacts satisfy that one too. Empty: none.
    std::string artifact;    ///< File name under artifacts/phases/<stage>/. Default: the contract's name.
    std::vector<std::string> prerequisites;  ///< Contracts that earlier stages must have produced.
    bool required = true;                    ///< False: the user may skip the stage (`--without`).
    std::string purpose;                     ///< Why the stage is in this pipeline, for people and for the prompt.
    std::string skip_if;         ///< When it is skipped (SkipCondition). Empty: never. Alias in files: `skippable_if`.
    bool iterable = false;       ///< A person may be asked about each version of its artifact.
    bool iterate = false;        ///< A person is asked about each version.
    std::string iterate_prompt;  ///< The question to the user after each version.
    bool default_exit = false;   ///< The pipeline ends here if the template has no `exit`.
    unsigned max_iterations = 3;
    unsigned max_retries = 2;  ///< Retries after the first attempt.
    unsigned max_cycles = 3;   ///< How often later stages may return here; at most 10.
    unsigned max_reviews = 3;
    unsigned max_contract_retries = 2;  ///< How often contract errors go back to the stage before AgentForge asks a person.
    unsigned max_steps = 40;            ///< For each agent run.
    unsigned budget_share = 0;          ///< Percent of the task's limits on tokens and money. 0: no limit of its own.
    std::chrono::milliseconds timeout{300'000};  ///< For agents only; gates have their own.
    bool approve = false;                        ///< Pauses for approval after this stage.
    bool entry_point = false;                    ///< A task may begin here (`--skip-to`).
    bool exit_point = true;                      ///< A task may end here (`--exit-after`, `--through`).
    /// Its tests may not change once they are accepted. Default: if its exit gate judges tests.
    std::optional<bool> locks_tests;
    std::optional<ComparedTree> compares_with;  ///< What the gates that judge it compare its tree with. Default: as `gate_table`.
    std::optional<bool> delivers;               ///< It ends with the delivery. Default: if its contract is `delivery_report`.
    std::string part;  ///< planner, executor, verifier, reviewer or empty: which settings of `orchestration.…` apply.
    /// What its agents see of the task besides the stage's own state: full, focused, minimal or summary. Empty: focused.
    std::string context_strategy;
    json::object config;  ///< Passed to the stage unchanged.
    bool operator==(const StageTemplate&) const = default;
};

/// Returns the gate that must pass on the recorded tree before the stage's artifact is accepted (`config.exit_gate`). Empty:
/// none.
[[nodiscard]] std::string exit_gate(const StageTemplate& stage);
/// Returns the gate that must confirm the stage's claim of a wrong test (`config.hand_back_gate`). Default: its exit gate if that
/// verifies the change. Empty: the stage cannot hand work back.
[[nodiscard]] std::string hand_back_gate(const StageTemplate& stage);
/// Returns the tree that a gate measured in this stage compares with.
[[nodiscard]] ComparedTree compared_tree(const StageTemplate& stage, std::string_view gate);
/// True if its artifact satisfies this contract: its own, or the one that it extends.
[[nodiscard]] bool makes(const StageTemplate& stage, std::string_view contract);
/// The allowed values of StageTemplate::part and ::context_strategy.
[[nodiscard]] const std::vector<std::string>& stage_parts();
[[nodiscard]] const std::vector<std::string>& context_strategies();
/// True if its tests are locked once they are accepted.
[[nodiscard]] bool writes_tests(const StageTemplate& stage);
/// True if the task's change is delivered in it.
[[nodiscard]] bool makes_delivery(const StageTemplate& stage);
/// Returns the gate that judges the stage's whole work: `deliver` if it delivers, else its exit gate. Empty: none.
[[nodiscard]] std::string closing_gate(const StageTemplate& stage);

/// An imported artifact: the user supplies it instead of having a stage make it.
struct ExternalArtifact {
    std::string contract;
    std::string skips_to;               ///< First stage if this artifact is given. Empty: no stage is skipped.
    std::vector<std::string> required;  ///< Other imported artifacts that this one requires (`requires`).
    std::string source;                 ///< For people: "user_provided OR task_reference".
    bool operator==(const ExternalArtifact&) const = default;
};

struct PipelineTemplate {
    std::string name;
    std::string description;
    std::string goal_type;
    std::vector<StageTemplate> stages;
    std::string exit_stage;   ///< Where the pipeline ends. Default: the first stage with `default_exit`, else the last.
    std::string deliverable;  ///< Contract of the pipeline's result. Default: the exit stage's.
    std::string summary_template;
    std::map<std::string, ExternalArtifact, std::less<>> accepts_external;
    std::map<std::string, ExternalArtifact, std::less<>> requires_external;
    /// By contract of an artifact from outside: the `provided_as` of that contract.
    std::map<std::string, std::vector<std::string>, std::less<>> provided_as;
    struct Continuation {  ///< The pipeline that may follow. If `next_pipeline` is empty, none.
        std::string prompt;
        std::string next_pipeline;
        std::vector<std::string> provides;  ///< Artifacts passed on.
        bool operator==(const Continuation&) const = default;
    } continuation;
    bool supervised = false;
    std::chrono::milliseconds timeout{3'600'000};
    std::string source;
    bool operator==(const PipelineTemplate&) const = default;

    /// Returns the index of a stage by name, if it exists.
    [[nodiscard]] std::optional<std::size_t> index_of(std::string_view stage) const;
    [[nodiscard]] json::object to_json() const;  ///< For task.yaml. Reads back to the same template.
    [[nodiscard]] static Result<PipelineTemplate> from_json(const json::object& value);
};

/// True if importing an artifact of this contract makes the word of `skip_if` true: `CONTRACT_provided`,
/// `external_CONTRACT_provided`, or one that the contract lists under `provided_as`.
[[nodiscard]] bool is_provided_word(const PipelineTemplate& pipeline, std::string_view word, std::string_view contract);
/// Returns the two words that every imported artifact of this contract makes true.
[[nodiscard]] std::array<std::string, 2> provided_words(std::string_view contract);

}  // namespace agentforge::kernel
