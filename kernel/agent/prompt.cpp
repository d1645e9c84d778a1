// SPDX-License-Identifier: Apache-2.0
#include "agent/prompt.hpp"

#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t goal_bytes = 300;

std::string_view stripped(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) { text.remove_suffix(1); }
    while (!text.empty() && text.front() == '\n') { text.remove_prefix(1); }
    return text;
}

std::string list_of(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) { text += "- " + item + "\n"; }
    return text.empty() ? "- none\n" : text;
}

std::string joined(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) { text += (text.empty() ? "" : ", ") + item; }
    return text.empty() ? "none" : text;
}

std::string tools_of(const std::vector<ToolSpec>& tools) {
    std::string text;
    for (const ToolSpec& tool : tools) { text += "- " + tool.name + ": " + tool.description + "\n"; }
    return text.empty() ? "- none\n" : text;
}

std::string verification_of(const json::object& must_verify) {
    std::string text;
    for (const auto& [name, expected] : must_verify) {
        text += "- " + std::string(name) + ": " +
                (expected.is_string() ? std::string(expected.get_string()) : to_json_line(expected)) + "\n";
    }
    return text.empty() ? "- nothing beyond the contract\n" : text;
}

std::string contract_of(const RunSpec& spec) {
    if (!spec.run.output_contract.empty()) { return spec.run.output_contract; }
    const auto& contracts = spec.agent.output_contracts;
    const auto own = contracts.find(spec.stage);
    if (own != contracts.end()) { return own->second; }
    const auto fallback = contracts.find("");
    return fallback != contracts.end() ? fallback->second : std::string();
}

}  // namespace

std::string build_system_prompt(const RunSpec& spec, const std::vector<ToolSpec>& tools, bool native_tool_calls) {
    const AgentDefinition& agent = spec.agent;
    std::string text = "# Role: " + agent.display_name + "\n\n## Who You Are\n";
    text += stripped(agent.description);
    text += "\n\n## Your Expertise\n" + list_of(agent.expertise);
    text += "\n## How You Think\n";
    text += stripped(agent.thinking_style);
    text += "\n\n## Rules You Must Follow\n" + list_of(agent.constraints);
    text += spec.agentic ? "\n## Tools Available\nYou do the work with tools of your own. These actions end it:\n"
                         : "\n## Tools Available\nYou have these tools and ONLY these tools:\n";
    text += tools_of(tools);
    text += "\nTools that are FORBIDDEN to you (a request is rejected):\n" + list_of(agent.forbidden_tools);
    text += "\n## What You Must Produce\n";
    const std::string contract = contract_of(spec);
    if (spec.run.text_answer) {
        text += "Your output is one plain text.\n";
    } else if (!contract.empty()) {
        text += "Your output must conform to the `" + contract + "` contract. Hand it in with `complete`.\n";
    } else {
        text += "Hand your output in with `complete`.\n";
    }
    text += "\nBefore you complete, these must hold:\n" + verification_of(agent.must_verify);
    text += "\n## Current Context\nStage: " + spec.stage + "\nTask: " + ellipsis(first_line(stripped(spec.goal)), goal_bytes) +
            "\nYou receive input from: " + joined(agent.receives_from) + "\nYou hand off to: " + joined(agent.hands_off_to) +
            "\n";
    text +=
        "\n---\n\nStay in your role. Focus on your expertise.\nDo no work outside your role.\n"
        "Produce verified output that meets your contract.\n";
    if (spec.run.text_answer) { return text; }
    if (spec.agentic) {
        return text +
               "\nEach call is a new conversation: the context holds all that is known. Do the work, then take exactly one action to end it: "
               "leave the artifact where the instructions say, or end your last message with the action in the form that `available_actions` shows.\n";
    }
    text += "\nEach step is a new conversation: the context holds all that is known. Take exactly one action a step";
    text += native_tool_calls ? ", as one tool call.\n" : ", in the form that `available_actions` shows.\n";
    return text;
}

}  // namespace agentforge::kernel
