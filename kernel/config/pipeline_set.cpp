// SPDX-License-Identifier: Apache-2.0
#include "config/pipeline_set.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <set>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/documents.hpp"
#include "config/gate_names.hpp"
#include "config/one_file.hpp"
#include "config/overlay.hpp"
#include "config/skip_condition.hpp"
#include "config/summary.hpp"
#include "config/template_checks.hpp"
#include "config/verification.hpp"
#include "contracts/names.hpp"

namespace agentforge::kernel {

namespace {

constexpr unsigned cycle_limit = 10;

json::array list_of(const std::vector<std::string>& texts) {
    json::array out;
    for (const auto& text : texts) { out.push_back(json::string(text)); }
    return out;
}

Error wrong(std::string_view what, std::string message, std::string remedy) {
    return Error{"AF-PIPE-001", std::move(message), std::string(what), std::move(remedy), ErrorKind::invalid};
}

/// Reads the fields of one object strictly: each is requested once, and a field that was not requested is an error.
class Fields {
public:
    Fields(const json::object& object, std::string pointer) : object_(object), pointer_(std::move(pointer)) {}

    void text(std::string_view key, std::string& into) {
        if (const auto* value = take(key)) {
            if (value->is_string()) {
                into = view(value->get_string());
            } else {
                mismatch(key, "a string");
            }
        }
    }
    /// Null reads as empty text.
    void text_or_null(std::string_view key, std::string& into) {
        if (const auto* value = object_.if_contains(key); value != nullptr && value->is_null()) {
            seen_.emplace(key);
            into.clear();
            return;
        }
        text(key, into);
    }
    void boolean(std::string_view key, bool& into) {
        if (const auto* value = take(key)) {
            if (value->is_bool()) {
                into = value->get_bool();
            } else {
                mismatch(key, "true or false");
            }
        }
    }
    void boolean(std::string_view key, std::optional<bool>& into) {
        bool value = false;
        if (!object_.contains(key)) { return; }
        boolean(key, value);
        into = value;
    }
    void number(std::string_view key, unsigned& into) {
        if (const auto* value = take(key)) {
            const auto count = integer(*value);
            if (count && *count <= 1'000'000) {
                into = static_cast<unsigned>(*count);
            } else {
                mismatch(key, "a whole number from 0 to 1000000");
            }
        }
    }
    /// `timeout_seconds` in files for people, `timeout_ms` in task.yaml.
    void timeout(std::chrono::milliseconds& into) {
        if (const auto* value = take("timeout_seconds")) {
            const auto count = integer(*value);
            if (count && *count <= 604'800) {
                into = std::chrono::seconds(*count);
            } else {
                mismatch("timeout_seconds", "a whole number of seconds, at most 604800");
            }
        }
        if (const auto* value = take("timeout_ms")) {
            const auto count = integer(*value);
            if (count && *count <= 604'800'000) {
                into = std::chrono::milliseconds(*count);
            } else {
                mismatch("timeout_ms", "a whole number of milliseconds, at most 604800000");
            }
        }
    }
    void texts(std::string_view key, std::vector<std::string>& into) {
        const auto* value = take(key);
        if (value == nullptr) { return; }
        into.clear();
        if (!value->is_array()) {
            mismatch(key, "a list of strings");
            return;
        }
        for (const auto& item : value->get_array()) {
            if (!item.is_string()) {
                mismatch(key, "a list of strings");
                return;
            }
            into.emplace_back(view(item.get_string()));
        }
    }
    const json::object* object(std::string_view key) {
        const auto* value = take(key);
        if (value == nullptr) { return nullptr; }
        if (!value->is_object()) {
            mismatch(key, "a map");
            return nullptr;
        }
        return &value->get_object();
    }
    const json::array* array(std::string_view key) {
        const auto* value = take(key);
        if (value == nullptr) { return nullptr; }
        if (!value->is_array()) {
            mismatch(key, "a list");
            return nullptr;
        }
        return &value->get_array();
    }
    [[nodiscard]] bool has(std::string_view key) const { return object_.contains(key); }

