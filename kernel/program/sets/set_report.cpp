// SPDX-License-Identifier: Apache-2.0
#include "program/sets/set_report.hpp"

#include <ostream>

#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "program/project/task_preflight.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

json::object set_json(const OpenSet& open) {
    json::array parts;
    const bool undone = open.set.phase == SetPhase::undone;
    for (const SetPart& each : open.set.parts) {
        parts.push_back(json::object{{"repo", each.repo},
                                     {"path", each.path.string()},
                                     {"task_id", each.task},
                                     {"branch", undone ? "" : each.branch},
                                     {"commit", undone ? "" : each.commit}});
    }
    return {{"set_id", open.set.id},
            {"phase", to_string(open.set.phase)},
            {"success", open.set.phase == SetPhase::done},
            {"test_result", open.set.test_result},
            {"reason", open.set.reason},
            {"parts", std::move(parts)},
            {"kept", json::array(open.kept.begin(), open.kept.end())}};
}

void print_waiting_json(const OpenSet& open, const std::vector<std::string>& waiting) {
    json::object object = set_json(open);
    object["waiting"] = json::array(waiting.begin(), waiting.end());
    open.program.print_json(object);
}

void print_waiting_lines(const OpenSet& open, const std::vector<std::string>& waiting) {
    for (const std::string& line : waiting) { open.program.out << "  " << printable(line, 600) << "\n"; }
    open.program.out << "  continue with: agentforge resume " << open.set.id << "\n";
}

}  // namespace

EarlyExit print_waiting_parts(const OpenSet& open, const std::vector<std::string>& waiting, int code) {
    if (open.program.json_output) {
        print_waiting_json(open, waiting);
        return code;
    }
    open.program.out << "Not done: " << open.set.id << ". No branch was created.\n";
    print_waiting_lines(open, waiting);
    return code;
}

void print_undelivered(const OpenSet& open, const std::vector<std::string>& waiting) {
    if (open.program.json_output) {
        print_waiting_json(open, waiting);
        return;
    }
    open.program.out << "All branches of " << open.set.id << " exist, but some tasks have not ended:\n";
    print_waiting_lines(open, waiting);
}

void print_set_plan(const OpenSet& open, const std::vector<PartPlan>& plans, const std::string& given) {
    if (open.program.json_output) {
        json::array parts;
        for (std::size_t at = 0; at < plans.size(); ++at) {
            const PartPlan& plan = plans[at];
            parts.push_back(json::object{{"repo", open.set.parts[at].repo},
                                         {"path", open.set.parts[at].path.string()},
                                         {"pipeline", plan.pipeline},
                                         {"delivery", plan.delivery},
                                         {"set_test", json::array(plan.set_test.begin(), plan.set_test.end())},
                                         {"gates", gates_json(plan.gates)}});
        }
        open.program.print_json({{"dry_run", true},
                                 {"request", open.set.request},
                                 {"specification", text_or_null(given)},
                                 {"parts", std::move(parts)}});
        return;
    }
    open.program.out << "Would start a set: \"" << printable(open.set.request, 400) << "\"\n  specification  "
                     << (given.empty() ? "written by a task of " + open.set.parts.front().repo : printable(given, 400)) << "\n";
    for (std::size_t at = 0; at < plans.size(); ++at) {
        const PartPlan& plan = plans[at];
        open.program.out << "  " << open.set.parts[at].repo << "  pipeline " << plan.pipeline << ", delivery " << plan.delivery
                         << (plan.set_test.empty() ? "" : ", then tests the parts together") << "\n";
        for (const std::string& line : gates_text(plan.gates)) { open.program.out << "    " << line << "\n"; }
    }
    open.program.out << "Nothing was done. All checks before the start passed.\n";
}

void print_set_result(const OpenSet& open) {
    if (open.program.json_output) {
        open.program.print_json(set_json(open));
        return;
    }
    open.program.out << (open.set.phase == SetPhase::done ? "Done: " : "Undone: ") << open.set.id << "\n";
    for (const SetPart& each : open.set.parts) {
        if (open.set.phase == SetPhase::done) {
            open.program.out << "  " << each.repo << "  commit " << each.commit << " on branch " << each.branch << "\n";
        } else {
            open.program.out << "  " << each.repo << "  " << (each.task.empty() ? "not started" : each.task)
                             << (open.kept.empty() ? ", no branch\n" : "\n");
        }
    }
    for (const std::string& line : open.kept) { open.program.out << "  " << printable(line, 600) << "\n"; }
    if (!open.set.test_result.empty()) { open.program.out << "  together: " << printable(open.set.test_result, 300) << "\n"; }
}

}  // namespace agentforge::kernel
