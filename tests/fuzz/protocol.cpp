// SPDX-License-Identifier: Apache-2.0
#include "agent/protocol.hpp"

#include <algorithm>
#include <cctype>

#include "fuzz/check.hpp"
#include "fuzz/targets.hpp"

namespace agentforge::fuzz {
namespace {

json::object text_properties(std::initializer_list<std::string_view> names) {
    json::object properties;
    for (const auto name : names) { properties[name] = json::object{{"type", "string"}}; }
    return properties;
}

const std::vector<ToolSpec>& tools() {
    static const std::vector<ToolSpec> all = [] {
        json::object edit = text_properties({"path", "search", "replace", "content"});
        edit["edits"] = json::object{{"type", "array"}};
        json::object read = text_properties({"path"});
        read["first_line"] = json::object{{"type", "integer"}};
        return std::vector<ToolSpec>{
            {"edit_file", "", {{"type", "object"}, {"properties", std::move(edit)}}, ToolEffect::writes, {}},
            {"read_file", "", {{"type", "object"}, {"properties", std::move(read)}}, ToolEffect::reads, {}},
            {"create_file",
             "",
             {{"type", "object"}, {"properties", text_properties({"path", "content"})}},
             ToolEffect::writes,
             {}},
            {"apply_patch", "", {{"type", "object"}, {"properties", text_properties({"patch"})}}, ToolEffect::writes, {}}};
    }();
    return all;
}

bool is_name(std::string_view text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// True if the protocol can express the call: JSON allows names that are not valid, and a number in place of text.
bool can_be_written(const ToolCall& call) {
    const auto tool = std::find_if(tools().begin(), tools().end(), [&](const ToolSpec& spec) { return spec.name == call.name; });
    return is_name(call.name) && std::all_of(call.arguments.begin(), call.arguments.end(), [&](const auto& argument) {
               const std::string name(argument.key());
               if (!is_name(name) || name == "artifact") { return false; }
               if (argument.value().is_string()) { return tool == tools().end() || (name != "edits" && name != "first_line"); }
               return false;
           });
}

}  // namespace

void protocol(std::string_view bytes) {
    if (bytes.empty()) { return; }
    Completion answer;
    answer.stop_reason = bytes.front() == '!' ? StopReason::length : StopReason::finished;
    answer.text = bytes.substr(1);
    const auto call = kernel::read_action(answer, tools());
    if (!call.ok()) {
        must(call.error().code.starts_with("AF-AGENT-02"), "an error of the protocol, not " + call.error().to_string());
        must(!call.error().message.empty() && !call.error().remedy.empty(), "an error says what is wrong and what to do");
        return;
    }
    must(!call.value().name.empty(), "an action names a tool");
    if (!can_be_written(call.value())) { return; }
    Completion again;
    again.text = kernel::write_action(call.value());
    const auto reread = kernel::read_action(again, tools());
    must(reread.ok(), "what is written can be read: " + again.text);
    must(reread.value().name == call.value().name && reread.value().arguments == call.value().arguments,
         "what is written is read back the same: " + again.text);
}

}  // namespace agentforge::fuzz