    /// Returns the first error. `where` is a JSON pointer, which the caller resolves to a place.
    Result<void> finish() {
        if (error_) { return *error_; }
        for (const auto& [key, value] : object_) {
            const std::string_view name(key.data(), key.size());
            if (!seen_.contains(name)) {
                const auto near = nearest(name, {seen_.begin(), seen_.end()});
                return wrong(pointer_ + "/" + std::string(name), "`" + ellipsis(name, 60) + "` is not a field of a pipeline here",
                             near.empty() ? "Remove it." : "Did you mean `" + near + "`?");
            }
        }
        return {};
    }

private:
    static std::optional<std::uint64_t> integer(const json::value& value) {
        if (value.is_uint64()) { return value.get_uint64(); }
        if (value.is_int64() && value.get_int64() >= 0) { return static_cast<std::uint64_t>(value.get_int64()); }
        return std::nullopt;
    }
    const json::value* take(std::string_view key) {
        seen_.emplace(key);
        return object_.if_contains(key);
    }
    void mismatch(std::string_view key, std::string_view expected) {
        if (!error_) {
            error_ = wrong(pointer_ + "/" + std::string(key), "`" + std::string(key) + "` has a wrong value",
                           "It must be " + std::string(expected) + ".");
        }
    }

    const json::object& object_;
    std::string pointer_;
    std::set<std::string, std::less<>> seen_;
    std::optional<Error> error_;
};

constexpr std::pair<std::string_view, ComparedTree> compared_trees[] = {{"base", ComparedTree::base},
                                                                        {"locked_tests", ComparedTree::locked_tests}};

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) { all += (all.empty() ? "" : ", ") + word; }
    return all;
}

/// A key whose value is not one of the words that it may have.
Error unknown_word(std::string pointer, std::string_view key, std::string_view said, const std::vector<std::string>& words) {
    const auto near = nearest(said, words);
    return wrong(std::move(pointer), "`" + std::string(key) + "` is `" + ellipsis(said, 60) + "`, which does not exist",
                 near.empty() ? "Write one of " + joined(words) + "." : "Did you mean `" + near + "`?");
}

Result<ComparedTree> read_compared_tree(const std::string& said, const std::string& pointer) {
    std::vector<std::string> words;
    for (const auto& [word, tree] : compared_trees) {
        if (word == said) { return tree; }
        words.emplace_back(word);
    }
    return unknown_word(pointer + "/compares_with", "compares_with", said, words);
}

/// Who works in a stage, and who reviews its artifact.
Result<void> read_roles(Fields& fields, const std::string& pointer, StageTemplate& out) {
    fields.text("name", out.name);
    fields.text("executor", out.executor);
    fields.text_or_null("agent", out.agent);
    fields.texts("reviewers", out.reviewers);
    fields.boolean("review_blocking", out.review_blocking);
    std::string mode;
    fields.text("review_mode", mode);
    if (!mode.empty() && mode != "blocking" && mode != "advisory") {
        return wrong(pointer + "/review_mode", "`review_mode` is neither blocking nor advisory", "Write one of the two.");
    }
    if (!mode.empty()) { out.review_blocking = mode == "blocking"; }
    return {};
}

void read_limits(Fields& fields, StageTemplate& out) {
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
    if (object == nullptr) { return wrong(pointer, "a stage is a map", "Write `- name: <stage>`."); }
    StageTemplate out;
    Fields fields(*object, pointer);
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
    if (out.name.empty()) { return wrong(pointer, "a stage has no `name`", "Name it."); }
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
        if (!value.is_object()) { return wrong(at, "an external artifact is a map", "Write {contract: <name>}."); }
        Fields fields(value.get_object(), at);
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
    Fields fields(*object, pointer);
    for (const auto& [contract, unused] : *object) { fields.texts(contract, out[contract]); }
    AF_CHECK(fields.finish());
    return out;
}

/// Reads the form common to files and task.yaml. Errors have a JSON pointer below `pointer` in `where`.
Result<PipelineTemplate> read_pipeline(const json::object& value, const std::string& pointer) {
    PipelineTemplate out;
    Fields fields(value, pointer);
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
    if (out.name.empty()) { return wrong(pointer, "the pipeline has no `name`", "Name it."); }
    if (stages == nullptr || stages->empty()) {
        return wrong(pointer, "the pipeline has no stages", "List them under `stages`.");
    }
    for (std::size_t i = 0; i < stages->size(); ++i) {
        AF_TRY(StageTemplate stage, read_stage((*stages)[i], pointer + "/stages/" + std::to_string(i)));
        out.stages.push_back(std::move(stage));
    }
    if (exit != nullptr) {
        Fields inner(*exit, pointer + "/exit");
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
        Fields inner(*continuation, pointer + "/continuation");
        inner.text("prompt", out.continuation.prompt);
        inner.text("next_pipeline", out.continuation.next_pipeline);
        inner.texts("provides", out.continuation.provides);
        AF_CHECK(inner.finish());
    }
    return out;
}

