// SPDX-License-Identifier: Apache-2.0
#include <agentforge/arguments.hpp>
#include <agentforge/plugin.hpp>

namespace {

using namespace agentforge;

class EscalateQuestion final : public Tool {
public:
    [[nodiscard]] ToolSpec spec() const override {
        return {
            "escalate_question",
            "Asks a person a question, and ends your work until the answer arrives. Use it only if you cannot continue without the answer, and neither the code, the documentation nor your task contains it.",
            schema_of(R"json({
  "type": "object",
  "properties": {
    "question": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "One question, complete in itself"},
    "reason": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "Why you cannot continue without the answer"},
    "options": {"type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 500}, "maxItems": 10, "description": "Possible answers, if there are only a few"}
  },
  "required": ["question", "reason"]
})json"),
            ToolEffect::escalates,
            {}};
    }
    [[nodiscard]] ToolResult call(const json::object& arguments, ToolContext& context) override {
        const Arguments given(arguments);
        EscalationRequest request;
        request.question = given.text("question");
        request.reason = given.text("reason");
        request.options = given.texts("options");
        request.context = {{"role", context.info().role}, {"stage", context.info().stage}, {"step", context.info().step}};
        if (auto asked = context.escalate(request); !asked.ok()) { return ToolResult::failed(std::move(asked).error()); }
        return ToolResult::done("A person is asked: " + request.question + "\n", "asked a person: " + request.question,
                                {{"question", request.question}});
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.tool.escalate_question", "0.1.0", "Apache-2.0",
                  agentforge::provides_tool<EscalateQuestion>("escalate_question"))
