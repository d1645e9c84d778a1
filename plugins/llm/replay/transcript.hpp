// SPDX-License-Identifier: Apache-2.0
// A recorded transcript: which answer was given at which place of a task.
//
//   agentforge_transcript: 1
//   text_protocol: [software_developer]      # optional: roles whose backend had no tool calls
//   entries:
//     - stage: green
//       role: software_developer      # optional: any role of the stage
//       visit: 1                      # optional: 1
//       run: 1                        # optional: 1
//       step: 2
//       frame_hash: 3b1f…             # optional: then the request's must be equal
//       context_hash: 77aa…           # optional: see the setting `match`
//       text: |                       # text, tool_calls or both
//         …
//       tool_calls:
//         - name: edit_file
//           arguments: {path: a.py, search: x, replace: y}
//       stop_reason: length           # optional: tool_call with tool_calls, finished without; refused, other
//       usage: {input_tokens: 4210, output_tokens: 310, cached_input_tokens: 0, cost_microusd: 12, estimated: false}
//       model: some-model             # optional: replay
//       session_id: "…"               # optional
//       diagnostics: {…}              # optional
//       failed_attempts: [{code: AF-LLM-409, message: "…"}]     # optional: the backend's failures before it answered
//       workspace:                    # if `llm.mode` was agentic: what the command did, see work.hpp
//         changes:
//           - {path: a.py, text: "x = 1"}
//         artifact: {text: "…"}
//     - stage: green
//       step: 3                       # an unusable answer: an error, and optionally failed_attempts, nothing else
//       error: {code: AF-LLM-105, message: "…", remedy: "…"}
#pragma once

#include <agentforge/llm_backend.hpp>

#include "work.hpp"

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace replay {

struct Entry {
    agentforge::RequestPlace place;
    std::string frame_hash;    ///< Empty: not recorded.
    std::string context_hash;  ///< Empty: not recorded.
    agentforge::Completion answer;
    std::optional<agentforge::Error> error;          ///< Replaces an answer.
    std::vector<agentforge::Error> failed_attempts;  ///< `transient`, in order.
    std::optional<Work> work;                        ///< The answer of an agentic call.
    unsigned line = 0;
};

class Transcript {
public:
    /// Strict: unknown and duplicate fields, another version, two entries for one place, values of the wrong type, aliases and
    /// tags are errors AF-LLM-204 with file and line. An unreadable file is AF-LLM-205.
    [[nodiscard]] static agentforge::Result<Transcript> load(const std::string& path);
    [[nodiscard]] static agentforge::Result<Transcript> parse(const std::string& text, const std::string& path);

    /// Returns the entry for the place and role, else the one for the place and any role, else null.
    [[nodiscard]] const Entry* find(const agentforge::RequestPlace& place) const;
    /// Returns "visit 1, run 1, role software_developer: steps 1–4; …", or "nothing".
    [[nodiscard]] std::string describe_stage(const std::string& stage) const;
    [[nodiscard]] std::vector<std::string> stages() const;
    /// True if the role's tools were in the prompt when it was recorded.
    [[nodiscard]] bool text_protocol(const std::string& role) const { return text_protocol_.contains(role); }
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    using Key = std::tuple<std::string, unsigned, unsigned, std::string, unsigned>;  ///< stage, visit, run, role, step
    std::map<Key, Entry> entries_;
    std::vector<std::string> stages_;  ///< In file order.
    std::set<std::string> text_protocol_;
    std::string path_;
};

}  // namespace replay