Error broken(std::string_view code, std::string pointer, std::string message, std::string remedy) {
    return Error{std::string(code), std::move(message), std::move(pointer), std::move(remedy), ErrorKind::invalid};
}

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
        return broken("AF-PIPE-001", at + "/config/exit_criteria", "the stage has exit criteria but no exit gate to measure them",
                      "Name one with `exit_gate`.");
    }
    return {};
}

/// Checks that the stage's gates do what the stage needs of them.
Result<void> check_gates_fit(const StageTemplate& stage, const std::string& at) {
    if (stage.config.contains("hand_back_gate") && !gate_facts(hand_back_gate(stage)).verifies_the_change) {
        const std::string able = joined(gates_that(&GateFacts::verifies_the_change));
        return broken("AF-PIPE-001", at + "/config/hand_back_gate", "only the gate `" + able + "` can show that a test is wrong",
                      "Write " + able + ", or remove `hand_back_gate`.");
    }
    if (stage.compares_with && !gate_facts(closing_gate(stage)).judges_a_stage && hand_back_gate(stage).empty()) {
        return broken(
            "AF-PIPE-001", at + "/compares_with", "the stage has no gate that compares trees",
            "Name one with `exit_gate` (" + joined(gates_that(&GateFacts::judges_a_stage)) + "), or remove `compares_with`.");
    }
    return {};
}

Result<void> check_stage(const StageTemplate& stage, const std::string& at) {
    if (stage.max_cycles > cycle_limit) {
        return broken("AF-PIPE-004", at + "/max_cycles",
                      "max_cycles is " + std::to_string(stage.max_cycles) + "; at most 10 cycles are allowed",
                      "Write 10 or less.");
    }
    AF_CHECK(check_words(stage, at));
    if (stage.timeout.count() <= 0) {
        return broken("AF-PIPE-001", at + "/timeout_seconds", "the stage's timeout is 0", "Write at least 1 second.");
    }
    AF_CHECK(edit_checks(stage.config, at + "/config"));
    AF_CHECK(check_exit_criteria(stage, at));
    AF_CHECK(check_gates_fit(stage, at));
    if (stage.max_steps == 0) { return broken("AF-PIPE-001", at + "/max_steps", "max_steps is 0", "Write at least 1."); }
    if (const std::string named = exit_gate(stage); !named.empty() && gate_facts(named).name.empty()) {
        return broken("AF-PIPE-001", at + "/config/exit_gate", "there is no gate `" + ellipsis(named, 60) + "`",
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
        return broken("AF-PIPE-015", pointer + "/stages/" + std::to_string(second - pipeline.stages.begin()),
                      "stage " + second->name + " " + what + ", and so does " + first->name,
                      std::string("Only one stage of a pipeline may do that: write `") + key + ": false` in the other.");
    }
    return {};
}

Result<void> check_external_artifact(const PipelineTemplate& pipeline, const ExternalArtifact& artifact, const std::string& at) {
    if (!artifact.skips_to.empty() && !pipeline.index_of(artifact.skips_to)) {
        return broken("AF-PIPE-006", at + "/skips_to",
                      "skips_to names " + ellipsis(artifact.skips_to, 60) + ", which is not a stage of the pipeline",
                      "Name one of its stages.");
    }
    for (const auto& other : artifact.required) {
        if (!pipeline.accepts_external.contains(other) && !pipeline.requires_external.contains(other)) {
            return broken("AF-PIPE-008", at + "/requires",
                          "requires names " + ellipsis(other, 60) + ", which is not an external artifact of the pipeline",
                          "Add it to accepts_external.");
        }
    }
    return {};
}

Result<void> check_pipeline(const PipelineTemplate& pipeline, const std::string& pointer) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        const auto& stage = pipeline.stages[i];
        const auto at = pointer + "/stages/" + std::to_string(i);
        if (std::find(names.begin(), names.end(), stage.name) != names.end()) {
            return broken("AF-PIPE-003", at + "/name", "two stages have the name " + stage.name,
                          "Rename one, and name its plugin with `executor`.");
        }
        names.push_back(stage.name);
        AF_CHECK(check_stage(stage, at));
    }
    AF_CHECK(check_done_once(pipeline, pointer));
    if (!pipeline.index_of(pipeline.exit_stage)) {
        const auto near = nearest(pipeline.exit_stage, names);
        return broken("AF-PIPE-006", pointer + "/exit/stage",
                      "the pipeline ends at " + ellipsis(pipeline.exit_stage, 60) + ", which is not a stage of it",
                      near.empty() ? "Name one of its stages." : "Did you mean " + near + "?");
    }
    for (const auto* externals : {&pipeline.accepts_external, &pipeline.requires_external}) {
        const auto at = pointer + (externals == &pipeline.accepts_external ? "/accepts_external/" : "/requires_external/");
        for (const auto& [name, artifact] : *externals) { AF_CHECK(check_external_artifact(pipeline, artifact, at + name)); }
    }
    if (pipeline.timeout.count() <= 0) {
        return broken("AF-PIPE-001", pointer + "/timeout_seconds", "the pipeline's timeout is 0", "Write at least 1 second.");
    }
    return {};
}

