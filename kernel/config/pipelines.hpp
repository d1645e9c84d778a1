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
    std::string name;                       ///< Unique in the pipeline.
    std::string executor;                   ///< Stage plugin's name; defaults to `name`.
    std::string agent;                      ///< Primary role; empty for a stage without a model.
    std::vector<std::string> reviewers;
    bool review_blocking = true;
    std::string contract;                   ///< Output contract.
    std::string artifact;                   ///< File name under artifacts/phases/<stage>/; defaults to the contract's name.
    std::vector<std::string> prerequisites; ///< Contracts that must have been produced.
    bool required = true;                   ///< False: the user may leave the stage out.
    std::string purpose;                    ///< Why the stage is in this pipeline; for people and the prompt.
    std::string skip_if;                    ///< Conditions joined by " OR "; empty: never. Words: skip_conditions().
    bool iterate = false;
    std::string iterate_prompt;             ///< What the user is asked after each version.
    bool default_exit = false;              ///< The pipeline ends here where the template has no `exit`.
    unsigned max_iterations = 3;
    unsigned max_retries = 2;               ///< After the first attempt (001: 2).
    unsigned max_cycles = 3;                ///< How often later stages may come back here (FR-032; at most 10).
    unsigned max_reviews = 3;
    unsigned max_heals = 2;                 ///< How often contract errors go back to the stage before a person is asked.
    unsigned max_steps = 40;                ///< Of each agent run.
    unsigned budget_share = 0;              ///< Percent of the task's limits on tokens and money (Task 012, FR-048…052); 0: none of its own.
    std::chrono::milliseconds timeout{300'000};     ///< Agent time only; gates have their own.
    bool approve = false;                   ///< Pause for approval after this stage.
    bool entry_point = false;
    bool exit_point = false;
    std::optional<bool> locks_tests;        ///< Nobody changes its tests once they are accepted; unsaid: where its exit gate is `red`.
    std::optional<bool> delivers;           ///< Its work ends in the delivery; unsaid: where its contract is `delivery_report`.
    json::object config;                    ///< Handed to the stage as it is.
    bool operator==(const StageTemplate&) const = default;
};

/// The gate that must pass on the recorded tree before the stage's artifact is accepted (`config.exit_gate`); empty: none.
[[nodiscard]] std::string exit_gate(const StageTemplate& stage);
/// Its tests are locked once they are accepted.
[[nodiscard]] bool writes_tests(const StageTemplate& stage);
/// The task's change is delivered in it.
[[nodiscard]] bool makes_delivery(const StageTemplate& stage);
/// The gate that judges the stage's whole work: `deliver` where it delivers, else its exit gate; empty: none.
[[nodiscard]] std::string closing_gate(const StageTemplate& stage);

/// An artifact from outside (North Star 13.5): what the user brings instead of letting a stage make it.
struct ExternalArtifact {
    std::string contract;
    std::string skips_to;                   ///< Stage to begin with where it is given; empty: no stage is skipped.
    std::vector<std::string> required;      ///< Other external artifacts that must be given too (`requires`).
    std::string source;                     ///< "user_provided OR task_reference"; for people.
    bool operator==(const ExternalArtifact&) const = default;
};

struct PipelineTemplate {
    std::string name;
    std::string description;
    std::string goal_type;
    std::vector<StageTemplate> stages;
    std::string exit_stage;                 ///< Where the pipeline ends; defaults to the first stage with `default_exit`, else to the last.
    std::string deliverable;                ///< Contract of what the pipeline is for; defaults to the exit stage's.
    std::string summary_template;
    std::map<std::string, ExternalArtifact, std::less<>> accepts_external;
    std::map<std::string, ExternalArtifact, std::less<>> requires_external;
    struct Continuation {                   ///< What may follow; empty `next_pipeline`: nothing.
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
    [[nodiscard]] json::object to_json() const;         ///< Goes into task.yaml; reads back to the same.
    [[nodiscard]] static Result<PipelineTemplate> from_json(const json::object& value);
};

/// The conditions `skip_if` may name.
[[nodiscard]] const std::vector<std::string>& skip_conditions();

/// The keys of a template's own file that are read and do nothing yet, as AF-PIPE-013 with their places, in the file's order. What only restates the
/// default (`required: true`) is left out. Empty for a file that cannot be read: whoever loads it says so.
[[nodiscard]] std::vector<Error> keys_without_effect(const std::string& file);

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

private:
    std::map<std::string, PipelineTemplate, std::less<>> pipelines_;
};

}  // namespace agentforge::kernel
