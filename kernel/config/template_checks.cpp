// SPDX-License-Identifier: Apache-2.0
#include "config/template_checks.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "config/skip_condition.hpp"

namespace agentforge::kernel {
namespace {

using Externals = std::map<std::string, ExternalArtifact, std::less<>>;

Error cannot_run(std::string_view code, std::string pointer, std::string message, std::string remedy) {
    return Error{std::string(code), std::move(message), std::move(pointer), std::move(remedy), ErrorKind::invalid};
}

std::string place_of_stage(std::size_t index) { return "/pipeline/stages/" + std::to_string(index); }

Result<void> check_exits(const PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys, bool has_exit) {
    std::string marked;
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        const StageTemplate& stage = pipeline.stages[i];
        const std::string at = place_of_stage(i);
        if (stage.default_exit) {
            if (!marked.empty()) { return cannot_run("AF-PIPE-018", at + "/default_exit", "stage " + stage.name + " is the default exit, and so is " + marked, "Leave `default_exit` to one of them."); }
            marked = stage.name;
            if (has_exit && stage.name != pipeline.exit_stage) {
                return cannot_run("AF-PIPE-018", at + "/default_exit", "stage " + stage.name + " is the default exit, and the pipeline ends at " + pipeline.exit_stage, "Name one stage in both places.");
            }
        }
        if (stage.name == pipeline.exit_stage && !stage.exit_point && keys[i].contains("exit_point")) {
            return cannot_run("AF-PIPE-018", at + "/exit_point", "the pipeline ends at " + stage.name + ", which says that it is no exit point", "Take `exit_point: false` out, or end the pipeline elsewhere.");
        }
        if (i == 0 && !stage.entry_point && keys[i].contains("entry_point")) {
            return cannot_run("AF-PIPE-018", at + "/entry_point", "the pipeline begins with " + stage.name + ", which says that it is no entry point", "Take `entry_point: false` out, or begin with another stage.");
        }
        if (stage.iterate && !stage.iterable && keys[i].contains("iterable")) {
            return cannot_run("AF-PIPE-018", at + "/iterate", "stage " + stage.name + " is to iterate, and says that it is not iterable", "Write one of the two.");
        }
    }
    return {};
}

Result<void> check_reached(const PipelineTemplate& pipeline, bool has_exit) {
    const std::size_t last = pipeline.index_of(pipeline.exit_stage).value_or(pipeline.stages.size() - 1);
    // A default exit is only the default: --through goes on to a later stage.
    if (has_exit && last + 1 < pipeline.stages.size()) {
        return cannot_run("AF-PIPE-019", place_of_stage(last + 1), "no task reaches stage " + pipeline.stages[last + 1].name + ": the pipeline ends before it, at " + pipeline.exit_stage,
                          "End the pipeline at the last stage, or mark " + pipeline.exit_stage + " with `default_exit: true` in place of `exit`: then --through reaches the later ones.");
    }
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        const auto condition = SkipCondition::parse(pipeline.stages[i].skip_if);
        if (!condition.ok()) { continue; }
        const auto words = condition->words();
        const bool constant = std::ranges::all_of(words, [](const std::string& word) { return word == "never"; });
        if (!constant || condition->reason([](std::string_view) { return false; }).empty()) { continue; }
        return cannot_run("AF-PIPE-019", place_of_stage(i) + "/skip_if", "stage " + pipeline.stages[i].name + " is always skipped", "Take the stage out, or its condition.");
    }
    return {};
}

bool comes_from_outside(const PipelineTemplate& pipeline, std::string_view contract) {
    const auto is_it = [&](const auto& each) { return each.second.contract == contract; };
    return std::ranges::any_of(pipeline.accepts_external, is_it) || std::ranges::any_of(pipeline.requires_external, is_it);
}

Result<void> check_prerequisites(PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys) {
    std::set<std::string, std::less<>> made;
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        StageTemplate& stage = pipeline.stages[i];
        const bool own = keys[i].contains("prerequisites");
        const bool another = keys[i].contains("executor") || keys[i].contains("contract");
        const auto missing = std::ranges::find_if(stage.prerequisites, [&](const std::string& each) { return !made.contains(each) && !comes_from_outside(pipeline, each); });
        if (missing != stage.prerequisites.end() && own) {
            return cannot_run("AF-PIPE-020", place_of_stage(i) + "/prerequisites/" + std::to_string(missing - stage.prerequisites.begin()),
                              "stage " + stage.name + " builds on a " + ellipsis(*missing, 60) + ", and no stage before it makes one", "Add the stage that makes it, or take it from outside with `accepts_external`.");
        }
        if (missing != stage.prerequisites.end() && !another) {
            return cannot_run("AF-PIPE-020", place_of_stage(i), "stage " + stage.name + " builds on a " + *missing + ", as in the shipped pipeline, and no stage before it makes one",
                              "Add the stage that makes it, take it from outside with `accepts_external`, or write `prerequisites: []`.");
        }
        if (!own) { std::erase_if(stage.prerequisites, [&](const std::string& each) { return !made.contains(each) && !comes_from_outside(pipeline, each); }); }
        made.insert(stage.contract);
        made.insert(stage.also_makes);
    }
    return {};
}

