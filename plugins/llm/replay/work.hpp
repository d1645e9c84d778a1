// SPDX-License-Identifier: Apache-2.0
// What the command of an agentic call did in the workspace, and how to repeat it.
#pragma once

#include <agentforge/agentic.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replay {

struct WorkFile {
    enum class Kind : unsigned char {
        text,    ///< `content` is the file's bytes.
        base64,  ///< … encoded.
        link,    ///< `content` is the target.
        folder,
        deleted,
    };
    std::string path;  ///< Relative to the workspace. Empty for the artifact.
    Kind kind = Kind::text;
    std::string content;
    bool executable = false;
};

struct Work {
    std::vector<WorkFile> changes;
    std::optional<WorkFile> artifact;  ///< What was left at the path in AGENTFORGE_ARTIFACT.
};

/// True if the path is below the folder that it is relative to: no `..`, no line break, not absolute.
[[nodiscard]] bool stays_inside(std::string_view path);

/// Repeats the work by a command in `place`, with the role's rights, like the recorded one. Errors: AF-LLM-206 it cannot be done
/// here, and those of run_command.
[[nodiscard]] agentforge::Result<void> redo(const Work& work, agentforge::AgenticContext& place);

}  // namespace replay
