// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/text.hpp"
#include "git/checkout_change.hpp"
#include "program/command_line.hpp"
#include "program/commands/servers.hpp"
#include "program/project/project.hpp"
#include "program/project/task_preflight.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

enum class Verdict : unsigned char { good = 1, absent, warning, bad };

struct Check {
    std::string name;
    Verdict verdict = Verdict::good;
    std::string detail;
};

std::string_view word(Verdict verdict) {
    switch (verdict) {
        case Verdict::good:
            return "ok";
        case Verdict::absent:
            return "-";
        case Verdict::warning:
            return "warning";
        case Verdict::bad:
            return "FAILED";
    }
    return "?";
}

template <class T>
Check from(std::string name, const Result<T>& result, const std::string& good, Verdict otherwise = Verdict::bad) {
    if (result.ok()) { return {std::move(name), Verdict::good, good}; }
    return {std::move(name), otherwise, result.error().to_string()};
}

/// Returns the confinement in force: `network namespace, landlock 7, …`.
std::string confinement_text(const json::object& confinement) {
    std::string text;
    for (const auto& [key, value] : confinement) {
        if (value.is_bool() && !value.get_bool()) { continue; }
        std::string name(key);
        std::replace(name.begin(), name.end(), '_', ' ');
        text += (text.empty() ? "" : ", ") + name;
        if (!value.is_bool()) { text += " " + (value.is_string() ? std::string(value.get_string()) : json::serialize(value)); }
    }
    return text;
}

/// Reports gaps that the user accepted, and parts that the kernel can only monitor. Neither is an error.
Check check_confinement(const ExecHelper& helper, const std::string& folder) {
    const auto in_force = check_sandbox(helper, folder);
    if (!in_force.ok()) { return {"sandbox", Verdict::bad, in_force.error().to_string()}; }
    return {"sandbox", in_force->contains("open_gaps") ? Verdict::warning : Verdict::good, confinement_text(*in_force)};
}

/// Runs outside the project's folders: rustup, yarn and others run programs that files in the current folder name.
Check check_program(const ProductPaths& product, std::string name, const std::vector<std::string>& argv) {
    const auto processes = make_process_runner(product.exec_helper);
    ProcessRequest request;
    request.argv = argv;
    request.directory = "/";
    request.environment = base_environment(current_environment());
    request.confinement.enabled = false;
    const auto outcome = processes->run(request, {});
    if (!outcome.ok()) { return {std::move(name), Verdict::warning, outcome.error().message}; }
    const std::string said = first_line(outcome->out.empty() ? outcome->err : outcome->out);
    return {std::move(name), outcome->exit_code == 0 ? Verdict::good : Verdict::warning, printable(said, 100)};
}

/// Checks the model in use. If it is `auto` or not named, also checks all candidates.
std::vector<Check> check_model(Project& project, Program& program) {
    const ModelSettings settings = read_model_settings(project.settings(), "");
    std::vector<Check> checks;
    if (!settings.backend.empty() && settings.backend != "auto") {
        auto backend = project.backend(settings.backend, settings.model);
        const auto answer = backend.ok() ? check_backend(*backend, program) : Result<std::string>(backend.error());
        checks.push_back(from("model", answer, settings.backend + ": " + (answer.ok() ? *answer : ""), Verdict::warning));
        return checks;
    }
    const auto reached = project.reach_models(settings, false);
    if (!reached.ok()) { return {{"model", Verdict::warning, reached.error().to_string()}}; }
    std::string first;
    for (const auto& one : *reached) {
        if (first.empty() && one.answer.ok()) { first = one.candidate.name; }
        checks.push_back(one.answer.ok() ? Check{"model " + one.candidate.name, Verdict::good, *one.answer}
                                         : Check{"model " + one.candidate.name, Verdict::absent,
                                                 one.answer.error().message +
                                                     (one.candidate.needs_model && one.answer.error().code == "AF-LLM-002"
                                                          ? "; set llm.model to use it"
                                                          : "")});
    }
    const bool chosen = settings.backend == "auto";
    const std::string found =
        first.empty() ? "none of these is reachable" : (chosen ? "auto: " : "llm.backend is not set; `auto` would be ") + first;
    const auto none = project.backend(settings.backend, settings.model);
    checks.insert(checks.begin(), {"model", chosen && !first.empty() ? Verdict::good : Verdict::warning,
                                   chosen || none.ok() ? found : found + "\n" + none.error().to_string()});
    return checks;
}

Check check_secrets(const Project& project) {
    const ProjectSecrets& secrets = project.secrets();
    std::string detail = "hides " + std::to_string(secrets.known) + (secrets.known == 1 ? " known value" : " known values") +
                         " and keys in " + std::to_string(secrets.rules) + " known formats";
    for (const std::string& weak : secrets.too_weak) { detail += "\n" + weak + ", so it is not searched for"; }
    for (const std::string& file : secrets.missing) { detail += "\n" + file + " of secrets.files does not exist"; }
    return {"secrets", secrets.too_weak.empty() && secrets.missing.empty() ? Verdict::good : Verdict::warning,
            printable_lines(detail)};
}

