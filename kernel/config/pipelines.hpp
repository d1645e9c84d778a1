// SPDX-License-Identifier: Apache-2.0
// Pipeline templates as data (North Star 13.4, 13.5; 001 PipelineConfig; 003 limits and shares).
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "contracts/contract.hpp"

namespace agentforge::kernel {

struct StageTemplate {
    std::string name;      ///< Unique in the pipeline.
    std::string executor;  ///< Stage plugin's name; defaults to `name`.
    std::string agent;     ///< Primary role; empty for a stage without a model.
    std::vector<std::string> reviewers;
    bool review_blocking = true;
    std::string contract;    ///< Output contract.
    std::string also_makes;  ///< The contract that `contract` extends: its artifact is one of that, too. Empty: none.
    std::string artifact;    ///< File name under artifacts/phases/<stage>/; defaults to the contract's name.
    std::vector<std::string> prerequisites;  ///< Contracts that must have been produced.
    bool required = true;                    ///< False: the user may leave the stage out (`--without`).
    std::string purpose;                     ///< Why the stage is in this pipeline; for people and the prompt.
    std::string skip_if;         ///< When it is skipped (SkipCondition); empty: never. A file may call it `skippable_if`.
    bool iterable = false;       ///< A person may be asked about each version of its artifact.
    bool iterate = false;        ///< A person is asked.
    std::string iterate_prompt;  ///< What the user is asked after each version.
    bool default_exit = false;   ///< The pipeline ends here where the template has no `exit`.
    unsigned max_iterations = 3;
    unsigned max_retries = 2;  ///< After the first attempt (001: 2).
    unsigned max_cycles = 3;   ///< How often later stages may come back here (FR-032; at most 10).
    unsigned max_reviews = 3;
    unsigned max_heals = 2;     ///< How often contract errors go back to the stage before a person is asked.
    unsigned max_steps = 40;    ///< Of each agent run.
    unsigned budget_share = 0;  ///< Percent of the task's limits on tokens and money (Task 012, FR-048…052); 0: none of its own.
    std::chrono::milliseconds timeout{300'000};  ///< Agent time only; gates have their own.
    bool approve = false;                        ///< Pause for approval after this stage.
    bool entry_point = false;                    ///< A task may begin here: `--skip-to`.
    bool exit_point = true;                      ///< A task may end here: `--exit-after`, `--through`.
    std::optional<bool> locks_tests;  ///< Nobody changes its tests once they are accepted; unsaid: where its exit gate is `red`.
    std::optional<bool> delivers;     ///< Its work ends in the delivery; unsaid: where its contract is `delivery_report`.
    std::string part;  ///< planner, executor, verifier, reviewer or empty: whose settings (`orchestration.…`) hold for it.
    std::string context_strategy;  ///< What its agents see of the task besides the stage's own words: full, focused, minimal,
                                   ///< summary; empty: focused.
    json::object config;           ///< Handed to the stage as it is.
    bool operator==(const StageTemplate&) const = default;
};

/// The gate that must pass on the recorded tree before the stage's artifact is accepted (`config.exit_gate`); empty: none.
[[nodiscard]] std::string exit_gate(const StageTemplate& stage);
/// The gate that must show what the stage says of a wrong test (`config.hand_back_gate`); unsaid: its exit gate where that is
/// `green`. Empty: the stage hands nothing back.
[[nodiscard]] std::string hand_back_gate(const StageTemplate& stage);
/// Whether its artifact is one of this contract: its own, or the one that it extends.
[[nodiscard]] bool makes(const StageTemplate& stage, std::string_view contract);
/// The words of StageTemplate::part and ::context_strategy.
[[nodiscard]] const std::vector<std::string>& stage_parts();
[[nodiscard]] const std::vector<std::string>& context_strategies();
/// Its tests are locked once they are accepted.
[[nodiscard]] bool writes_tests(const StageTemplate& stage);
/// The task's change is delivered in it.
[[nodiscard]] bool makes_delivery(const StageTemplate& stage);
/// The gate that judges the stage's whole work: `deliver` where it delivers, else its exit gate; empty: none.
[[nodiscard]] std::string closing_gate(const StageTemplate& stage);

/// An artifact from outside (North Star 13.5): what the user brings instead of letting a stage make it.
struct ExternalArtifact {
    std::string contract;
    std::string skips_to;               ///< Stage to begin with where it is given; empty: no stage is skipped.
    std::vector<std::string> required;  ///< Other external artifacts that must be given too (`requires`).
    std::string source;                 ///< "user_provided OR task_reference"; for people.
    bool operator==(const ExternalArtifact&) const = default;
};

struct PipelineTemplate {
    std::string name;
    std::string description;
    std::string goal_type;
    std::vector<StageTemplate> stages;
    std::string exit_stage;   ///< Where the pipeline ends; defaults to the first stage with `default_exit`, else to the last.
    std::string deliverable;  ///< Contract of what the pipeline is for; defaults to the exit stage's.
    std::string summary_template;
    std::map<std::string, ExternalArtifact, std::less<>> accepts_external;
    std::map<std::string, ExternalArtifact, std::less<>> requires_external;
    struct Continuation {  ///< What may follow; empty `next_pipeline`: nothing.
        std::string prompt;
        std::string next_pipeline;
        std::vector<std::string> provides;  ///< Artifacts handed over.
        bool operator==(const Continuation&) const = default;
    } continuation;
    bool supervised = false;
    std::chrono::milliseconds timeout{3'600'000};
    std::string source;
    bool operator==(const PipelineTemplate&) const = default;

