// SPDX-License-Identifier: Apache-2.0
#include "program/commands/compare.hpp"

#include <fmt/format.h>

#include <ostream>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "cost/price_table.hpp"
#include "program/command_line.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_fields = 40;

struct CompareArguments {
    std::string one;
    std::string other;
    std::string format = "text";
};

void print_sides(std::ostream& out, const std::array<std::string, 2>& sides) {
    for (std::size_t side = 0; side < sides.size(); ++side) {
        out << "    " << (side == 0 ? "A: " : "B: ") << (sides[side].empty() ? "(none)" : printable(sides[side], 500)) << "\n";
    }
}

std::string cost_of(const ComparedTask& task) { return (task.cost_known ? "" : "at least ") + money(task.cost_microusd); }

void print_figures(std::ostream& out, const std::array<ComparedTask, 2>& tasks) {
    for (std::size_t side = 0; side < tasks.size(); ++side) {
        const ComparedTask& task = tasks[side];
        out << fmt::format("{}: {}  {}\n   {} steps, {} model calls, {} tokens, {}, {} ms\n   tree {}\n", side == 0 ? "A" : "B",
                           short_id(task.task_id), task.status, task.steps, task.calls, task.tokens, cost_of(task), task.wall_ms,
                           task.tree);
    }
}

void print_divergences(std::ostream& out, const TaskComparison& comparison) {
    if (comparison.same_path()) {
        out << "The paths are the same.\n";
        return;
    }
    out << "Where the paths diverge:\n";
    for (const Divergence& one : comparison.divergences) {
        out << "  first different " << to_string(one.of) << ": stage " << printable(one.stage) << ", " << step_of(one.steps[0])
            << " of A, " << step_of(one.steps[1]) << " of B\n";
        print_sides(out, one.sides);
    }
}

void print_fields(std::ostream& out, const std::vector<FieldDifference>& fields) {
    if (fields.empty()) { return; }
    out << "Fields of artifacts that differ:\n";
    for (std::size_t at = 0; at < std::min(fields.size(), most_fields); ++at) {
        out << "  " << printable(fields[at].stage) << ", " << printable(fields[at].field, 200) << "\n";
        print_sides(out, fields[at].sides);
    }
    if (fields.size() > most_fields) { out << "  and " << fields.size() - most_fields << " more: --format json shows all\n"; }
}

int run_compare(Program& program, const CompareArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto one = resolve_task(store, arguments.one);
    if (!one.ok()) { return program.fail(one.error()); }
    const auto other = resolve_task(store, arguments.other);
    if (!other.ok()) { return program.fail(other.error()); }
    const auto repository = Repository::open(place->root);
    if (!repository.ok()) { return program.fail(repository.error()); }
    const auto comparison = compare_tasks(store, *repository, *one, *other);
    if (!comparison.ok()) { return program.fail(comparison.error()); }
    if (program.json_output || arguments.format == "json") {
        program.print_json(to_json(*comparison));
    } else if (arguments.format == "html") {
        program.out << to_html(*comparison);
    } else {
        print_comparison(program.out, *comparison);
    }
    return 0;
}

}  // namespace

void print_comparison(std::ostream& out, const TaskComparison& comparison) {
    print_figures(out, comparison.tasks);
    print_divergences(out, comparison);
    print_fields(out, comparison.fields);
    bool titled = false;
    for (const GatePair& gate : comparison.gates) {
        if (gate.sides[0] == gate.sides[1]) { continue; }
        if (!std::exchange(titled, true)) { out << "Gates that ended differently:\n"; }
        out << "  " << printable(gate.stage) << ", " << printable(gate.gate) << "\n";
        print_sides(out, gate.sides);
    }
    out << (comparison.same_tree() ? "The trees are the same.\n" : "Files that differ, from A to B:\n");
    for (const TreeChange& file : comparison.files) {
        out << "  " << file.status << "  " << printable(file.path) << "  +" << file.lines_added << " -" << file.lines_removed
            << "\n";
    }
}

void add_compare(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<CompareArguments>();
    const Command command = add_subcommand(app, "compare", "Show where two tasks diverge, and how their results differ");
    add_option(*command, "one", arguments->one, "A task's id, or a unique part")->type_name("TASK")->required();
    add_option(*command, "other", arguments->other, "The other task's id, or a unique part")->type_name("OTHER")->required();
    const Option format =
        add_option(*command, "--format", arguments->format, "text (the default), json, or html: one self-contained page");
    format->type_name("FORMAT")->one_of({"text", "json", "html"});
    add_flag(*command, "--json", program.json_output, "The same as --format json")->excludes(format);
    command->footer(
        "Examples:\n  agentforge compare 1f2e3d4c 5a6b7c8d\n  agentforge compare 1f2e3d4c 5a6b7c8d --format html > comparison.html");
    command->callback([&program, arguments] {
        program.pages = true;
        program.command = [&program, arguments] { return run_compare(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
