// SPDX-License-Identifier: Apache-2.0
#include "program/suggestions.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

/// Words of other programs, and our command for each.
struct Alias {
    std::string_view word;
    std::string_view remedy;
};

constexpr Alias aliases[] = {
    {"ls", "`agentforge status` lists the tasks"},
    {"tasks", "`agentforge status` lists the tasks"},
    {"jobs", "`agentforge status` lists the tasks"},
    {"new", "`agentforge start` turns a request into a commit"},
    {"do", "`agentforge start` turns a request into a commit"},
    {"exec", "`agentforge start` turns a request into a commit"},
    {"show", "`agentforge status TASK` shows a task, `agentforge diff TASK` its change"},
    {"view", "`agentforge status TASK` shows a task, `agentforge diff TASK` its change"},
    {"watch", "`agentforge logs TASK --follow` shows what a task does; `agentforge status --watch` all of them"},
    {"follow", "`agentforge logs TASK --follow` shows what a task does"},
    {"tail", "`agentforge logs TASK --follow` shows what a task does"},
    {"stop", "`agentforge pause TASK` stops a task, and `agentforge resume TASK` continues it"},
    {"kill", "`agentforge pause TASK` stops a task, and `agentforge resume TASK` continues it"},
    {"cancel", "`agentforge pause TASK` stops a task; `agentforge abort TASK` ends it for good"},
    {"retry", "`agentforge resume TASK` continues a task"},
    {"unapply", "`agentforge undo TASK` removes an applied change from your checkout"},
    {"revert",
     "`agentforge undo TASK` removes an applied change from your checkout; `agentforge abort TASK` ends a task for good"},
    {"prune", "`agentforge gc` removes what ended tasks left; `agentforge abort TASK` ends a task and removes its worktrees"},
    {"merge", "`agentforge apply TASK` applies the change to your checkout"},
    {"answer", "`agentforge resolve` answers a question; `agentforge escalations list` shows what waits"},
    {"accept", "`agentforge approve TASK` accepts what a task shows"},
    {"settings", "`agentforge config show` shows the settings"},
    {"version", "`agentforge --version` prints it"},
};

}  // namespace

std::string suggested_command(const std::string& prefix, const std::string& word, const std::vector<std::string>& known) {
    const auto* const found = std::ranges::find(aliases, word, &Alias::word);
    if (prefix == "agentforge" && found != std::end(aliases)) { return std::string(found->remedy); }
    const std::string near = nearest(word, known);
    return near.empty() ? std::string() : "did you mean `" + prefix + " " + near + "`?";
}

}  // namespace agentforge::kernel
