// SPDX-License-Identifier: Apache-2.0
#include "program/project/task_preflight.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "base/text.hpp"
#include "base/yaml.hpp"
#include "config/settings_schema.hpp"
#include "config/verification.hpp"
#include "gates/engine/baseline.hpp"
#include "git/git_configuration.hpp"
#include "pipeline/agent_run/agent_tools.hpp"
#include "pipeline/delivery/commits.hpp"
#include "pipeline/delivery/publish.hpp"
#include "pipeline/gates_without_task.hpp"
#include "plugins/lock.hpp"
#include "program/terminal/display.hpp"
#include "tools/path_rule_problems.hpp"

namespace agentforge::kernel {

namespace {

/// Returns a settings key as written in the settings, where the last part may contain dots.
std::string written_key(const std::string& key) {
    for (const std::string_view map : {"gates.scopes.", "gates.programs.", "gates.thresholds.", "gates.timeouts."}) {
        if (key.starts_with(map)) { return std::string(map) + join_key({key.substr(map.size())}); }
    }
    return key;
}

/// The way commits are signed. `program` empty: they are not signed.
struct Signing {
    std::string format;
    std::string program;
    std::string key;
    bool own_program = false;  ///< The user configured a signing program, which interprets the key itself.
};

/// The program that git runs if none is configured.
const char* default_signer(std::string_view format) {
    if (format == "ssh") { return "ssh-keygen"; }
    return format == "x509" ? "gpgsm" : "gpg";
}

Signing signing_of(const Project& project) {
    const DeliverySettings& delivery = project.services().delivery;
    if (delivery.type == DeliveryType::files || delivery.sign == "never") { return {}; }
    const GitConfiguration git(project.place().root);
    if (delivery.sign == "auto" && !git.flag("commit.gpgsign")) { return {}; }
    Signing signing;
    signing.format = git.text("gpg.format");
    if (signing.format.empty()) { signing.format = "openpgp"; }
    signing.program = git.users_text("gpg." + signing.format + ".program");
    if (signing.program.empty() && signing.format == "openpgp") { signing.program = git.users_text("gpg.program"); }
    signing.own_program = !signing.program.empty();
    if (signing.program.empty()) { signing.program = default_signer(signing.format); }
    signing.key = git.text("user.signingkey");
    return signing;
}

bool is_program(const std::map<std::string, std::string>& environment, const std::string& program) {
    if (program.find('/') == std::string::npos) { return is_on_path(environment, program); }
    std::error_code failure;
    return std::filesystem::is_regular_file(program, failure);
}

/// Returns why git could not sign, as far as known without signing. Empty: no problem is known.
std::string signing_problem(Project& project, const Signing& signing, const std::map<std::string, std::string>& environment) {
    if (signing.format != "openpgp" && signing.format != "ssh" && signing.format != "x509") {
        return "git has no gpg.format `" + printable(signing.format, 60) + "` (openpgp, ssh, x509)";
    }
    std::string home;
    if (const auto own = environment.find("HOME"); own != environment.end()) { home = own->second; }
    const auto expanded = [&](const std::string& path) { return path.starts_with("~/") ? home + path.substr(1) : path; };
    if (!is_program(environment, expanded(signing.program))) {
        return "the program that signs, `" + printable(signing.program, 200) + "`, is not installed";
    }
    if (signing.own_program) { return {}; }
    if (signing.format == "ssh") {
        if (signing.key.empty()) {
            return GitConfiguration(project.place().root).users_text("gpg.ssh.defaultKeyCommand").empty()
                       ? "gpg.format is ssh, and git's user.signingkey names no key"
                       : "";
        }
        if (signing.key.starts_with("key::") || signing.key.starts_with("ssh-") || signing.key.starts_with("ecdsa-") ||
            signing.key.starts_with("sk-")) {
            return {};
        }
        std::filesystem::path file = expanded(signing.key);
        if (file.is_relative()) { file = project.place().root / file; }
        std::error_code failure;
        return std::filesystem::is_regular_file(file, failure)
                   ? ""
                   : "user.signingkey names " + printable(signing.key, 200) + ", which is not a file";
    }
    if (signing.format != "openpgp") { return {}; }
    const auto repository = Repository::open(project.place().root);
    if (!repository.ok()) { return {}; }  // Reported elsewhere.
    std::string key = signing.key;
    if (key.empty()) {
        const PersonName committer = git_person(*repository, environment, "COMMITTER");
        key = committer.name + " <" + committer.email + ">";
    }
    ProcessRequest request =
        own_program({"gpg", "--batch", "--list-secret-keys", "--", key}, project.place().root.string(), environment);
    request.timeout = std::chrono::seconds(10);
    const auto outcome = project.processes().run(request, {});
    return outcome.ok() && !outcome->timed_out && outcome->exit_code != 0 ? "gpg has no secret key for " + printable(key, 200)
                                                                          : "";
}

/// Returns the place of a stage's `config` in its pipeline's file. Empty for a stage that takes it from the shipped pipeline.
std::string place_in_pipeline(const PipelineTemplate& pipeline, const StageTemplate& stage) {
    const auto document = load_yaml(pipeline.source);
    const auto* top = document.ok() ? document->value.if_object() : nullptr;
    const json::value* inside = top == nullptr ? nullptr : top->if_contains("pipeline");
    const json::value* stages = inside == nullptr || !inside->is_object() ? nullptr : inside->get_object().if_contains("stages");
    if (stages == nullptr || !stages->is_array()) { return pipeline.source; }
    for (std::size_t index = 0; index < stages->get_array().size(); ++index) {
        const auto* each = stages->get_array()[index].if_object();
        const json::value* name = each == nullptr ? nullptr : each->if_contains("name");
        if (name != nullptr && name->is_string() && name->get_string() == stage.name) {
            return document->where("/pipeline/stages/" + std::to_string(index) + "/config");
        }
    }
    return pipeline.source;
}

Error missing(const Project& project, PluginKind kind, const std::string& name, const std::string& where) {
    if (auto why = project.plugins().why_not(kind, name); why && why->code == "AF-PLUG-030") { return *why; }
    const std::string what(to_string(kind));
    return Error{"AF-CLI-013", "there is no plugin that provides the " + what + " `" + name + "`", where,
                 "`agentforge plugins list` shows all plugins; install the plugin or remove the name", ErrorKind::unavailable};
}

/// Makes the stage as the task will. A stage that is a process is checked without starting it.
Result<void> check_stage(Project& project, const PipelineTemplate& pipeline, const StageTemplate& stage) {
    PluginRegistry& plugins = project.plugins();
    if (!plugins.has(PluginKind::stage, stage.executor)) {
        return missing(project, PluginKind::stage, stage.executor,
                       place_of_stage(project.pipelines().origins(pipeline.name), stage.name, pipeline.source));
    }
    const json::object settings = plugin_settings(stage.config);
    if (const auto fit = plugins.check_settings(PluginKind::stage, stage.executor, settings); !fit.ok()) {
        Error error = fit.error();
        if (error.where.starts_with("settings of")) { error.where = place_in_pipeline(pipeline, stage); }
        return error;
    }
    const PluginManifest* const owner = plugins.owner(PluginKind::stage, stage.executor);
    if (owner != nullptr && !owner->command.empty()) { return check_pinned_files(*owner); }
    AF_CHECK(plugins.stage(stage.executor, settings));
    return {};
}

Result<void> check_tool(Project& project, const AgentDefinition& agent, const std::string& tool) {
    PluginRegistry& plugins = project.plugins();
    if (plugins.has(PluginKind::tool, tool)) {
        const PluginManifest* const owner = plugins.owner(PluginKind::tool, tool);
        if (owner != nullptr && !owner->command.empty()) { return check_pinned_files(*owner); }
        AF_CHECK(plugins.tool(tool));
        return {};
    }
    if (prefix_of(tool).empty()) { return missing(project, PluginKind::tool, tool, agent.source); }
    return check_tool_is_declared(plugins, &project.servers(), tool);
}

/// Runs each check of the stages' needs, in order, until `continues` returns false.
void check_each(Project& project, const PipelineTemplate& pipeline, std::size_t from_stage, bool with_models,
                const std::function<bool(Result<void>)>& continues) {
    std::set<std::string> roles;
    std::set<std::string> tools;
    for (std::size_t index = from_stage; index < pipeline.stages.size(); ++index) {
        const StageTemplate& stage = pipeline.stages[index];
        if (!continues(check_stage(project, pipeline, stage))) { return; }
        for (const std::string& role : roles_of(stage)) {
            const auto agent = project.agents().get(role);
            if (!agent.ok()) {
                if (!continues(agent.error())) { return; }
                continue;
            }
            if (roles.insert(role).second) {
                for (Error& problem : path_rule_problems(*agent)) {
                    if (!continues(std::move(problem))) { return; }
                }
            }
            for (const std::string& tool : agent->allowed_tools) {
                if (tools.insert(tool).second && !continues(check_tool(project, *agent, tool))) { return; }
            }
            if (!with_models) { continue; }
            if (!continues(project.check_price(*agent))) { return; }
            const auto model = project.model(*agent);
            if (!continues(model.ok() ? Result<void>() : Result<void>(model.error()))) { return; }
        }
    }
}

/// Refuses rules that no stage could use. One error names them all, since all are typos of the same person.
Result<void> check_path_rules(const Project& project, const PipelineTemplate& pipeline) {
    std::set<std::string> roles;
    std::vector<Error> problems;
    for (const StageTemplate& stage : pipeline.stages) {
        for (const std::string& role : roles_of(stage)) {
            const auto agent = project.agents().get(role);
            if (!agent.ok() || !roles.insert(role).second) { continue; }
            for (Error& problem : path_rule_problems(*agent)) { problems.push_back(std::move(problem)); }
        }
    }
    if (problems.empty()) { return {}; }
    if (problems.size() == 1) { return std::move(problems.front()); }
    Error all = problems.front();
    all.message = std::to_string(problems.size()) + " path rules cannot be used:";
    for (const Error& problem : problems) {
        all.message += "\n  " + problem.where + ": " + problem.message + " " + problem.remedy;
    }
    all.where.clear();
    all.remedy = "Correct them; `agentforge agents validate` checks them.";
    return all;
}

const char* setup_state(const SetupStep& step) {
    if (step.ready) { return " is fetched"; }
    return step.required ? " is not fetched: agentforge setup"
                         : " relies on installed packages (agentforge setup fetches the others)";
}

}  // namespace

std::vector<std::string> roles_of(const StageTemplate& stage) {
    std::vector<std::string> roles = stage.reviewers;
    if (!stage.agent.empty()) { roles.push_back(stage.agent); }
    return roles;
}

std::string place_of_stage(const std::vector<StageOrigin>& origins, std::string_view stage, const std::string& otherwise) {
    const auto found = std::ranges::find_if(
        origins, [&](const StageOrigin& origin) { return origin.stage == stage && origin.change != "removed"; });
    return found == origins.end() ? otherwise : found->where;
}

Result<void> check_stage_needs(const PluginRegistry& plugins, const PipelineTemplate& pipeline,
                               const std::vector<StageOrigin>& origins, const Beginning* beginning) {
    const StageNeeds needs = [&](const StageTemplate& stage) {
        std::vector<std::string> contracts = plugins.stage_needs(stage.executor, plugin_settings(stage.config));
        if (beginning != nullptr) { contracts.insert(contracts.end(), stage.prerequisites.begin(), stage.prerequisites.end()); }
        return contracts;
    };
    const auto found = beginning == nullptr ? find_unprovided(pipeline, needs) : find_unprovided(pipeline, needs, *beginning);
    if (!found) { return {}; }
    const StageTemplate& stage = pipeline.stages[found->stage];
    const std::string who = "stage " + stage.name +
                            (stage.executor == stage.name ? std::string() : ", run by `" + ellipsis(stage.executor, 60) + "`,");
    // By name, because a continued task has stages of other templates before those of this one.
    const auto removed = std::ranges::find_if(
        origins, [&](const StageOrigin& origin) { return origin.change == "removed" && origin.contract == found->contract; });
    return unprovided_error(*found, who,
                            removed == origins.end() ? place_of_stage(origins, stage.name, pipeline.source) : removed->where);
}

Result<void> check_plugins(Project& project, const PipelineTemplate& pipeline, const Beginning* beginning) {
    AF_CHECK(check_stage_needs(project.plugins(), pipeline, project.pipelines().origins(pipeline.name), beginning));
    AF_CHECK(check_path_rules(project, pipeline));
    Result<void> first;
    check_each(project, pipeline, 0, true, [&first](Result<void> checked) {
        first = std::move(checked);
        return first.ok();
    });
    return first;
}

std::vector<Error> plugin_problems(Project& project, const PipelineTemplate& pipeline, std::size_t from_stage) {
    std::vector<Error> problems;
    check_each(project, pipeline, from_stage, false, [&problems](Result<void> checked) {
        if (!checked.ok()) { problems.push_back(checked.error()); }
        return true;
    });
    return problems;
}

bool measures_anything(const PipelineTemplate& pipeline, const std::string& exit) {
    const std::string& last = exit.empty() ? pipeline.exit_stage : exit;
    for (const StageTemplate& stage : pipeline.stages) {
        if (!closing_gate(stage).empty() || stage.config.contains("verify_edits")) { return true; }
        if (stage.name == last) { break; }
    }
    return false;
}

Result<GateReadiness> check_gates(Project& project) {
    auto readiness = readiness_of_gates(project.task_workspace_options(), project.processes(), "");
    if (readiness.ok() || !readiness.error().where.starts_with("gates.")) { return readiness; }
    Error error = std::move(readiness).error();
    const auto of_gates = [&error](const std::string& key) { return key == error.where; };
    if (const GuardedSetting* const missed = first_missed(project.settings(), project.trust().left_out(), of_gates)) {
        return required_setting_error(*missed);
    }
    auto origin = project.settings().origin(written_key(error.where));
    if ((!origin || origin->layer == "built-in") && error.where == "gates.command") {
        origin = project.settings().origin("gates.language");
    }
    if (origin && origin->layer != "built-in") { error.where = origin->where; }
    return error;
}

Result<SuiteNow> measure_suite(Program& program, Project& project) {
    if (program.err_is_terminal) { program.err << "Running the tests of HEAD …\n" << std::flush; }
    // A person waits for the result. The task measures a suite that takes longer.
    constexpr std::chrono::seconds time_limit(60);
    const auto until = std::chrono::steady_clock::now() + time_limit;
    const auto measured = measure_head(project.task_workspace_options(), project.processes(), Stop{program.cancel, until});
    const bool stopped = program.cancel != nullptr && program.cancel->requested();
    if (!stopped && std::chrono::steady_clock::now() >= until) {
        return SuiteNow{true, "not measured: they take longer than 60 s (a task runs them before it calls a model)"};
    }
    AF_TRY(const GateReport report, measured);
    const json::value* const not_built = report.facts.if_contains("not_built");
    if (not_built != nullptr && *not_built == json::value(true) && !report.tests.empty()) {
        return SuiteNow{false, printable_lines(report.tests.front().message)};
    }
    if (report.tests.empty()) { return SuiteNow{true, "none yet"}; }
    const auto failing = fact_texts(report.facts, "failed_before");
    SuiteNow now{failing.empty(), std::to_string(report.tests.size()) + (report.tests.size() == 1 ? " test, " : " tests, ")};
    now.text += failing.empty() ? "none failing"
                                : std::to_string(failing.size()) + " failing: " + printable(failing.front(), 200) +
                                      (failing.size() > 1 ? ", …" : "");
    return now;
}

std::vector<std::string> gates_text(const GateReadiness& gates) {
    std::vector<std::string> lines;
    if (gates.scopes.empty()) { lines.emplace_back("gates: no language recognized yet; the files that the task writes decide"); }
    for (const ScopeReadiness& scope : gates.scopes) {
        std::string line =
            "gates" + (scope.directory.empty() ? "" : " of " + printable(scope.directory, 80)) + ": " + scope.language;
        const auto other = std::ranges::find_if(scope.tools, &ToolState::unsupported);
        if (other == scope.tools.end() && !scope.runner.empty() && scope.runner != scope.language) {
            line += ", tests by " + scope.runner;
        }
        line += scope.test_files == 0
                    ? ", no test suite yet"
                    : ", " + std::to_string(scope.test_files) + (scope.test_files == 1 ? " test file" : " test files");
        for (const ToolState& tool : scope.tools) {
            if (!tool.found) {
                line += "; `" + printable(tool.wanted(), 80) +
                        (tool.unsupported ? "` runs the tests, but cannot be measured" : "` is not installed (" + tool.use + ")");
            }
        }
        for (const SetupStep& step : scope.setup) { line += "; " + step.files.front() + setup_state(step); }
        lines.push_back(std::move(line));
    }
    return lines;
}

json::array gates_json(const GateReadiness& gates) {
    json::array list;
    for (const ScopeReadiness& scope : gates.scopes) {
        json::array tools;
        for (const ToolState& tool : scope.tools) {
            tools.push_back(
                json::object{{"program", tool.program}, {"use", tool.use}, {"needed", tool.needed}, {"installed", tool.found}});
        }
        json::array setup;
        for (const SetupStep& step : scope.setup) {
            setup.push_back(json::object{
                {"name", step.name}, {"file", step.files.front()}, {"ready", step.ready}, {"required", step.required}});
        }
        list.push_back(json::object{{"directory", scope.directory.empty() ? "." : scope.directory},
                                    {"language", scope.language},
                                    {"runner", scope.runner},
                                    {"test_files", scope.test_files},
                                    {"tools", std::move(tools)},
                                    {"setup", std::move(setup)}});
    }
    return list;
}

std::vector<DeliveryTool> delivery_tools(const Project& project, const std::map<std::string, std::string>& environment) {
    std::vector<DeliveryTool> tools;
    if (const Signing signing = signing_of(project); !signing.program.empty()) {
        const bool says_version = !signing.own_program && signing.format != "ssh";
        tools.push_back({signing.program, "signatures",
                         says_version ? std::vector<std::string>{"--version"} : std::vector<std::string>{}, true,
                         is_program(environment, signing.program)});
    }
    const DeliverySettings& delivery = project.services().delivery;
    if (delivery.type != DeliveryType::pr) { return tools; }
    const RemotePlace host = read_remote(GitConfiguration(project.place().root).text("remote." + delivery.remote + ".url"));
    for (const auto& [mark, program] : {std::pair("github", "gh"), std::pair("gitlab", "glab")}) {
        if (host.host.find(mark) != std::string::npos) {
            tools.push_back({program,
                             "pull requests; without it AgentForge prints the page to open",
                             {"--version"},
                             false,
                             is_on_path(environment, program)});
        }
    }
    return tools;
}

Result<json::object> check_sandbox(const ExecHelper& helper, const std::string& folder) {
    ProcessRequest request;
    request.argv = {"true"};
    request.directory = folder;
    request.environment = base_environment(current_environment());
    request.environment.erase("PATH");  // Then the system's PATH is used. Commands that need PATH report a wrong one.
    request.confinement.readable = {folder};
    AF_TRY(ProcessOutcome outcome, make_process_runner(helper)->run(request, {}));
    return std::move(outcome.confinement);
}

Result<void> check_delivery(Project& project, const std::map<std::string, std::string>& environment) {
    const DeliverySettings& delivery = project.services().delivery;
    const auto of_delivery = [](const std::string& key) { return key == "delivery.type" || key == "delivery.remote"; };
    if (const GuardedSetting* const missed = delivery.type == DeliveryType::pr
                                                 ? first_missed(project.settings(), project.trust().left_out(), of_delivery)
                                                 : nullptr) {
        return required_setting_error(*missed);
    }
    if (delivery.type == DeliveryType::pr &&
        GitConfiguration(project.place().root).text("remote." + delivery.remote + ".url").empty()) {
        return Error{"AF-CLI-053",
                     "delivery.type is pr, and the repository has no remote `" + printable(delivery.remote, 80) + "`",
                     project.place().root.string(),
                     "add it (git remote add " + printable(delivery.remote, 80) +
                         " URL), set another one with delivery.remote, or deliver something else (--deliver)",
                     ErrorKind::unavailable};
    }
    const Signing signing = signing_of(project);
    if (signing.program.empty()) { return {}; }
    const std::string why = signing_problem(project, signing, environment);
    if (why.empty()) { return {}; }
    const auto origin = project.settings().origin("delivery.sign");
    return Error{"AF-CLI-100", "cannot sign the commit: " + why,
                 delivery.sign == "always" && origin ? origin->where : "commit.gpgsign of git's configuration",
                 "check that `git commit -S` works here (user.signingkey, gpg.format), or set delivery.sign: never",
                 ErrorKind::unavailable};
}

}  // namespace agentforge::kernel