/// The words that an imported artifact of any contract makes true.
std::array<std::string, 2> provided_words(std::string_view contract) {
    return {std::string(contract) + "_provided", "external_" + std::string(contract) + "_provided"};
}

/// Checks the words of `skip_if`: `never`, those that contracts declare, and those of imported artifacts.
Result<void> check_conditions(const StageTemplate& stage, const std::string& at, const ContractSet& contracts) {
    const auto condition = SkipCondition::parse(stage.skip_if);
    if (!condition.ok()) { return broken("AF-PIPE-005", at + "/skip_if", condition.error().message, condition.error().remedy); }
    std::vector<std::string> known{"never"};
    known.insert(known.end(), contracts.skip_words().begin(), contracts.skip_words().end());
    const std::string named = joined(known);
    for (const std::string& name : contracts.names()) {
        for (std::string& word : provided_words(name)) { known.push_back(std::move(word)); }
    }
    for (const std::string& word : condition->words()) {
        if (std::find(known.begin(), known.end(), word) != known.end()) { continue; }
        const auto near = nearest(word, known);
        return broken(
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
        return broken(
            "AF-PIPE-015", at,
            "stage " + stage.name + " locks its tests, but its contract " + stage.contract + " has no `test_files` to name them",
            "Give it the contract test_suite or another one with `test_files`, or remove `locks_tests`.");
    }
    if (!exit_gate(stage).empty() && exit_gate(stage) == gate_name::deliver && !makes_delivery(stage)) {
        return broken("AF-PIPE-015", at, "stage " + stage.name + " has the exit gate `deliver` but does not deliver",
                      "Write `delivers: true`, or remove the gate.");
    }
    return {};
}

Result<void> check_contracts(const PipelineTemplate& pipeline, const ContractSet& contracts) {
    const auto check = [&](const std::string& name, std::string pointer) -> Result<void> {
        if (contracts.get(name).ok()) { return {}; }
        const auto near = nearest(name, contracts.names());
        return broken("AF-PIPE-008", std::move(pointer), "there is no contract " + ellipsis(name, 60),
                      near.empty() ? "Add it to .agentforge/contracts/." : "Did you mean " + near + "?");
    };
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        const auto& stage = pipeline.stages[i];
        const auto at = "/pipeline/stages/" + std::to_string(i);
        if (stage.contract.empty()) {
            return broken("AF-PIPE-009", at, "stage " + stage.name + " has no `contract`",
                          "Add `contract: <name>` for the artifact that the stage must produce.");
        }
        AF_CHECK(check(stage.contract, at + "/contract"));
        // Stages look artifacts up by stage name and by contract in one map, so the names must not clash.
        if (!makes(stage, stage.name) && contracts.get(stage.name).ok()) {
            return broken("AF-PIPE-023", at + "/name",
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
            return broken("AF-PIPE-015", "/pipeline/exit/deliverable",
                          "the pipeline is for " + std::string(article_for(pipeline.deliverable)) + " " +
                              ellipsis(pipeline.deliverable, 60) + ", which no stage up to " + pipeline.exit_stage + " produces",
                          "Name the contract of one of these stages, or end the pipeline later.");
        }
    }
    return {};
}

/// The fields that a stage takes over from the stage of the same name in the shipped `implement`.
constexpr std::string_view inherited[] = {"executor",    "agent",           "reviewers",      "review_mode",  "contract",
                                          "artifact",    "prerequisites",   "config",         "entry_point",  "exit_point",
                                          "iterable",    "timeout_seconds", "max_iterations", "max_retries",  "max_cycles",
                                          "max_reviews", "max_heals",       "max_steps",      "budget_share", "part"};

struct Mapping {
    std::optional<std::string> primary;
    std::optional<std::vector<std::string>> reviewers;
    std::optional<bool> blocking;
};

Result<std::map<std::string, Mapping>> read_orchestration(const YamlDocument& document) {
    std::map<std::string, Mapping> out;
    const auto fail = [&](std::string_view pointer, std::string message, std::string remedy) {
        return Error{"AF-PIPE-007", std::move(message), document.where(pointer), std::move(remedy), ErrorKind::invalid};
    };
    const auto* top = document.value.if_object();
    if (top != nullptr) {
        for (const auto& [key, unused] : *top) {
            if (key != "pipeline") {
                return fail("/" + std::string(key) + "#",
                            "`" + ellipsis(key, 60) + "` is not a field of the mapping of stages to agents",
                            "It contains pipeline: {stages: {…}} and nothing else.");
            }
        }
    }
    const auto* pipeline = top == nullptr || top->size() != 1 ? nullptr : top->if_contains("pipeline");
    const auto* inner = pipeline == nullptr ? nullptr : pipeline->if_object();
    const auto* stages = inner == nullptr || inner->size() != 1 ? nullptr : inner->if_contains("stages");
    if (stages == nullptr || !stages->is_object()) {
        return fail("", "the mapping of stages to agents must contain pipeline: {stages: {…}} and nothing else",
                    "See config/orchestration/pipeline.yaml.");
    }
    for (const auto& [key, value] : stages->get_object()) {
        const auto at = "/pipeline/stages/" + std::string(key);
        if (!value.is_object()) {
            return fail(at, "each stage in the mapping must be a map", "Write {primary: <role>, reviewers: []}.");
        }
        Fields fields(value.get_object(), at);
        Mapping mapping;
        std::string primary;
        std::vector<std::string> reviewers;
        std::string mode;
        fields.text_or_null("primary", primary);
        fields.texts("reviewers", reviewers);
        fields.text("review_mode", mode);
        if (auto done = fields.finish(); !done.ok()) {
            return fail(done.error().where, done.error().message, done.error().remedy);
        }
        if (!mode.empty() && mode != "blocking" && mode != "advisory") {
            return fail(at + "/review_mode", "`review_mode` is neither blocking nor advisory", "Write one of the two.");
        }
        if (fields.has("primary")) { mapping.primary = primary; }
        if (fields.has("reviewers")) { mapping.reviewers = reviewers; }
        if (!mode.empty()) { mapping.blocking = mode == "blocking"; }
        out.emplace(std::string(key), std::move(mapping));
    }
    return out;
}

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
            return broken("AF-PIPE-001", at + "/" + std::string(other) + "#",
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
    return wrong(first.path + (first.rule == "additionalProperties" ? "#" : ""),
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
        return broken("AF-PIPE-012", "",
                      "the template lacks required fields, although the contract pipeline_template in force accepts it",
                      "Remove the project's own pipeline_template from its contracts (" + contract.source() + ").");
    }
    return out;
}

/// Overrides agents and reviewers by the orchestration file. In a project's own template, what a stage wrote itself wins.
void apply_mapping(PipelineTemplate& pipeline, const ResolvedTemplate& document, const std::vector<OwnKeys>& own,
                   const std::map<std::string, Mapping>& mapping, bool of_project) {
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        auto& stage = pipeline.stages[i];
        const auto found = mapping.find(stage.name);
        if (found == mapping.end()) { continue; }
        const bool own_keys_win = of_project && document.stages[i].document == document.own;
        const auto may = [&](std::string_view key) { return !own_keys_win || !own[i].contains(key); };
        if (found->second.primary && may("agent")) { stage.agent = *found->second.primary; }
        if (found->second.reviewers && may("reviewers")) { stage.reviewers = *found->second.reviewers; }
        if (found->second.blocking && may("review_mode")) { stage.review_blocking = *found->second.blocking; }
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
        return placed_in(
            document, broken("AF-PIPE-010", "/pipeline/name", "the file " + stem + ".yaml defines the pipeline " + pipeline.name,
                             "Name the file after its pipeline: " + pipeline.name + ".yaml."));
    }
    return {};
}

