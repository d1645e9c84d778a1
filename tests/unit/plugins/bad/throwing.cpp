// SPDX-License-Identifier: Apache-2.0
// A plugin that throws wherever it can.
#include <agentforge/plugin.hpp>

#include <stdexcept>

namespace {

namespace af = agentforge;

[[noreturn]] void boom() { throw std::runtime_error("boom"); }

struct ThrowsInCreate : af::Stage {
    ThrowsInCreate() { boom(); }
    af::StageInfo info() const override { return {}; }
    af::StageResult execute(af::StageContext&) override { return {}; }
};

struct ThrowsInInfo : af::Stage {
    af::StageInfo info() const override { boom(); }
    af::StageResult execute(af::StageContext&) override { return {}; }
};

struct ThrowsInCalls : af::Stage {
    af::StageInfo info() const override {
        af::StageInfo info;
        info.name = "throws_in_calls";
        return info;
    }
    af::Result<void> initialize(af::StageContext&) override { boom(); }
    af::Validation validate_input(af::StageContext&) override { boom(); }
    af::StageResult execute(af::StageContext&) override { boom(); }
    af::Validation validate_output(af::StageContext&, const af::json::object&) override { boom(); }
    void finalize(af::StageContext&, const af::StageResult&) override { boom(); }
};

struct ThrowsInt : af::Tool {
    af::ToolSpec spec() const override {
        af::ToolSpec spec;
        spec.name = "throws_int";
        return spec;
    }
    af::ToolResult call(const af::json::object&, af::ToolContext&) override { throw 7; }
};

struct Misnamed : af::Tool {
    af::ToolSpec spec() const override {
        af::ToolSpec spec;
        spec.name = "another";
        return spec;
    }
    af::ToolResult call(const af::json::object&, af::ToolContext&) override { return {}; }
};

struct ThrowingBackend : af::LLMBackend {
    af::BackendInfo info() const override {
        af::BackendInfo info;
        info.name = "throwing";
        return info;
    }
    af::Result<af::Completion> complete(const af::CompletionRequest&, af::StreamSink*, af::CallContext&) override { boom(); }
    af::Result<std::string> check(af::CallContext&) override { boom(); }
};

struct ThrowingHandler : af::EscalationHandler {
    std::string name() const override { return "throwing"; }
    af::Result<void> notify(const af::Escalation&, af::CallContext&) override { boom(); }
    af::Result<std::optional<af::Resolution>> wait_for_resolution(const af::Escalation&, af::CallContext&) override { boom(); }
    af::Result<void> notify_approval(const af::ApprovalRequest&, af::CallContext&) override { boom(); }
    af::Result<std::optional<af::Approval>> wait_for_approval(const af::ApprovalRequest&, af::CallContext&) override { boom(); }
};

}  // namespace

AGENTFORGE_PLUGIN("org.agentforge.test.throwing", "1.0.0", "Apache-2.0", af::provides_stage<ThrowsInCreate>("throws_in_create"),
                  af::provides_stage<ThrowsInInfo>("throws_in_info"), af::provides_stage<ThrowsInCalls>("throws_in_calls"),
                  af::provides_tool<ThrowsInt>("throws_int"), af::provides_tool<Misnamed>("misnamed"),
                  af::provides_llm<ThrowingBackend>("throwing"), af::provides_escalation<ThrowingHandler>("throwing"))
