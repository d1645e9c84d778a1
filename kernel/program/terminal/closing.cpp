// SPDX-License-Identifier: Apache-2.0
#include "program/terminal/closing.hpp"

#include <ostream>

#include "base/text.hpp"
#include "config/summary.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

Closing closing_of(Project& project, const PipelineResult& result) {
    Closing closing;
    if (!result.success || !result.deliverable) { return closing; }
    const auto state = read_task_state(project.tasks(), result.task_id);
    if (!state.ok() || state->exit_stage != state->pipeline.exit_stage) { return closing; }
    const auto summary =
        load_summary({(project.place().agentforge / "summaries").string(), project.product().config + "/summaries"},
                     state->pipeline.summary_template);
    if (summary) { closing.summary = render_summary(summary->text, *result.deliverable); }
    const auto& next = state->pipeline.continuation;
    if (next.next_pipeline.empty()) { return closing; }
    closing.prompt = next.prompt;
    closing.next_pipeline = next.next_pipeline;
    closing.command = "agentforge start --pipeline " + next.next_pipeline +
                      (next.provides.empty() ? "" : " --from-task " + result.task_id) + " \"what is to be done\"";
    return closing;
}

json::object closing_json(const Closing& closing) {
    json::object object;
    if (!closing.summary.empty()) { object["summary"] = closing.summary; }
    if (!closing.next_pipeline.empty()) {
        object["continuation"] =
            json::object{{"prompt", closing.prompt}, {"next_pipeline", closing.next_pipeline}, {"command", closing.command}};
    }
    return object;
}

void print_closing(Program& program, const Closing& closing) {
    if (!closing.summary.empty()) { print_quoted(program.out, closing.summary); }
    if (closing.next_pipeline.empty()) { return; }
    program.out << "  " << printable(closing.prompt, 300) << "\n           " << closing.command << "\n";
}

}  // namespace agentforge::kernel
