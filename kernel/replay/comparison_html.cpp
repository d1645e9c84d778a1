// SPDX-License-Identifier: Apache-2.0
#include "base/html.hpp"
#include "replay/comparison.hpp"

namespace agentforge::kernel {

namespace {

class Table {
public:
    Table(std::string& page, const std::string& title, const std::vector<std::string>& columns) : page_(page) {
        page_ += "<h2>" + html_text(title) + "</h2>\n<table>\n";
        row(columns, "th");
    }
    ~Table() { page_ += "</table>\n"; }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    void row(const std::vector<std::string>& cells, const std::string& tag = "td") {
        page_ += "<tr>";
        for (const std::string& cell : cells) { page_ += "<" + tag + ">" + html_text(cell) + "</" + tag + ">"; }
        page_ += "</tr>\n";
    }

private:
    std::string& page_;
};

std::string cost_of(const ComparedTask& task) {
    return (task.cost_known ? "" : "at least ") + std::to_string(task.cost_microusd) + " µUSD";
}

void add_figures(std::string& page, const std::array<ComparedTask, 2>& tasks) {
    Table table(page, "Tasks", {"", tasks[0].task_id, tasks[1].task_id});
    const auto row = [&](const std::string& name, const auto& value) { table.row({name, value(tasks[0]), value(tasks[1])}); };
    row("request", [](const ComparedTask& task) { return task.request; });
    row("status", [](const ComparedTask& task) { return task.status; });
    row("base commit", [](const ComparedTask& task) { return task.base_commit; });
    row("tree", [](const ComparedTask& task) { return task.tree; });
    row("steps", [](const ComparedTask& task) { return std::to_string(task.steps); });
    row("model calls", [](const ComparedTask& task) { return std::to_string(task.calls); });
    row("tokens", [](const ComparedTask& task) { return std::to_string(task.tokens); });
    row("cost", cost_of);
    row("time", [](const ComparedTask& task) { return std::to_string(task.wall_ms) + " ms"; });
}

}  // namespace

std::string to_html(const TaskComparison& comparison) {
    std::string page;
    const std::string& one = comparison.tasks[0].task_id;
    const std::string& other = comparison.tasks[1].task_id;
    page += "<h1>Two tasks compared</h1>\n";
    add_figures(page, comparison.tasks);
    {
        Table table(page, comparison.same_path() ? "The paths are the same" : "Where the paths diverge",
                    {"first different", "stage", "steps", one, other});
        for (const Divergence& divergence : comparison.divergences) {
            table.row({std::string(to_string(divergence.of)), divergence.stage,
                       step_of(divergence.steps[0]) + " / " + step_of(divergence.steps[1]), divergence.sides[0],
                       divergence.sides[1]});
        }
    }
    {
        Table table(page, "Artifacts: fields that differ", {"stage", "field", one, other});
        for (const FieldDifference& field : comparison.fields) {
            table.row({field.stage, field.field, field.sides[0], field.sides[1]});
        }
    }
    {
        Table table(page, "Gates", {"stage", "gate", one, other});
        for (const GatePair& gate : comparison.gates) { table.row({gate.stage, gate.gate, gate.sides[0], gate.sides[1]}); }
    }
    {
        Table table(page, comparison.same_tree() ? "The trees are the same" : "Files that differ",
                    {"", "path", "lines added", "lines removed"});
        for (const TreeChange& file : comparison.files) {
            table.row(
                {std::string(1, file.status), file.path, std::to_string(file.lines_added), std::to_string(file.lines_removed)});
        }
    }
    return html_page("Two tasks compared", page);
}

}  // namespace agentforge::kernel
