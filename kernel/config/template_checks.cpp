// SPDX-License-Identifier: Apache-2.0
#include "config/template_checks.hpp"

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "config/skip_condition.hpp"

namespace agentforge::kernel {
namespace {

using Externals = std::map<std::string, ExternalArtifact, std::less<>>;

Error cannot_run(std::string_view code, std::string pointer, std::string message, std::string remedy) {
    return Error{std::string(code), std::move(message), std::move(pointer), std::move(remedy), ErrorKind::invalid};
}

std::string with_article(const std::string& contract) {
    return std::string(article_for(contract)) + " " + ellipsis(contract, 60);
}

std::string place_of_stage(std::size_t index) { return "/pipeline/stages/" + std::to_string(index); }

Result<void> check_exits(const PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys, bool has_exit) {
    std::string marked;
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        const StageTemplate& stage = pipeline.stages[i];
        const std::string at = place_of_stage(i);
        if (stage.default_exit) {
            if (!marked.empty()) {
                return cannot_run("AF-PIPE-018", at + "/default_exit",
                                  "stage " + stage.name + " is the default exit, and so is " + marked,
                                  "Keep `default_exit` in one of them.");
            }
            marked = stage.name;
            if (has_exit && stage.name != pipeline.exit_stage) {
                return cannot_run("AF-PIPE-018", at + "/default_exit",
                                  "stage " + stage.name + " is the default exit, but the pipeline ends at " + pipeline.exit_stage,
                                  "Name one stage in both places.");
            }
        }
        if (stage.name == pipeline.exit_stage && !stage.exit_point && keys[i].contains("exit_point")) {
            return cannot_run("AF-PIPE-018", at + "/exit_point",
                              "the pipeline ends at " + stage.name + ", which has `exit_point: false`",
                              "Remove `exit_point: false`, or end the pipeline elsewhere.");
        }
        if (i == 0 && !stage.entry_point && keys[i].contains("entry_point")) {
            return cannot_run("AF-PIPE-018", at + "/entry_point",
                              "the pipeline begins with " + stage.name + ", which has `entry_point: false`",
                              "Remove `entry_point: false`, or begin with another stage.");
        }
        if (stage.iterate && !stage.iterable && keys[i].contains("iterable")) {
            return cannot_run("AF-PIPE-018", at + "/iterate",
                              "stage " + stage.name + " has `iterate: true` and `iterable: false`", "Keep one of the two.");
        }
    }
    return {};
}

Result<void> check_reached(const PipelineTemplate& pipeline, bool has_exit) {
    const std::size_t last = pipeline.index_of(pipeline.exit_stage).value_or(pipeline.stages.size() - 1);
    // A default exit is only the default: --through may continue to a later stage.
    if (has_exit && last + 1 < pipeline.stages.size()) {
        return cannot_run("AF-PIPE-019", place_of_stage(last + 1),
                          "no task reaches stage " + pipeline.stages[last + 1].name + ": the pipeline ends before it, at " +
                              pipeline.exit_stage,
                          "End the pipeline at the last stage, or mark " + pipeline.exit_stage +
                              " with `default_exit: true` in place of `exit`: then --through reaches the later ones.");
    }
    for (std::size_t i = 0; i < pipeline.stages.size(); ++i) {
        const auto condition = SkipCondition::parse(pipeline.stages[i].skip_if);
        if (!condition.ok()) { continue; }
        const auto words = condition->words();
        const bool constant = std::ranges::all_of(words, [](const std::string& word) { return word == "never"; });
        if (!constant || condition->reason([](std::string_view) { return false; }).empty()) { continue; }
        return cannot_run("AF-PIPE-019", place_of_stage(i) + "/skip_if",
                          "stage " + pipeline.stages[i].name + " is always skipped", "Remove the stage, or its condition.");
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
        const auto missing = std::ranges::find_if(stage.prerequisites, [&](const std::string& each) {
            return !made.contains(each) && !comes_from_outside(pipeline, each);
        });
        if (missing != stage.prerequisites.end() && own) {
            return cannot_run(
                "AF-PIPE-020", place_of_stage(i) + "/prerequisites/" + std::to_string(missing - stage.prerequisites.begin()),
                "stage " + stage.name + " builds on " + with_article(*missing) + ", but no earlier stage produces one",
                "Add the stage that produces it, or accept it from outside with `accepts_external`.");
        }
        if (missing != stage.prerequisites.end() && !another) {
            return cannot_run(
                "AF-PIPE-020", place_of_stage(i),
                "stage " + stage.name + " builds on " + with_article(*missing) +
                    ", as in the shipped pipeline, but no earlier stage produces one",
                "Add the stage that produces it, accept it from outside with `accepts_external`, or write `prerequisites: []`.");
        }
        if (!own) {
            std::erase_if(stage.prerequisites,
                          [&](const std::string& each) { return !made.contains(each) && !comes_from_outside(pipeline, each); });
        }
        made.insert(stage.contract);
        made.insert(stage.also_makes);
    }
    return {};
}

/// Checks that a pipeline starting with this artifact gives each stage what it needs.
Result<void> check_skip(const PipelineTemplate& pipeline, const std::string& at, const ExternalArtifact& external) {
    const auto first = pipeline.index_of(external.skips_to);
    if (!first) { return {}; }
    std::set<std::string, std::less<>> there{external.contract};
    for (const auto& [name, required] : pipeline.requires_external) { there.insert(required.contract); }
    for (const std::string& name : external.required) {
        if (const auto other = pipeline.accepts_external.find(name); other != pipeline.accepts_external.end()) {
            there.insert(other->second.contract);
        }
    }
    const std::size_t last = pipeline.index_of(pipeline.exit_stage).value_or(pipeline.stages.size() - 1);
    for (std::size_t i = *first; i <= last; ++i) {
        for (const std::string& contract : pipeline.stages[i].prerequisites) {
            if (there.contains(contract)) { continue; }
            return cannot_run("AF-PIPE-020", at + "/skips_to",
                              "the task then begins at " + external.skips_to + ", but stage " + pipeline.stages[i].name +
                                  " builds on " + with_article(contract) + ", which nothing provides",
                              "Start at an earlier stage, or list the missing artifact in `requires`.");
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
                const bool known = words.ok() && std::ranges::all_of(words->words(), [](const std::string& word) {
                                       return word == "user_provided" || word == "task_reference";
                                   });
                if (!known) {
                    return cannot_run("AF-PIPE-021", at + name + "/source",
                                      "there is no source `" + ellipsis(external.source, 60) + "`",
                                      "Write user_provided, task_reference, or both joined by OR.");
                }
            }
            AF_CHECK(check_skip(pipeline, at + name, external));
        }
    }
    return {};
}

