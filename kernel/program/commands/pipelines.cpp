// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>

#include "base/text.hpp"
#include "config/one_file.hpp"
#include "pipeline/pipeline_controller.hpp"
#include "program/commands/definitions.hpp"
#include "program/commands/plugins.hpp"
#include "program/project/task_preflight.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/terminal.hpp"

namespace agentforge::kernel {

namespace {

std::string stages_in_line(const PipelineTemplate& pipeline) {
    std::string text;
    for (const StageTemplate& stage : pipeline.stages) { text += (text.empty() ? "" : " → ") + stage.name; }
    return text;
}

int list_pipelines(Program& program, const Definitions& all) {
    json::array list;
    for (const std::string& name : all.pipelines.names()) {
        const auto pipeline = all.pipelines.get(name);
        if (!pipeline.ok()) { return program.fail(pipeline.error()); }
        json::array stages;
        for (const StageTemplate& stage : pipeline->stages) { stages.emplace_back(stage.name); }
        list.push_back(json::object{{"name", name},
                                    {"description", pipeline->description},
                                    {"goal_type", pipeline->goal_type},
                                    {"stages", std::move(stages)},
                                    {"exit_stage", pipeline->exit_stage},
                                    {"deliverable", pipeline->deliverable},
                                    {"source", pipeline->source},
                                    {"of_project", all.of_project(pipeline->source)}});
        if (!program.json_output) {
            program.out << fitted_line(program, fmt::format("{:<12} {}", name, printable(first_line(pipeline->description), 100)),
                                       all.of_project(pipeline->source) ? "  [project]" : "")
                        << "\n             " << printable(stages_in_line(*pipeline), 1000) << "\n";
        }
    }
    if (program.json_output) { program.print_json({{"pipelines", std::move(list)}}); }
    return 0;
}

int show_pipeline(Program& program, const Definitions& all, const std::string& name) {
    const auto pipeline = all.pipelines.get(name);
    if (!pipeline.ok()) { return program.fail(pipeline.error()); }
    if (program.json_output) {
        json::object object = pipeline->to_json();
        object["of_project"] = all.of_project(pipeline->source);
        program.print_json(object);
        return 0;
    }
    std::ostream& out = program.out;
    out << name << "\n  " << printable_lines(pipeline->description) << "\n  from " << pipeline->source << "\n  for "
        << pipeline->goal_type << ", ends with " << pipeline->deliverable << " at stage " << pipeline->exit_stage
        << (pipeline->supervised ? ", asks for approval between stages" : "") << "\n\n";
    for (const StageTemplate& stage : pipeline->stages) {
        out << fmt::format("  {:<10} {:<22} {:<22} {}\n", stage.name, stage.agent.empty() ? "(no agent)" : stage.agent,
                           stage.contract, human_duration(stage.timeout) + ", " + std::to_string(stage.max_steps) + " steps");
        std::string remarks;
        const auto add = [&remarks](const std::string& remark) { remarks += (remarks.empty() ? "" : "; ") + remark; };
        if (stage.executor != stage.name) { add("run by " + stage.executor); }
        for (const std::string& reviewer : stage.reviewers) {
            add("reviewed by " + reviewer + (stage.review_blocking ? "" : " (advisory)"));
        }
        if (!stage.purpose.empty()) { add(stage.purpose); }
        if (!stage.skip_if.empty() && stage.skip_if != "never") { add("skipped if " + stage.skip_if); }
        if (!stage.required) { add("may be left out (--without)"); }
        if (stage.entry_point) { add("a task may begin here"); }
        if (!stage.exit_point) { add("no task may end here"); }
        if (stage.approve) { add("asks for approval"); }
        if (stage.compares_with) {
            const bool base = stage.compares_with == ComparedTree::base;
            add(std::string("compares with ") + (base ? "the user's commit" : "the locked tests"));
        }
        if (stage.iterate || stage.iterable) { add(stage.iterate ? "iterates" : "iterates on request"); }
        if (stage.name == pipeline->exit_stage) { add("the pipeline ends here"); }
        if (!remarks.empty()) { out << "             " << printable(remarks, 500) << "\n"; }
    }
    for (const auto* externals : {&pipeline->accepts_external, &pipeline->requires_external}) {
        for (const auto& [external, artifact] : *externals) {
            out << "  " << (externals == &pipeline->accepts_external ? "accepts " : "requires ") << external << " ("
                << artifact.contract << ")" << (artifact.skips_to.empty() ? "" : ", begins then at " + artifact.skips_to)
                << (artifact.source.empty() ? "" : ", from " + artifact.source) << "\n";
        }
    }
    if (!pipeline->continuation.next_pipeline.empty()) {
        out << "  may be continued by " << pipeline->continuation.next_pipeline << "\n";
    }
    return 0;
}

/// Shows where each stage is defined, and where it takes its missing keys from.
int show_origins(Program& program, const Definitions& all, const std::string& name) {
    const auto pipeline = all.pipelines.get(name);
    if (!pipeline.ok()) { return program.fail(pipeline.error()); }
    json::array stages;
    for (const StageOrigin& origin : all.pipelines.origins(name)) {
        const bool own = all.of_project(origin.where);
        stages.push_back(json::object{{"stage", origin.stage},
                                      {"where", origin.where},
                                      {"of_project", own},
                                      {"change", origin.change},
                                      {"defaults", origin.defaults}});
        if (program.json_output) { continue; }
        program.out << fmt::format("{:<12} {:<9} {}{}\n", origin.stage, own ? "project" : "shipped",
                                   printable(origin.where, 1000), origin.change.empty() ? "" : " (" + origin.change + ")");
        if (!origin.defaults.empty()) { program.out << "             the rest  " << printable(origin.defaults, 1000) << "\n"; }
    }
    if (program.json_output) {
        program.print_json({{"name", name}, {"source", pipeline->source}, {"stages", std::move(stages)}});
    }
    return 0;
}

/// Returns roles and plugins that a pipeline names but that do not exist, settings that do not fit their plugin, and the missing
/// needs of its stages.
std::vector<Error> problems_of_parts(const Definitions& all, const PluginRegistry& plugins, const PipelineTemplate& pipeline,
                                     const std::vector<StageOrigin>& origins) {
    std::vector<Error> problems;
    if (const auto provided = check_stage_needs(plugins, pipeline, origins); !provided.ok()) {
        problems.push_back(provided.error());
    }
    for (const StageTemplate& stage : pipeline.stages) {
        const std::string where = place_of_stage(origins, stage.name, pipeline.source);
        if (!plugins.has(PluginKind::stage, stage.executor)) {
            problems.push_back(Error{"AF-CLI-013",
                                     "stage `" + stage.name + "` is run by the stage `" + printable(stage.executor, 80) +
                                         "`, which no plugin provides",
                                     where, "`agentforge plugins list` shows all plugins; name one of them with `executor`",
                                     ErrorKind::not_found});
        } else if (const auto fit = plugins.check_settings(PluginKind::stage, stage.executor, plugin_settings(stage.config));
                   !fit.ok()) {
            problems.push_back(fit.error());
            if (problems.back().where.starts_with("settings of")) { problems.back().where = where; }
        }
        std::vector<std::string> roles = stage.reviewers;
        if (!stage.agent.empty()) { roles.push_back(stage.agent); }
        for (const std::string& role : roles) {
            auto agent = all.agents.get(role);
            if (agent.ok()) { continue; }
            Error problem = agent.error();
            problem.message = "stage `" + stage.name + "`: " + problem.message;
            problem.where = where;
            problems.push_back(std::move(problem));
        }
    }
    return problems;
}

std::vector<Error> problems_of_pipelines(const Program& program, const Definitions& all, const std::string& file) {
    const auto plugins = open_plugins(program);
    if (!plugins.ok()) { return {plugins.error()}; }
    if (!file.empty()) {
        const auto pipeline =
            check_pipeline_file(all.product.config + "/pipelines", (all.place.agentforge / "pipelines").string(),
                                (all.place.agentforge / "orchestration" / "pipeline.yaml").string(), file, all.contracts);
        if (!pipeline.ok()) { return {pipeline.error()}; }
        return problems_of_parts(all, (*plugins)->registry, pipeline->pipeline, pipeline->origins);
    }
    std::vector<Error> problems;
    for (const std::string& name : all.pipelines.names()) {
        const auto pipeline = all.pipelines.get(name);
        if (!pipeline.ok()) { return {pipeline.error()}; }
        for (Error& problem : problems_of_parts(all, (*plugins)->registry, *pipeline, all.pipelines.origins(name))) {
            problems.push_back(std::move(problem));
        }
    }
    return problems;
}

}  // namespace

void add_pipelines(CLI::App& app, Program& program) {
    add_definition_commands(
        app, program, "pipelines", "pipeline", "PIPELINE", "Show the sequences of stages that a request can take", "design",
        {[&program](const Definitions& all) { return list_pipelines(program, all); },
         [&program](const Definitions& all, const std::string& name) { return show_pipeline(program, all, name); },
         [&program](const Definitions& all, const std::string& file) { return problems_of_pipelines(program, all, file); },
         [&program](const Definitions& all, const std::string& name) { return show_origins(program, all, name); }});
}

}  // namespace agentforge::kernel