/// Returns the template that a file describes. `defaults`: the stages of the shipped `implement`.
Result<PipelineTemplate> read_file_template(const ResolvedTemplate& document, const json::array* defaults,
                                            const std::map<std::string, Mapping>& mapping, bool of_project,
                                            const Contract& contract, const ContractSet& contracts) {
    const auto* top = document.value.if_object();
    if (top == nullptr) { return placed_in(document, wrong("", "a pipeline template is a map", "Start it with `pipeline:`.")); }
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

std::string exit_gate(const StageTemplate& stage) {
    const json::value* gate = stage.config.if_contains("exit_gate");
    return gate != nullptr && gate->is_string() ? std::string(gate->get_string()) : std::string();
}

std::string hand_back_gate(const StageTemplate& stage) {
    const json::value* gate = stage.config.if_contains("hand_back_gate");
    if (gate != nullptr) { return gate->is_string() ? std::string(gate->get_string()) : std::string(); }
    return gate_facts(exit_gate(stage)).verifies_the_change ? exit_gate(stage) : std::string();
}

ComparedTree compared_tree(const StageTemplate& stage, std::string_view gate) {
    const GateFacts facts = gate_facts(gate);
    return facts.judges_a_stage ? stage.compares_with.value_or(facts.compares_with) : facts.compares_with;
}

bool makes(const StageTemplate& stage, std::string_view contract) {
    return stage.contract == contract || (!contract.empty() && stage.also_makes == contract);
}

const std::vector<std::string>& stage_parts() {
    static const std::vector<std::string> words{"planner", "executor", "verifier", "reviewer"};
    return words;
}

const std::vector<std::string>& context_strategies() {
    static const std::vector<std::string> words{"full", "focused", "minimal", "summary"};
    return words;
}

bool writes_tests(const StageTemplate& stage) { return stage.locks_tests.value_or(gate_facts(exit_gate(stage)).judges_tests); }

bool is_provided_word(const PipelineTemplate& pipeline, std::string_view word, std::string_view contract) {
    const auto further = pipeline.provided_as.find(contract);
    if (further != pipeline.provided_as.end() && std::ranges::find(further->second, word) != further->second.end()) {
        return true;
    }
    const auto words = provided_words(contract);
    return std::ranges::find(words, word) != words.end();
}

bool makes_delivery(const StageTemplate& stage) {
    return stage.delivers.value_or(stage.contract == contract_name::delivery_report);
}

std::string closing_gate(const StageTemplate& stage) {
    return makes_delivery(stage) ? std::string(gate_name::deliver) : exit_gate(stage);
}

std::optional<std::size_t> PipelineTemplate::index_of(std::string_view stage) const {
    for (std::size_t i = 0; i < stages.size(); ++i) {
        if (stages[i].name == stage) { return i; }
    }
    return std::nullopt;
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

namespace {

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

struct StageMapping {
    std::optional<YamlDocument> document;
    std::map<std::string, Mapping> mapping;
};

/// Reads the orchestration file. A missing one maps nothing.
Result<StageMapping> read_orchestration_file(const std::string& file) {
    StageMapping out;
    std::error_code ignored;
    if (!file.empty() && std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
        AF_TRY(out.document, load_yaml(file));
        AF_TRY(out.mapping, read_orchestration(*out.document));
    }
    return out;
}

/// The files with templates: the product's, and the project's over them.
struct TemplateFiles {
    std::map<std::string, YamlDocument> product;
    std::map<std::string, YamlDocument> project;
};

using ResolvedTemplates = std::map<std::string, ResolvedTemplate>;

/// Reads each file's template into `loaded` and `resolved`; a project's template replaces the product's of the same name.
Result<void> read_templates(const TemplateFiles& files, const std::map<std::string, Mapping>& mapping,
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
        return placed_in(document, broken("AF-PIPE-022", "/pipeline/exit/summary_template",
                                          "there is no summary `" + ellipsis(pipeline.summary_template, 60) + "`",
                                          "Write it into .agentforge/summaries/" + ellipsis(pipeline.summary_template, 60) +
                                              ".txt, or remove the key."));
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
    for (const auto& [stage, unused] : orchestration.mapping) {
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
    AF_TRY(const StageMapping orchestration, read_orchestration_file(orchestration_file));
    LoadedPipelines loaded;
    ResolvedTemplates resolved;  // They point into `files`.
    AF_CHECK(read_templates(files, orchestration.mapping, contracts, loaded, resolved));
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