constexpr std::size_t most_varied = 6;  // Each doubles the number of ways.

using Words = std::set<std::string>;

/// Returns every subset of these names. With too many names: none, all, and each alone.
std::vector<Words> choices_among(const Words& names) {
    const std::vector<std::string> all(names.begin(), names.end());
    std::vector<Words> choices;
    if (all.size() > most_varied) {
        choices = {{}, names};
        for (const std::string& name : all) { choices.push_back({name}); }
        return choices;
    }
    for (std::size_t bits = 0; bits < (std::size_t(1) << all.size()); ++bits) {
        Words& choice = choices.emplace_back();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if ((bits >> i & 1U) != 0) { choice.insert(all[i]); }
        }
    }
    return choices;
}

std::vector<Beginning> beginnings_of(const PipelineTemplate& pipeline) {
    Words accepted;
    for (const auto& [name, unused] : pipeline.accepts_external) { accepted.insert(name); }
    std::vector<Beginning> all;
    for (const Words& chosen : choices_among(accepted)) {
        Beginning beginning;
        bool whole = true;
        const auto take = [&](const std::string& name, const ExternalArtifact& external) {
            beginning.names.insert(name);
            beginning.contracts.insert(external.contract);
            beginning.first = std::max(beginning.first, pipeline.index_of(external.skips_to).value_or(0));
            whole = whole && std::ranges::all_of(external.required, [&](const std::string& other) {
                        return chosen.contains(other) || pipeline.requires_external.contains(other);
                    });
        };
        for (const auto& [name, external] : pipeline.requires_external) { take(name, external); }
        for (const std::string& name : chosen) { take(name, pipeline.accepts_external.find(name)->second); }
        if (whole) { all.push_back(std::move(beginning)); }
    }
    return all;
}

std::string joined(const Words& names) {
    std::string all;
    for (const std::string& name : names) { all += (all.empty() ? "" : ", ") + name; }
    return all;
}

/// Walks the ways through a template from one beginning. A word that artifacts make true stays true, because an accepted artifact
/// stays accepted.
class Ways {
public:
    Ways(const PipelineTemplate& pipeline, const StageNeeds& needs, const Beginning& beginning,
         const std::vector<SkipCondition>& conditions)
        : pipeline_(pipeline), needs_(needs), beginning_(beginning), conditions_(conditions) {
        for (const SkipCondition& condition : conditions) {
            for (const std::string& word : condition.words()) {
                if (word != "never" && !says_provided(word)) { words_.insert(word); }
            }
        }
        choices_ = choices_among(words_);
    }