/// Where it begins with this artifact, each stage has what it builds on.
Result<void> check_skip(const PipelineTemplate& pipeline, const std::string& at, const ExternalArtifact& external) {
    const auto first = pipeline.index_of(external.skips_to);
    if (!first) { return {}; }
    std::set<std::string, std::less<>> there{external.contract};
    for (const auto& [name, required] : pipeline.requires_external) { there.insert(required.contract); }
    for (const std::string& name : external.required) {
        if (const auto other = pipeline.accepts_external.find(name); other != pipeline.accepts_external.end()) { there.insert(other->second.contract); }
    }
    const std::size_t last = pipeline.index_of(pipeline.exit_stage).value_or(pipeline.stages.size() - 1);
    for (std::size_t i = *first; i <= last; ++i) {
        for (const std::string& contract : pipeline.stages[i].prerequisites) {
            if (there.contains(contract)) { continue; }
            return cannot_run("AF-PIPE-020", at + "/skips_to", "it begins at " + external.skips_to + " then, and stage " + pipeline.stages[i].name + " builds on a " + contract + ", which nothing provides",
                              "Begin earlier, or name what else must be given with `requires`.");
        }
        there.insert(pipeline.stages[i].contract);
        there.insert(pipeline.stages[i].also_makes);
    }
    return {};
}

Result<void> check_externals(const PipelineTemplate& pipeline) {
    for (const Externals* all : {&pipeline.accepts_external, &pipeline.requires_external}) {
        const std::string at = all == &pipeline.accepts_external ? "/pipeline/accepts_external/" : "/pipeline/requires_external/";
        for (const auto& [name, external] : *all) {
            if (!external.source.empty()) {
                const auto words = SkipCondition::parse(external.source);
                const bool known = words.ok() && std::ranges::all_of(words->words(), [](const std::string& word) { return word == "user_provided" || word == "task_reference"; });
                if (!known) { return cannot_run("AF-PIPE-021", at + name + "/source", "there is no source `" + ellipsis(external.source, 60) + "`", "Write user_provided, task_reference, or both joined by OR."); }
            }
            AF_CHECK(check_skip(pipeline, at + name, external));
        }
    }
    return {};
}

}  // namespace

Result<void> check_template_can_run(PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys, bool has_exit) {
    AF_CHECK(check_exits(pipeline, keys, has_exit));
    AF_CHECK(check_reached(pipeline, has_exit));
    AF_CHECK(check_prerequisites(pipeline, keys));
    return check_externals(pipeline);
}

Result<void> check_exit_point(const PipelineTemplate& pipeline, std::string_view exit) {
    const auto index = exit.empty() ? std::nullopt : pipeline.index_of(exit);
    if (!index || pipeline.stages[*index].exit_point || exit == pipeline.exit_stage) { return {}; }
    std::string points;
    for (const StageTemplate& stage : pipeline.stages) { if (stage.exit_point) { points += (points.empty() ? "" : ", ") + stage.name; } }
    return Error{"AF-EXT-012", "stage `" + std::string(exit) + "` is no exit point of pipeline `" + pipeline.name + "`", pipeline.source, "End at one of: " + points, ErrorKind::invalid};
}

Result<void> check_continuation(const PipelineTemplate& pipeline, const PipelineTemplate& next) {
    for (std::size_t i = 0; i < pipeline.continuation.provides.size(); ++i) {
        const std::string& contract = pipeline.continuation.provides[i];
        const std::string at = "/pipeline/continuation/provides/" + std::to_string(i);
        const bool made = std::ranges::any_of(pipeline.stages, [&](const StageTemplate& stage) { return makes(stage, contract); });
        if (!made && !comes_from_outside(pipeline, contract)) {
            return cannot_run("AF-PIPE-021", at, "pipeline " + pipeline.name + " hands over a " + ellipsis(contract, 60) + ", which none of its stages makes", "Name the contract of one of its stages.");
        }
        if (!comes_from_outside(next, contract)) {
            return cannot_run("AF-PIPE-021", at, "pipeline " + pipeline.name + " hands over a " + contract + ", and " + next.name + " takes none from outside", "Take it out, or add it to `accepts_external` of " + next.name + ".");
        }
    }
    return {};
}

}  // namespace agentforge::kernel
