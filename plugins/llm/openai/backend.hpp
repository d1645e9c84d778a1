// SPDX-License-Identifier: Apache-2.0
// The `openai` backend: chat completions, of OpenAI and of every compatible server (Ollama, LM Studio, llama.cpp's server, vLLM,
// OpenRouter).
//
// The request's tools become native tools. The model must call one (`tool_choice: required`, unless the settings say `auto` for a
// server that does not support it), and only one at a time. System prompt and tools come first and keep the same bytes from step
// to step, because these servers cache prompts by their beginning. Errors and threads: agentforge_http/backend.hpp.
#pragma once

#include <agentforge_http/backend.hpp>

namespace agentforge::openai {

class OpenAiBackend final : public http::HttpBackend {
public:
    /// Throws std::invalid_argument naming the wrong setting.
    explicit OpenAiBackend(json::object settings);

    [[nodiscard]] BackendInfo info() const override;

protected:
    [[nodiscard]] std::string answer_path() const override { return "/chat/completions"; }
    [[nodiscard]] std::string models_path() const override { return "/models"; }
    [[nodiscard]] http::Headers headers() const override;
    [[nodiscard]] json::object body(const CompletionRequest& request, const CacheMarks& marks,
                                    const std::string& model) const override;
    [[nodiscard]] std::unique_ptr<http::AnswerReader> reader() const override;
};

}  // namespace agentforge::openai
