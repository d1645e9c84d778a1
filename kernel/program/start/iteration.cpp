// SPDX-License-Identifier: Apache-2.0
#include "program/start/iteration.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

bool is_at_terminal(const Program& program) {
    return program.in_is_terminal && program.err_is_terminal && !program.json_output && !program.stream_output &&
           program.detached < 0;
}

Result<std::set<std::string>> iterated_stages(const Program& program, const Project& project, const PipelineTemplate& pipeline,
                                              const Entry& entry, const StartArguments& arguments) {
    const std::string exit = arguments.exit_after.empty() ? pipeline.exit_stage : arguments.exit_after;
    const std::size_t end = pipeline.index_of(exit).value_or(pipeline.stages.size() - 1);
    std::set<std::string> reached;
    std::string names;
    for (std::size_t index = 0; index <= end; ++index) {
        const StageTemplate& stage = pipeline.stages[index];
        const bool may_iterate = stage.iterate || stage.iterable;
        if (!may_iterate || !why_not_run(pipeline, entry, exit, index).empty()) { continue; }
        reached.insert(stage.name);
        names += (names.empty() ? "" : ", ") + stage.name;
    }
    const std::string what = "pipeline `" + pipeline.name + "`";
    for (const std::string& named : arguments.iterate_at) {
        if (reached.contains(named)) { continue; }
        const auto index = pipeline.index_of(named);
        const std::string skipped = index ? why_not_run(pipeline, entry, exit, *index) : std::string();
        std::string why = index ? "the template of " + what + " says neither `iterable: true` nor `iterate: true` there"
                                : what + " has no such stage";
        if (!skipped.empty()) { why = skipped; }
        return Error{"AF-CLI-160", "stage `" + printable(named, 80) + "` does not iterate: " + why, "--iterate-at",
                     (names.empty() ? "" : "these do: " + names + "; ") +
                         (index && skipped.empty() ? "`--approve " + named + "` asks for approval there"
                                                   : "`agentforge pipelines show " + pipeline.name + "` shows the stages"),
                     ErrorKind::invalid};
    }
    if (!arguments.iterate_at.empty()) { return std::set<std::string>(arguments.iterate_at.begin(), arguments.iterate_at.end()); }
    if (arguments.no_iterate) { return std::set<std::string>(); }
    if (arguments.iterate && reached.empty()) {
        return Error{"AF-CLI-161",
                     "no stage of " + what + " iterates" + (entry.imports.empty() ? "" : " with the given artifacts") +
                         (end + 1 < pipeline.stages.size() ? " before the task ends at `" + exit + "`" : ""),
                     "--iterate", "`--approve STAGE` asks for approval; a template lets a stage iterate with `iterable: true`",
                     ErrorKind::invalid};
    }
    const std::string mode = project.settings().text("pipeline.iterate");
    if (arguments.iterate || mode == "always") { return reached; }
    const bool by_default = reached.contains(exit) && pipeline.stages[end].iterate;
    if (mode == "never" || !arguments.exit_after.empty() || !is_at_terminal(program) || !by_default) {
        return std::set<std::string>();
    }
    return std::set<std::string>{exit};
}

}  // namespace agentforge::kernel
