// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/editor.hpp"

#include "base/files.hpp"
#include "program/terminal/terminal_command.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t max_edited_text = 1UL << 20U;

Error not_edited(const std::string& why) {
    return Error{"AF-ESC-038", why, "",
                 "change it in a file and give that: --edited FILE (`agentforge escalations show ID --action` prints the action)",
                 ErrorKind::invalid};
}

}  // namespace

Result<std::string> edit_text(const Program& program, const std::string& text, const std::string& name) {
    if (!program.in_is_terminal || !program.out_is_terminal) { return not_edited("there is no terminal for an editor"); }
    std::string editor = "vi";
    for (const char* variable : {"EDITOR", "VISUAL"}) {
        const auto set = program.environment.find(variable);
        if (set != program.environment.end() && !set->second.empty()) { editor = set->second; }
    }
    AF_TRY(const auto folder, TemporaryDirectory::make("edit"));
    const std::filesystem::path file = folder->path() / name;
    AF_CHECK(write_file_atomic(file, text, Durability::cached));
    // The variables hold command lines (`code --wait`). A shell splits them; the file is passed as a separate word.
    if (run_on_terminal("exec " + editor, file.string(), program.environment) != 0) {
        return not_edited("the editor `" + editor + "` failed; nothing was decided");
    }
    AF_TRY(std::string edited, read_file(file, max_edited_text));
    if (edited == text) { return not_edited("the action was not changed; nothing was decided"); }
    return edited;
}

}  // namespace agentforge::kernel