    /// Index of a stage by name, if it has it.
    [[nodiscard]] std::optional<std::size_t> index_of(std::string_view stage) const;
    [[nodiscard]] json::object to_json() const;  ///< Goes into task.yaml; reads back to the same.
    [[nodiscard]] static Result<PipelineTemplate> from_json(const json::object& value);
};

/// The conditions `skip_if` may name, whatever contracts there are.
[[nodiscard]] const std::vector<std::string>& skip_conditions();
/// The conditions that an artifact of this contract makes true by coming from outside: `analysis_provided`,
/// `external_analysis_provided`; of a specification also `spec_provided`, of a suite of tests `tests_provided`.
[[nodiscard]] std::vector<std::string> provided_words(std::string_view contract);
[[nodiscard]] bool is_provided_word(std::string_view word, std::string_view contract);

/// Where a stage of a template in force comes from.
struct StageOrigin {
    std::string stage;
    std::string where;     ///< `file:line:column`.
    std::string change;    ///< `inserted` or `replaced` by the project's overlay; empty: as its file has it.
    std::string defaults;  ///< `file:line:column` of the shipped stage from which it takes what it does not say; empty: none.
};

class PipelineSet {
public:
    /// Product, then project over it by name. What a stage leaves out (agent, contract, prerequisites, limits, config …) it takes
    /// from the stage of that name in the shipped `implement`. The stage → agent mapping of `orchestration/pipeline.yaml` is laid
    /// over that, except where a project's own template names an agent or reviewers itself. Folders and file may be missing.
    /// Validated against contract `pipeline_template`. Errors: AF-PIPE-001… with file, line, field.
    [[nodiscard]] static Result<PipelineSet> load(const std::string& product_directory, const std::string& project_directory,
                                                  const std::string& orchestration_file, const ContractSet& contracts);
    [[nodiscard]] Result<PipelineTemplate> get(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> names() const;
    /// In the order of the stages. Empty for an unknown name.
    [[nodiscard]] std::vector<StageOrigin> origins(std::string_view name) const;

private:
    std::map<std::string, PipelineTemplate, std::less<>> pipelines_;
    std::map<std::string, std::vector<StageOrigin>, std::less<>> origins_;
};

}  // namespace agentforge::kernel
