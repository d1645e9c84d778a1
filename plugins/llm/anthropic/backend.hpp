// SPDX-License-Identifier: Apache-2.0
// The `anthropic` backend: the Messages API (https://docs.anthropic.com/en/api/messages, version 2023-06-01).
//
// The request's tools become native tools. The model must call exactly one (`tool_choice: any` with `disable_parallel_tool_use`).
// The parts that stay the same from step to step, the tools and the system prompt, come first and are marked for the prompt
// cache. Errors and threads: agentforge_http/backend.hpp.
#pragma once

#include <agentforge_http/backend.hpp>

namespace agentforge::anthropic {

class AnthropicBackend final : public http::HttpBackend {
public:
    /// Throws std::invalid_argument naming the wrong setting.
    explicit AnthropicBackend(json::object settings);

    [[nodiscard]] BackendInfo info() const override;

protected:
    [[nodiscard]] std::string answer_path() const override;
    [[nodiscard]] std::string models_path() const override;
    [[nodiscard]] http::Headers headers() const override;
    [[nodiscard]] json::object body(const CompletionRequest& request, const CacheMarks& marks,
                                    const std::string& model) const override;
    [[nodiscard]] std::unique_ptr<http::AnswerReader> reader() const override;
};

}  // namespace agentforge::anthropic
