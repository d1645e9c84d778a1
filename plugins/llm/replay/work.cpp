// SPDX-License-Identifier: Apache-2.0
#include "work.hpp"

#include <filesystem>
#include <fstream>

namespace replay {

using agentforge::Error;
using agentforge::ErrorKind;
using agentforge::Result;

namespace {

std::string shell_word(std::string_view word) {
    std::string text = "'";
    for (const char c : word) { text += c == '\'' ? std::string("'\\''") : std::string(1, c); }
    return text + "'";
}

/// Returns the commands that write `file` to `target`. An existing file is written in place, because a role may have the right to
/// a file but not to its folder.
std::string commands_for(const WorkFile& file, const std::string& target, const std::string& content) {
    const std::string at = shell_word(target);
    const std::string folder = shell_word(std::filesystem::path(target).parent_path().string());
    switch (file.kind) {
        case WorkFile::Kind::deleted:
            return "rm -rf -- " + at + "\n";
        case WorkFile::Kind::folder:
            return "[ -d " + at + " ] || { rm -rf -- " + at + "; mkdir -p -- " + at + "; }\n";
        case WorkFile::Kind::link:
            return "rm -rf -- " + at + "\nmkdir -p -- " + folder + "\nln -s -- " + shell_word(file.content) + " " + at + "\n";
        case WorkFile::Kind::text:
        case WorkFile::Kind::base64:
            break;
    }
    const std::string make =
        "if [ -L " + at + " ] || [ ! -f " + at + " ]; then rm -rf -- " + at + "; mkdir -p -- " + folder + "; fi\n";
    const std::string mode =
        file.executable ? "[ -x " + at + " ] || chmod +x -- " + at + "\n" : "[ ! -x " + at + " ] || chmod -x -- " + at + "\n";
    return make + (file.kind == WorkFile::Kind::base64 ? "base64 -d " : "cat ") + shell_word(content) + " > " + at + "\n" + mode;
}

}  // namespace

bool stays_inside(std::string_view path) {
    if (path.empty() || path.find('\0') != std::string_view::npos) { return false; }
    const std::filesystem::path parts(path);
    if (parts.is_absolute()) { return false; }
    for (const auto& part : parts) {
        if (part == ".." || part == "." || part.empty()) { return false; }
    }
    return true;
}

Result<void> redo(const Work& work, agentforge::AgenticContext& place) {
    const auto impossible = [](const std::string& why) {
        return Error{"AF-LLM-206", "cannot repeat the recorded command's file changes: " + why, "",
                     "The repository or the role's permissions differ from the recorded ones: record again.",
                     ErrorKind::unavailable};
    };
    const std::string folder = place.scratch() + "/replay";
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    std::string script = "set -eu\n";
    std::string later;
    std::size_t number = 0;
    const auto add = [&](const WorkFile& file, const std::string& target) {
        const std::string content = folder + "/" + std::to_string(number++);
        if (file.kind == WorkFile::Kind::text || file.kind == WorkFile::Kind::base64) {
            std::ofstream out(content, std::ios::binary);
            out << file.content;
            if (!out.flush()) { return false; }
        }
        // Deletions make room for new files.
        (file.kind == WorkFile::Kind::deleted ? script : later) += commands_for(file, target, content);
        return true;
    };
    bool written = !failed;
    for (const WorkFile& change : work.changes) { written = written && add(change, place.workspace() + "/" + change.path); }
    if (work.artifact) {
        // The host's environment says where to leave it.
        const std::string artifact = folder + "/artifact";
        written = written && add(*work.artifact, artifact);
        later += "mv -- " + shell_word(artifact) + " \"$AGENTFORGE_ARTIFACT\"\n";
    }
    std::ofstream out(folder + "/do.sh", std::ios::binary);
    out << script << later;
    if (!written || !out.flush()) { return impossible("the call's scratch folder cannot be written"); }
    out.close();
    agentforge::AgenticCommand command;
    command.argv = {"/bin/sh", folder + "/do.sh"};
    command.environment = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C.UTF-8"}};
    AF_TRY(const agentforge::AgenticOutcome outcome, place.run_command(command));
    if (outcome.process.timed_out || outcome.process.exit_code != 0) {
        return impossible(outcome.process.timed_out ? "it took too long" : outcome.process.err);
    }
    return {};
}

}  // namespace replay
