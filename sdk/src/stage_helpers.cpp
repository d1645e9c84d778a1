// SPDX-License-Identifier: Apache-2.0
#include <agentforge/stage_helpers.hpp>

#include <algorithm>

namespace agentforge {

namespace {

/// The state that every model-driven stage needs.
json::object state_of(const StageInput& input) {
    json::object state;
    state["request"] = input.request;
    state["input_artifact"] = input.input_artifact;
    if (input.feedback) { state["feedback"] = *input.feedback; }
    if (input.resolution) { state["resolution"] = *input.resolution; }
    if (input.previous_attempt) { state["previous_attempt"] = *input.previous_attempt; }
    if (!input.previous_errors.empty()) { state["previous_errors"] = json::value_from(input.previous_errors); }
    return state;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) { return {}; }
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

/// Returns the content of the first fenced block whose language is one of `languages`.
std::optional<std::string_view> fenced_block(std::string_view text, std::initializer_list<std::string_view> languages) {
    constexpr std::string_view fence = "```";
    std::optional<std::size_t> inside;
    bool wanted = false;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = trimmed(text.substr(begin, end - begin));
        if (!inside && line.starts_with(fence)) {
            const std::string_view language = trimmed(line.substr(fence.size()));
            wanted = std::ranges::any_of(languages, [&](std::string_view name) { return equals_ignoring_case(name, language); });
            inside = std::min(end + 1, text.size());
        } else if (inside && line == fence) {
            if (wanted) { return text.substr(*inside, begin - *inside); }
            inside.reset();
        }
        begin = end + 1;
    }
    return std::nullopt;
}

std::optional<json::object> parse_object(std::string_view text) {
    json::parse_options options;
    options.max_depth = 64;
    json::error_code failure;
    json::value value = json::parse({text.data(), text.size()}, failure, {}, options);
    if (failure || !value.is_object()) { return std::nullopt; }
    return std::move(value.get_object());
}

/// Returns one past the end of the object that opens at `begin`, or npos.
std::size_t object_end(std::string_view text, std::size_t begin) {
    std::size_t depth = 0;
    bool quoted = false;
    for (std::size_t i = begin; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                quoted = false;
            }
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{') {
            ++depth;
        } else if (c == '}' && --depth == 0) {
            return i + 1;
        }
    }
    return std::string_view::npos;
}

}  // namespace

StageResult LLMStage::execute(StageContext& context) {
    AgentRun run;
    run.text_answer = true;
    run.state = state_of(context.input());
    run.system_prompt = system_prompt(context);
    // The first line is the objective; the rest is guidance.
    const std::string message = user_message(context);
    const std::string_view words = trimmed(message);
    const std::size_t line_end = std::min(words.find('\n'), words.size());
    run.objective = std::string(trimmed(words.substr(0, line_end)));
    run.instructions = std::string(trimmed(words.substr(line_end)));
    prepare_run(run, context);

    auto ran = context.run_agent(run);
    if (!ran.ok()) { return StageResult::failed(std::move(ran).error()); }
    const AgentOutcome& outcome = *ran;

    StageResult result;
    if (outcome.escalation) {
        result = StageResult::escalate(*outcome.escalation,
                                       outcome.artifact.empty() ? std::nullopt : std::optional<json::object>(outcome.artifact));
    } else if (auto artifact = parse_response(outcome, context)) {
        result = finish(std::move(*artifact), outcome, context);
    } else {
        result = StageResult::failed({"AF-STAGE-020", "The model's answer contains no artifact", "stage " + context.input().stage,
                                      "The stage runs again while attempts are left; see the answer in the journal.",
                                      ErrorKind::invalid});
    }
    for (const auto& [name, value] : {std::pair<const char*, std::uint64_t>{"steps", outcome.steps},
                                      {"input_tokens", outcome.input_tokens},
                                      {"output_tokens", outcome.output_tokens}}) {
        if (!result.metrics.contains(name)) { result.metrics[name] = value; }
    }
    return result;
}

void LLMStage::prepare_run(AgentRun&, StageContext&) {}

StageResult LLMStage::finish(json::object artifact, const AgentOutcome&, StageContext&) {
    return StageResult::completed(std::move(artifact));
}

std::string ToolBasedStage::system_prompt(StageContext&) { return {}; }

void ToolBasedStage::prepare_run(AgentRun& run, StageContext&) { run.text_answer = false; }

std::optional<json::object> ToolBasedStage::parse_response(const AgentOutcome& outcome, StageContext&) {
    if (!outcome.artifact.empty()) { return outcome.artifact; }
    for (auto use = outcome.tool_uses.rbegin(); use != outcome.tool_uses.rend(); ++use) {
        if (use->tool == "complete" && use->success) { return use->arguments; }
    }
    return std::nullopt;
}

ContractStage::ContractStage(Mapping mapping) : mapping_(std::move(mapping)) {}

StageInfo ContractStage::info() const {
    StageInfo info;
    info.name = mapping_.stage_name;
    info.description = "Runs the contract " + mapping_.contract;
    for (const auto& [name, field] : mapping_.output) { info.output_fields.push_back(field.empty() ? name : field); }
    return info;
}

StageResult ContractStage::execute(StageContext& context) {
    const StageInput& input = context.input();
    json::object inputs = mapping_.defaults;
    for (const auto& [name, field] : mapping_.input) {
        if (const json::value* value = input.input_artifact.if_contains(field)) {
            inputs[name] = *value;
        } else if (field == "user_request") {
            inputs[name] = input.request;
        }
    }

    auto ran = context.run_contract(mapping_.contract, inputs);
    if (!ran.ok()) { return StageResult::failed(std::move(ran).error()); }

    json::object artifact = input.input_artifact;  // Fields of the input are carried forward.
    if (mapping_.output.empty()) {
        for (const auto& [name, value] : *ran) { artifact[name] = value; }
    }
    for (const auto& [name, field] : mapping_.output) {
        if (const json::value* value = ran->if_contains(name)) { artifact[field.empty() ? name : field] = *value; }
    }
    return StageResult::completed(std::move(artifact));
}

std::optional<json::object> extract_yaml(std::string_view text, StageContext& context) {
    const auto mapping = [&](std::string_view part) -> std::optional<json::object> {
        auto parsed = context.parse_yaml(part);
        if (!parsed.ok() || !parsed->is_object()) { return std::nullopt; }
        return parsed->get_object();
    };
    if (const auto block = fenced_block(text, {"yaml", "yml"})) {
        if (auto object = mapping(*block)) { return object; }
    }
    return mapping(text);
}

std::optional<json::object> extract_json(std::string_view text) {
    if (const auto block = fenced_block(text, {"json"})) {
        if (auto object = parse_object(trimmed(*block))) { return object; }
    }
    // Prose may contain braces: tries the first few places where an object could begin.
    std::size_t begin = text.find('{');
    for (int tries = 0; tries < 32 && begin != std::string_view::npos; ++tries) {
        const std::size_t end = object_end(text, begin);
        if (end != std::string_view::npos) {
            if (auto object = parse_object(text.substr(begin, end - begin))) { return object; }
        }
        begin = text.find('{', begin + 1);
    }
    return std::nullopt;
}

Validation require_artifacts(const StageInput& input, const std::vector<std::string>& contracts) {
    Validation validation;
    for (const std::string& contract : contracts) {
        if (!input.artifacts.contains(contract)) {
            validation.errors.push_back("no earlier stage has made the artifact `" + contract + "`");
        }
    }
    return validation;
}

}  // namespace agentforge
