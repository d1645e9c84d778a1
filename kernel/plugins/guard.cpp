// SPDX-License-Identifier: Apache-2.0
#include "plugins/guard.hpp"

#include <exception>
#include <utility>

#include "base/text.hpp"
#include "plugins/call_watch.hpp"

namespace agentforge::kernel {

namespace {

/// Guards calls into a plugin. Copies an exception's text at once, because its type is in the plugin.
class Guard {
public:
    Guard(PluginKind kind, Origin origin)
        : kind_(kind),
          origin_(std::move(origin)),
          callee_(
              &CallWatch::lasting(std::string(to_string(kind)) + " `" + origin_.name + "` of plugin `" + origin_.plugin + "`")) {}

    /// Returns `call()`, or `otherwise(error)` if it threw.
    template <class Call, class Otherwise>
    auto run(const char* function, Call&& call, Otherwise&& otherwise) const -> decltype(call()) {
        const CallWatch::Call noted(*callee_, function);
        std::string what;
        try {
            return call();
        } catch (const std::exception& failure) { what = failure.what() == nullptr ? "" : failure.what(); } catch (...) {
            what = "something that is not a std::exception";
        }
        return otherwise(thrown(function, what));
    }

    /// For functions that return a Result, which holds the error itself.
    template <class Call>
    auto result(const char* function, Call&& call) const -> decltype(call()) {
        return run(function, std::forward<Call>(call), [](Error error) -> decltype(call()) { return error; });
    }

    [[nodiscard]] Result<void> named(const char* function, std::string_view found) const {
        if (found == origin_.name) { return {}; }
        return Error{"AF-PLUG-017",
                     "The plugin `" + origin_.plugin + "` provides the " + std::string(to_string(kind_)) + " `" + origin_.name +
                         "`, but its " + function + "() says `" + ellipsis(sanitize_utf8(found), 80) + "`",
                     origin_.library, "Report it to the plugin's author: both names must be the same.", ErrorKind::invalid};
    }

private:
    [[nodiscard]] Error thrown(const char* function, const std::string& what) const {
        return {"AF-PLUG-020",
                "The plugin `" + origin_.plugin + "` in " + origin_.library + " threw in " + function + "() of its " +
                    std::string(to_string(kind_)) + " `" + origin_.name + "`: " + ellipsis(sanitize_utf8(what), 1000),
                origin_.library,
                "Report it to the plugin's author: no exception may leave a plugin. `agentforge plugins check " +
                    origin_.library.substr(0, origin_.library.rfind('/')) + "` makes such calls again; to disable it, name " +
                    origin_.plugin + " in plugins.disable.",
                ErrorKind::internal};
    }

    PluginKind kind_;
    Origin origin_;
    const std::string* callee_;  ///< For the thread's watch.
};

class GuardedStage final : public Stage {
public:
    GuardedStage(std::shared_ptr<Stage> stage, Guard guard, StageInfo info)
        : stage_(std::move(stage)), guard_(std::move(guard)), info_(std::move(info)) {}

    StageInfo info() const override { return info_; }
    Result<void> initialize(StageContext& context) override {
        return guard_.result("initialize", [&] { return stage_->initialize(context); });
    }
    Validation validate_input(StageContext& context) override {
        return guard_.run(
            "validate_input", [&] { return stage_->validate_input(context); }, refused);
    }
    StageResult execute(StageContext& context) override {
        return guard_.run(
            "execute", [&] { return stage_->execute(context); }, StageResult::failed);
    }
    Validation validate_output(StageContext& context, const json::object& artifact) override {
        return guard_.run(
            "validate_output", [&] { return stage_->validate_output(context, artifact); }, refused);
    }
    void finalize(StageContext& context, const StageResult& result) override {
        guard_.run(
            "finalize", [&] { stage_->finalize(context, result); },
            [&](const Error& error) {
                context.log(LogLevel::error, error.message, {{"code", error.code}});
            });
    }

private:
    static Validation refused(const Error& error) { return {{error.to_string()}, {}}; }

    std::shared_ptr<Stage> stage_;
    Guard guard_;
    StageInfo info_;
};

class GuardedTool final : public Tool {
public:
    GuardedTool(std::shared_ptr<Tool> tool, Guard guard, ToolSpec spec)
        : tool_(std::move(tool)), guard_(std::move(guard)), spec_(std::move(spec)) {}

