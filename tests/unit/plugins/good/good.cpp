// SPDX-License-Identifier: Apache-2.0
// A plugin that does everything right, of all four kinds.
#include <agentforge/plugin.hpp>

#include <stdexcept>

namespace {

class GoodStage : public agentforge::Stage {
public:
    explicit GoodStage(agentforge::json::object config) : config_(std::move(config)) {
        if (config_.contains("refuse")) { throw std::invalid_argument("`refuse` is not a setting of good_stage"); }
    }
    agentforge::StageInfo info() const override {
        agentforge::StageInfo info;
        info.name = "good_stage";
        info.output_fields = {"greeting"};
        return info;
    }
    agentforge::StageResult execute(agentforge::StageContext&) override {
        return agentforge::StageResult::completed({{"greeting", "hello"}, {"config", config_}});
    }

private:
    agentforge::json::object config_;
};

class GoodTool : public agentforge::Tool {
public:
    agentforge::ToolSpec spec() const override {
        agentforge::ToolSpec spec;
        spec.name = "good_tool";
        spec.description = "Says its word back.";
        return spec;
    }
    agentforge::ToolResult call(const agentforge::json::object& arguments, agentforge::ToolContext&) override {
        return agentforge::ToolResult::done(agentforge::json::serialize(arguments), "said it");
    }
};

class GoodBackend : public agentforge::LLMBackend {
public:
    agentforge::BackendInfo info() const override {
        agentforge::BackendInfo info;
        info.name = "good_llm";
        info.offline = true;
        return info;
    }
    agentforge::Result<agentforge::Completion> complete(const agentforge::CompletionRequest& request,
                                                        agentforge::StreamSink* sink, agentforge::CallContext&) override {
        if (sink != nullptr) { sink->text(request.user); }
        agentforge::Completion completion;
        completion.text = request.user;
        return completion;
    }
};

class GoodHandler : public agentforge::EscalationHandler {
public:
    std::string name() const override { return "good_escalation"; }
    agentforge::Result<void> notify(const agentforge::Escalation&, agentforge::CallContext&) override { return {}; }
    agentforge::Result<std::optional<agentforge::Resolution>> wait_for_resolution(const agentforge::Escalation&,
                                                                                  agentforge::CallContext&) override {
        return std::optional<agentforge::Resolution>();
    }
    agentforge::Result<void> notify_approval(const agentforge::ApprovalRequest&, agentforge::CallContext&) override { return {}; }
    agentforge::Result<std::optional<agentforge::Approval>> wait_for_approval(const agentforge::ApprovalRequest& request,
                                                                              agentforge::CallContext&) override {
        agentforge::Approval approval;
        approval.approved = true;
        approval.artifact_hash = request.artifact_hash;
        return std::optional<agentforge::Approval>(approval);
    }
};

}  // namespace

AGENTFORGE_PLUGIN("org.agentforge.test.good", "1.2.3", "Apache-2.0", agentforge::provides_stage<GoodStage>("good_stage"),
                  agentforge::provides_tool<GoodTool>("good_tool"), agentforge::provides_llm<GoodBackend>("good_llm"),
                  agentforge::provides_escalation<GoodHandler>("good_escalation"))