    std::optional<Unprovided> lacking() {
        Contracts there = beginning_.contracts;
        there.insert(beginning_.made.begin(), beginning_.made.end());
        for (const Words& holds : choices_) {
            if (auto found = from(beginning_.first, holds, there)) { return found; }
        }
        return std::nullopt;
    }

private:
    using Contracts = std::set<std::string, std::less<>>;

    std::optional<Unprovided> from(std::size_t index, const Words& holds, const Contracts& there) {
        if (index >= pipeline_.stages.size() || index > beginning_.last || !seen_.insert({index, holds, there}).second) {
            return std::nullopt;
        }
        const StageTemplate& stage = pipeline_.stages[index];
        Contracts then = there;
        if (!is_skipped(index, holds)) {
            for (const std::string& contract : needs_(stage)) {
                if (!there.contains(contract)) { return Unprovided{index, contract, in_words(holds)}; }
            }
            then.insert(stage.contract);
            then.insert(stage.also_makes);
        }
        for (const Words& later : choices_) {
            const bool only_more = words_.size() > most_varied ? later == holds : std::ranges::includes(later, holds);
            if (!only_more) { continue; }
            if (auto found = from(index + 1, later, then)) { return found; }
        }
        return std::nullopt;
    }

    /// True if an artifact from outside decides whether the word holds.
    [[nodiscard]] bool says_provided(const std::string& word) const {
        return word.ends_with("_provided") || std::ranges::any_of(pipeline_.provided_as, [&](const auto& each) {
                   return std::ranges::find(each.second, word) != each.second.end();
               });
    }

    [[nodiscard]] bool is_skipped(std::size_t index, const Words& holds) const {
        const StageTemplate& stage = pipeline_.stages[index];
        const auto word_holds = [&](std::string_view word) {
            const auto provided = [&](const std::string& contract) { return is_provided_word(pipeline_, word, contract); };
            return holds.contains(std::string(word)) || std::ranges::any_of(beginning_.contracts, provided);
        };
        return beginning_.contracts.contains(stage.contract) || beginning_.left_out.contains(stage.name) ||
               !conditions_[index].reason(word_holds).empty();
    }

    [[nodiscard]] std::string in_words(const Words& holds) const {
        std::string given;
        if (!beginning_.names.empty()) { given = "if " + joined(beginning_.names) + " comes from outside"; }
        if (beginning_.names.empty() && !pipeline_.accepts_external.empty()) { given = "if nothing comes from outside"; }
        if (holds.empty()) { return given; }
        return (given.empty() ? "if " : given + " and ") + joined(holds) + " is true";
    }

    const PipelineTemplate& pipeline_;
    const StageNeeds& needs_;
    const Beginning& beginning_;
    const std::vector<SkipCondition>& conditions_;
    Words words_;
    std::vector<Words> choices_;
    std::set<std::tuple<std::size_t, Words, Contracts>> seen_;
};

/// The condition of each stage. Empty if one cannot be parsed, which is an error elsewhere.
std::vector<SkipCondition> conditions_of(const PipelineTemplate& pipeline) {
    std::vector<SkipCondition> conditions;
    for (const StageTemplate& stage : pipeline.stages) {
        auto condition = SkipCondition::parse(stage.skip_if);
        if (!condition.ok()) { return {}; }
        conditions.push_back(std::move(*condition));
    }
    return conditions;
}

/// Drops prerequisites that a stage of another kind took over from the shipped stage of its name, if some way does not provide
/// them. Refuses other missing prerequisites.
Result<void> check_every_way(PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys) {
    const auto prerequisites = [](const StageTemplate& stage) { return stage.prerequisites; };
    while (const auto found = find_unprovided(pipeline, prerequisites)) {
        StageTemplate& stage = pipeline.stages[found->stage];
        const OwnKeys& own = keys[found->stage];
        const bool another = own.contains("executor") || own.contains("contract");
        if (another && !own.contains("prerequisites")) {
            std::erase(stage.prerequisites, found->contract);
            continue;
        }
        const auto index = std::ranges::find(stage.prerequisites, found->contract) - stage.prerequisites.begin();
        const std::string at =
            place_of_stage(found->stage) + (own.contains("prerequisites") ? "/prerequisites/" + std::to_string(index) : "");
        return unprovided_error(*found, "stage " + stage.name, at);
    }
    return {};
}

}  // namespace

std::optional<Unprovided> find_unprovided(const PipelineTemplate& pipeline, const StageNeeds& needs, const Beginning& beginning) {
    const std::vector<SkipCondition> conditions = conditions_of(pipeline);
    return conditions.empty() ? std::nullopt : Ways(pipeline, needs, beginning, conditions).lacking();
}