/// Checks the models of roles that differ from the project's, each once.
std::vector<Check> check_models_of_roles(Project& project, Program& program) {
    std::vector<ModelSettings> seen{read_model_settings(project.settings(), "")};
    std::vector<Check> checks;
    for (const std::string& role : project.agents().roles()) {
        const ModelSettings chosen = read_model_settings(project.settings(), role);
        if (std::find(seen.begin(), seen.end(), chosen) != seen.end()) { continue; }
        seen.push_back(chosen);
        auto backend = project.backend(chosen.backend, chosen.model, role);
        const auto answer = backend.ok() ? check_backend(*backend, program) : Result<std::string>(backend.error());
        checks.push_back(
            from("model of " + role, answer, chosen.backend + ": " + (answer.ok() ? *answer : ""), Verdict::warning));
    }
    return checks;
}

/// Reports a required program, with its version if it prints one.
Check check_tool(const ProductPaths& product, std::string name, const std::string& program, const std::string& use,
                 const std::string& install, const std::vector<std::string>& version, bool needed, bool found) {
    if (!found) {
        return {std::move(name), needed ? Verdict::warning : Verdict::absent,
                "`" + printable(program, 200) + "` is not installed; it is used for " + use +
                    (install.empty() ? "" : "\n" + install)};
    }
    if (version.empty()) { return {std::move(name), Verdict::good, "installed, for " + use}; }
    std::vector<std::string> argv{program};
    argv.insert(argv.end(), version.begin(), version.end());
    Check check = check_program(product, std::move(name), argv);
    if (program.find('/') != std::string::npos) { check.detail += ", " + printable(program, 200); }
    return check;
}

/// Runs the project's tests as a task would before it asks a model.
Check check_suite(Program& program, Project& project) {
    const auto suite = measure_suite(program, project);
    if (!suite.ok()) { return {"tests", Verdict::bad, suite.error().to_string()}; }
    return {"tests", suite->passes ? Verdict::good : Verdict::warning, suite->text};
}

/// Checks what gates and delivery need in this project: its languages, their programs, the dependencies in its lockfiles.
std::vector<Check> check_measuring(Program& program, Project& project) {
    std::vector<Check> checks;
    const auto gates = check_gates(project);
    if (!gates.ok()) {
        const bool unborn = gates.error().code == "AF-GIT-005";
        return {{"gates", unborn ? Verdict::warning : Verdict::bad, gates.error().to_string()}};
    }
    std::string text;
    for (const std::string& line : gates_text(*gates)) {
        text += (text.empty() ? "" : "\n") + line.substr(line.starts_with("gates: ") ? 7 : 0);
    }
    const auto can = check_can_measure(*gates, project.settings().text("gates.setup"));
    const Verdict found = gates->scopes.empty() ? Verdict::warning : Verdict::good;
    checks.push_back({"gates", can.ok() ? found : Verdict::bad, can.ok() ? text : text + "\n" + can.error().to_string()});
    std::vector<std::string> seen;
    for (const ScopeReadiness& scope : gates->scopes) {
        for (const ToolState& tool : scope.tools) {
            if (std::ranges::find(seen, tool.program) != seen.end()) { continue; }
            seen.push_back(tool.program);
            checks.push_back(check_tool(project.product(), tool.name, tool.program, scope.language + "'s " + tool.use,
                                        tool.install, tool.version, tool.needed, tool.found));
        }
    }
    if (can.ok() && !gates->scopes.empty()) { checks.push_back(check_suite(program, project)); }
    for (const DeliveryTool& tool : delivery_tools(project, program.environment)) {
        checks.push_back(
            check_tool(project.product(), tool.program, tool.program, tool.use, "", tool.version, tool.needed, tool.found));
    }
    if (const auto delivery = check_delivery(project, program.environment); !delivery.ok()) {
        checks.push_back({"delivery", Verdict::warning, delivery.error().to_string()});
    }
    return checks;
}

/// Reports problems of the discovered plugins, and what the default pipeline lacks.
Check check_the_plugins(Project& project) {
    std::vector<Error> problems = project.plugins().problems();
    const std::string name = project.settings().text("pipeline.default");
    const auto pipeline = project.pipelines().get(name);
    const std::vector<Error> missed = pipeline.ok() ? plugin_problems(project, *pipeline) : std::vector<Error>{pipeline.error()};
    std::string detail =
        std::to_string(project.plugins().plugins().size()) + " found, " + std::to_string(problems.size()) + " with problems";
    if (!missed.empty()) { detail += "; pipeline `" + name + "` cannot run"; }
    problems.insert(problems.end(), missed.begin(), missed.end());
    for (const Error& problem : problems) { detail += "\n" + printable_lines(problem.to_string()); }
    if (!missed.empty()) { return {"plugins", Verdict::bad, std::move(detail)}; }
    return {"plugins", problems.empty() ? Verdict::good : Verdict::warning, std::move(detail)};
}

