// SPDX-License-Identifier: Apache-2.0
#include "backends/redacting_client.hpp"

namespace agentforge::kernel {

namespace {

/// The message of a failed attempt is kept, so it is redacted too.
class RedactingContext final : public ForwardingCallContext {
public:
    RedactingContext(CallContext& inner, const Redactor& redactor) : ForwardingCallContext(inner), redactor_(redactor) {}
    [[nodiscard]] Result<void> attempt_failed(unsigned attempt, const Error& error) override {
        return ForwardingCallContext::attempt_failed(attempt, redactor_.redact(error));
    }

private:
    const Redactor& redactor_;
};

class RedactingClient final : public ModelClient {
public:
    RedactingClient(std::unique_ptr<ModelClient> inner, const Redactor& redactor)
        : inner_(std::move(inner)), redactor_(redactor) {}

    const BackendInfo& info() const noexcept override { return inner_->info(); }

    Result<Completion> complete(ModelRequest request, CallContext& context) override {
        request.system = redactor_.redact(std::move(request.system));
        redact_user(request);
        for (ToolDescription& tool : request.tools) {
            tool.description = redactor_.redact(std::move(tool.description));
            if (redactor_.finds(tool.parameters)) { redactor_.redact(tool.parameters); }
        }
        RedactingContext cleaning(context, redactor_);
        Result<Completion> answer = inner_->complete(std::move(request), unless_agentic(context, cleaning));
        if (!answer.ok()) { return redactor_.redact(std::move(answer).error()); }
        Completion& completion = answer.value();
        completion.text = redactor_.redact(std::move(completion.text));
        for (ToolCall& call : completion.tool_calls) {
            if (redactor_.finds(call.arguments)) { redactor_.redact(call.arguments); }
        }
        if (redactor_.finds(completion.diagnostics)) { redactor_.redact(completion.diagnostics); }
        return answer;
    }

private:
    /// A placeholder may be longer or shorter than its secret. Drops a mark inside a secret.
    void redact_user(ModelRequest& request) const {
        std::string clean = redactor_.redact(request.user);
        if (clean != request.user) {
            std::vector<std::size_t> ends;
            for (const std::size_t end : request.marks.user_ends) {
                const std::string before = redactor_.redact(request.user.substr(0, end));
                if (clean.starts_with(before)) { ends.push_back(before.size()); }
            }
            request.marks.user_ends = std::move(ends);
        }
        request.user = std::move(clean);
    }

    std::unique_ptr<ModelClient> inner_;
    const Redactor& redactor_;
};

}  // namespace

std::unique_ptr<ModelClient> make_redacting_client(std::unique_ptr<ModelClient> inner, const Redactor& redactor) {
    return std::make_unique<RedactingClient>(std::move(inner), redactor);
}

}  // namespace agentforge::kernel