    ToolSpec spec() const override { return spec_; }
    ToolResult call(const json::object& arguments, ToolContext& context) override {
        return guard_.run(
            "call", [&] { return tool_->call(arguments, context); }, ToolResult::failed);
    }

private:
    std::shared_ptr<Tool> tool_;
    Guard guard_;
    ToolSpec spec_;
};

class GuardedBackend final : public LLMBackendV2 {
public:
    GuardedBackend(std::shared_ptr<LLMBackendV2> backend, Guard guard, BackendInfo info)
        : backend_(std::move(backend)), guard_(std::move(guard)), info_(std::move(info)) {}

    BackendInfo info() const override { return info_; }
    Result<Completion> complete_marked(const CompletionRequest& request, const CacheMarks& marks, StreamSink* sink,
                                       CallContext& context) override {
        return guard_.result("complete", [&] { return backend_->complete_marked(request, marks, sink, context); });
    }
    Result<std::string> check(CallContext& context) override {
        return guard_.result("check", [&] { return backend_->check(context); });
    }

private:
    std::shared_ptr<LLMBackendV2> backend_;
    Guard guard_;
    BackendInfo info_;
};

class GuardedEscalation final : public EscalationHandler {
public:
    GuardedEscalation(std::shared_ptr<EscalationHandler> handler, Guard guard, std::string name)
        : handler_(std::move(handler)), guard_(std::move(guard)), name_(std::move(name)) {}

    std::string name() const override { return name_; }
    Result<void> notify(const Escalation& escalation, CallContext& context) override {
        return guard_.result("notify", [&] { return handler_->notify(escalation, context); });
    }
    Result<std::optional<Resolution>> wait_for_resolution(const Escalation& escalation, CallContext& context) override {
        return guard_.result("wait_for_resolution", [&] { return handler_->wait_for_resolution(escalation, context); });
    }
    Result<void> notify_approval(const ApprovalRequest& request, CallContext& context) override {
        return guard_.result("notify_approval", [&] { return handler_->notify_approval(request, context); });
    }
    Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest& request, CallContext& context) override {
        return guard_.result("wait_for_approval", [&] { return handler_->wait_for_approval(request, context); });
    }

private:
    std::shared_ptr<EscalationHandler> handler_;
    Guard guard_;
    std::string name_;
};

}  // namespace

Result<std::shared_ptr<Stage>> guard_stage(std::shared_ptr<Stage> stage, Origin origin) {
    Guard guard(PluginKind::stage, std::move(origin));
    AF_TRY(StageInfo info, guard.result("info", [&]() -> Result<StageInfo> { return stage->info(); }));
    AF_CHECK(guard.named("info", info.name));
    return std::shared_ptr<Stage>(std::make_shared<GuardedStage>(std::move(stage), std::move(guard), std::move(info)));
}

Result<std::shared_ptr<Tool>> guard_tool(std::shared_ptr<Tool> tool, Origin origin) {
    Guard guard(PluginKind::tool, std::move(origin));
    AF_TRY(ToolSpec spec, guard.result("spec", [&]() -> Result<ToolSpec> { return tool->spec(); }));
    AF_CHECK(guard.named("spec", spec.name));
    return std::shared_ptr<Tool>(std::make_shared<GuardedTool>(std::move(tool), std::move(guard), std::move(spec)));
}

Result<std::shared_ptr<LLMBackendV2>> guard_backend(std::shared_ptr<LLMBackendV2> backend, Origin origin) {
    Guard guard(PluginKind::llm, std::move(origin));
    AF_TRY(BackendInfo info, guard.result("info", [&]() -> Result<BackendInfo> { return backend->info(); }));
    AF_CHECK(guard.named("info", info.name));
    return std::shared_ptr<LLMBackendV2>(std::make_shared<GuardedBackend>(std::move(backend), std::move(guard), std::move(info)));
}

Result<std::shared_ptr<EscalationHandler>> guard_escalation(std::shared_ptr<EscalationHandler> handler, Origin origin) {
    Guard guard(PluginKind::escalation, std::move(origin));
    AF_TRY(std::string name, guard.result("name", [&]() -> Result<std::string> { return handler->name(); }));
    AF_CHECK(guard.named("name", name));
    return std::shared_ptr<EscalationHandler>(
        std::make_shared<GuardedEscalation>(std::move(handler), std::move(guard), std::move(name)));
}

}  // namespace agentforge::kernel