/// How a handler reaches people.
std::string way_of(const std::string& handler) {
    if (handler == "file") { return "files in .agentforge/escalations"; }
    if (handler == "console") { return "questions on the terminal"; }
    if (handler == "webhook") { return "messages to your webhooks"; }
    return "plugin " + printable(handler, 60);
}

Check check_people(Program& program, Project& project) {
    std::string handlers;
    for (const std::string& name : project.settings().list("escalation.handlers")) {
        handlers += (handlers.empty() ? "" : ", ") + way_of(name);
    }
    return from(
        "notifications",
        check_handlers(project.settings(), project.plugins(), project.network(), project.trust().left_out(), program.environment),
        handlers);
}

Check check_server(const ServerReport& server) {
    const Verdict verdict = server.error || !server.problems.empty() ? Verdict::warning : Verdict::good;
    std::string detail =
        server.error ? server.error->to_string() : std::to_string(server.tools.size()) + " tools; " + server.about;
    for (const Error& problem : server.problems) { detail += "\n" + problem.to_string(); }
    return {"server " + printable(server.name, 60), verdict, printable(detail, 3000)};
}

/// Adds the checks that need an open project. Redacts its secrets in all details so far.
void check_open_project(Program& program, Project& project, std::vector<Check>& checks) {
    checks.push_back(check_the_plugins(project));
    for (Check& check : check_measuring(program, project)) { checks.push_back(std::move(check)); }
    checks.push_back(check_secrets(project));
    checks.push_back(check_people(program, project));
    for (Check& check : check_model(project, program)) { checks.push_back(std::move(check)); }
    for (Check& check : check_models_of_roles(project, program)) { checks.push_back(std::move(check)); }
    for (Check& check : checks) { check.detail = project.secrets().redactor->redact(std::move(check.detail)); }
    for (const ServerReport& server : try_servers(project, program)) { checks.push_back(check_server(server)); }
}

void check_project(Program& program, const ProductPaths& product, const ProjectPlace& place, std::vector<Check>& checks) {
    NullProgress progress;
    auto project = Project::open(program, progress);
    checks.push_back(
        check_confinement(project.ok() ? (*project)->exec_helper() : ExecHelper(product.exec_helper), place.root.string()));
    checks.push_back(from("configuration", project, "settings, contracts, agents and pipelines are valid"));
    if (project.ok()) { check_open_project(program, **project, checks); }
}

void print_check(Program& program, const Check& check) {
    std::string detail = printable_lines(check.detail);
    while (detail.ends_with('\n')) { detail.pop_back(); }
    for (std::size_t at = detail.find('\n'); at != std::string::npos; at = detail.find('\n', at + 25)) {
        detail.insert(at + 1, 24, ' ');
    }
    program.out << fmt::format("{:<8} {:<14} {}\n", word(check.verdict), check.name, detail);
}

void print_as_json(Program& program, const std::vector<Check>& checks, bool healthy) {
    json::array array;
    for (const Check& check : checks) {
        array.push_back(json::object{{"name", check.name}, {"verdict", word(check.verdict)}, {"detail", check.detail}});
    }
    program.print_json({{"checks", std::move(array)}, {"healthy", healthy}});
}

int run_doctor(Program& program) {
    std::vector<Check> checks;
    const auto product = ProductPaths::find();
    checks.push_back(from("installation", product, product.ok() ? product->config : ""));
    const auto place = ProjectPlace::find(program);
    checks.push_back(from("repository", place, place.ok() ? place->root.string() : ""));
    if (product.ok()) { checks.push_back(check_program(*product, "git", {"git", "--version"})); }
    if (product.ok() && !place.ok()) { checks.push_back(check_confinement(product->exec_helper, "/")); }
    if (place.ok()) {
        if (const auto begun = CheckoutChange::unfinished(apply_folder(place->agentforge))) {
            checks.push_back({"checkout", Verdict::warning, begun->description() + "; " + begun->remedy()});
        }
    }
    if (product.ok() && place.ok()) { check_project(program, *product, *place, checks); }
    const bool failed = std::ranges::any_of(checks, [](const Check& check) { return check.verdict == Verdict::bad; });
    if (program.json_output) {
        print_as_json(program, checks, !failed);
    } else {
        for (const Check& check : checks) { print_check(program, check); }
    }
    return failed ? 1 : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Program& program) {
    const Command command = add_subcommand(
        app, "doctor", "Check the prerequisites: repository, sandbox, configuration, plugins, the project's own tools, model");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge doctor");
    command->callback([&program] {
        program.wraps = true;
        program.command = [&program] { return run_doctor(program); };
    });
}

}  // namespace agentforge::kernel
