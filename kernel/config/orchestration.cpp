// SPDX-License-Identifier: Apache-2.0
#include "config/orchestration.hpp"

#include <numeric>

namespace agentforge::kernel {

namespace {

constexpr std::string_view step_retries_key =
    "step_retry_limit";  // A key below `orchestration`, and in the `config` of a stage that works through a plan.
constexpr std::string_view auto_retry_key = "auto_retry_on_failure";

struct Part {
    std::string_view name;
    std::string_view timeout;  ///< The key below `orchestration`.
};
constexpr Part known_parts[] = {{"planner", "planner_timeout"},
                                {"executor", "executor_timeout"},
                                {"verifier", "verifier_timeout"},
                                {"reviewer", "reviewer_timeout"}};

/// The section. The schema has checked its keys and types.
class Orchestration {
public:
    explicit Orchestration(const Settings& settings) : all_(settings.section("orchestration")) {}

    [[nodiscard]] std::optional<unsigned> number(std::string_view key) const { return number_in(all_, key); }
    [[nodiscard]] std::optional<unsigned> share(std::string_view part) const {
        return number_in(inner(all_, "token_budget"), part);
    }
    [[nodiscard]] const json::object& of_part(std::string_view part) const { return inner(inner(all_, "stages"), part); }

    [[nodiscard]] static std::optional<unsigned> number_in(const json::object& object, std::string_view key) {
        const json::value* value = object.if_contains(key);
        if (value == nullptr) { return std::nullopt; }
        if (value->is_uint64()) { return static_cast<unsigned>(value->get_uint64()); }
        return value->is_int64() ? std::optional(static_cast<unsigned>(value->get_int64())) : std::nullopt;
    }
    [[nodiscard]] static std::optional<bool> boolean_in(const json::object& object, std::string_view key) {
        const json::value* value = object.if_contains(key);
        return value != nullptr && value->is_bool() ? std::optional(value->get_bool()) : std::nullopt;
    }

private:
    static const json::object& inner(const json::object& object, std::string_view key) {
        static const json::object none;
        const json::value* value = object.if_contains(key);
        return value != nullptr && value->is_object() ? value->get_object() : none;
    }

    json::object all_;
};

void overlay(StageTemplate& stage, const Orchestration& said) {
    const json::object& own = said.of_part(stage.part);
    const auto limit = [&](std::string_view of_part, std::string_view of_all) {
        const auto number = Orchestration::number_in(own, of_part);
        return number ? number : said.number(of_all);
    };
    if (const auto cycles = limit("cycle_limit", "cycle_limit")) { stage.max_cycles = *cycles; }
    if (const auto retries = limit("retry_limit", "stage_retry_limit")) { stage.max_retries = *retries; }
    if (const auto retries = said.number(step_retries_key); retries && stage.config.contains(step_retries_key)) {
        stage.config[step_retries_key] = static_cast<std::int64_t>(*retries);
    }
    for (const Part& part : known_parts) {
        if (part.name != stage.part) { continue; }
        if (const auto seconds = limit("timeout", part.timeout)) { stage.timeout = std::chrono::seconds(*seconds); }
    }
    if (const json::value* strategy = own.if_contains("context_strategy"); strategy != nullptr && strategy->is_string()) {
        stage.context_strategy = std::string(strategy->get_string());
    }
    if (const auto retry = Orchestration::boolean_in(own, auto_retry_key); retry && stage.config.contains(auto_retry_key)) {
        stage.config[auto_retry_key] = *retry;
    }
    if (Orchestration::boolean_in(own, "require_human_approval").value_or(false) && !makes_delivery(stage)) {
        stage.approve = true;
    }
}

/// Divides a part's percentage among its stages in proportion to their own shares. The remainder goes to the first ones.
void divide(std::vector<StageTemplate*>& stages, unsigned percent) {
    const unsigned before = std::accumulate(stages.begin(), stages.end(), 0U,
                                            [](unsigned sum, const StageTemplate* stage) { return sum + stage->budget_share; });
    unsigned left = percent;
    for (StageTemplate* stage : stages) {
        const unsigned own =
            before == 0 ? percent / static_cast<unsigned>(stages.size()) : percent * stage->budget_share / before;
        stage->budget_share = own;
        left -= own;
    }
    for (std::size_t at = 0; left > 0 && !stages.empty(); at = (at + 1) % stages.size(), --left) {
        stages[at]->budget_share += 1;
    }
}

}  // namespace

Result<PipelineTemplate> with_orchestration(PipelineTemplate pipeline, const Settings& settings) {
    const Orchestration said(settings);
    if (Orchestration::boolean_in(said.of_part("executor"), "parallel_steps").value_or(false)) {
        return Error{
            "AF-PIPE-031",
            "steps of a plan cannot run in parallel: they change one workspace, and each is measured on the result of the one before",
            settings.origin("orchestration.stages.executor.parallel_steps")->where, "Remove the setting, or write false.",
            ErrorKind::invalid};
    }
    std::optional<std::string> shares;
    for (const std::string& part : stage_parts()) {
        std::vector<StageTemplate*> stages;
        for (StageTemplate& stage : pipeline.stages) {
            if (stage.part == part) { stages.push_back(&stage); }
        }
        if (const auto percent = said.share(part); percent && !stages.empty()) {
            divide(stages, *percent);
            shares = "orchestration.token_budget." + part;
        }
    }
    for (StageTemplate& stage : pipeline.stages) { overlay(stage, said); }
    const unsigned sum = std::accumulate(pipeline.stages.begin(), pipeline.stages.end(), 0U,
                                         [](unsigned total, const StageTemplate& stage) { return total + stage.budget_share; });
    if (shares && sum > 100) {
        return Error{
            "AF-PIPE-030",
            "the shares of the stages of pipeline " + pipeline.name + " add up to " + std::to_string(sum) + " percent",
            settings.origin(*shares)->where,
            "Lower the others under `orchestration.token_budget` as well: planner, executor, verifier and reviewer together may have at most 100.",
            ErrorKind::invalid};
    }
    return pipeline;
}

}  // namespace agentforge::kernel