std::optional<Unprovided> find_unprovided(const PipelineTemplate& pipeline, const StageNeeds& needs) {
    for (const Beginning& beginning : beginnings_of(pipeline)) {
        if (auto found = find_unprovided(pipeline, needs, beginning)) { return found; }
    }
    return std::nullopt;
}

Error unprovided_error(const Unprovided& found, const std::string& who, std::string where) {
    return cannot_run(
        "AF-PIPE-020", std::move(where),
        who + " builds on " + with_article(found.contract) + ", but no earlier stage that runs produces one" +
            (found.when.empty() ? "" : " " + found.when),
        "Add the stage that produces it, require it from outside with `requires_external`, or change the conditions under which the stage runs.");
}

Result<void> check_template_can_run(PipelineTemplate& pipeline, const std::vector<OwnKeys>& keys, bool has_exit) {
    AF_CHECK(check_exits(pipeline, keys, has_exit));
    AF_CHECK(check_reached(pipeline, has_exit));
    AF_CHECK(check_prerequisites(pipeline, keys));
    AF_CHECK(check_externals(pipeline));
    return check_every_way(pipeline, keys);
}

Result<void> check_exit_point(const PipelineTemplate& pipeline, std::string_view exit) {
    const auto index = exit.empty() ? std::nullopt : pipeline.index_of(exit);
    if (!index || pipeline.stages[*index].exit_point || exit == pipeline.exit_stage) { return {}; }
    std::string points;
    for (const StageTemplate& stage : pipeline.stages) {
        if (stage.exit_point) { points += (points.empty() ? "" : ", ") + stage.name; }
    }
    return Error{"AF-EXT-012", "stage `" + std::string(exit) + "` is not an exit point of pipeline `" + pipeline.name + "`",
                 pipeline.source, "End at one of: " + points, ErrorKind::invalid};
}

std::optional<std::size_t> joint_of(const PipelineTemplate& pipeline, std::size_t last, const PipelineTemplate& next,
                                    const std::function<bool(std::size_t stage)>& has_made) {
    if (const auto same = next.index_of(pipeline.stages[last].name)) { return same; }
    for (std::size_t index = next.stages.size(); index-- > 0;) {
        for (std::size_t made = 0; made <= last; ++made) {
            if (has_made(made) && makes(pipeline.stages[made], next.stages[index].contract)) { return index; }
        }
    }
    return std::nullopt;
}

Result<void> check_continuation(const PipelineTemplate& pipeline, const PipelineTemplate& next) {
    const std::size_t exit = pipeline.index_of(pipeline.exit_stage).value_or(pipeline.stages.size() - 1);
    const auto joint = joint_of(pipeline, exit, next, [](std::size_t) { return true; });
    if (!joint || *joint + 1 == next.stages.size()) {
        return cannot_run("AF-PIPE-021", "/pipeline/continuation/next_pipeline",
                          "pipeline " + pipeline.name + " names the continuation " + next.name +
                              ", which has no stage that follows what " + pipeline.name + " has produced",
                          "Name a pipeline with such a stage, or remove `next_pipeline`.");
    }
    for (std::size_t i = 0; i < pipeline.continuation.provides.size(); ++i) {
        const std::string& contract = pipeline.continuation.provides[i];
        const std::string at = "/pipeline/continuation/provides/" + std::to_string(i);
        const bool made =
            std::ranges::any_of(pipeline.stages, [&](const StageTemplate& stage) { return makes(stage, contract); });
        if (!made && !comes_from_outside(pipeline, contract)) {
            return cannot_run(
                "AF-PIPE-021", at,
                "pipeline " + pipeline.name + " hands over " + with_article(contract) + ", which none of its stages produces",
                "Name the contract of one of its stages.");
        }
        if (!comes_from_outside(next, contract)) {
            return cannot_run("AF-PIPE-021", at,
                              "pipeline " + pipeline.name + " hands over " + with_article(contract) + ", but " + next.name +
                                  " accepts none from outside",
                              "Remove it, or add it to `accepts_external` of " + next.name + ".");
        }
    }
    return {};
}

Error unknown_stage(const PipelineTemplate& pipeline, std::string_view name, std::string_view purpose) {
    std::vector<std::string> stages;
    std::string known;
    for (const StageTemplate& stage : pipeline.stages) {
        stages.push_back(stage.name);
        known += (known.empty() ? "" : ", ") + stage.name;
    }
    const std::string near = nearest(name, stages);
    return {"AF-ORCH-041",
            "pipeline `" + pipeline.name + "` has no stage `" + ellipsis(name, 80) + "`" + (purpose.empty() ? "" : " ") +
                std::string(purpose),
            "", (near.empty() ? "" : "did you mean `" + near + "`? ") + "its stages are " + known, ErrorKind::not_found};
}

}  // namespace agentforge::kernel
