// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <iostream>
#include <ostream>

#include "base/files.hpp"
#include "git/detected_repository.hpp"
#include "pipeline/gates_without_task.hpp"
#include "program/command_line.hpp"
#include "program/commands/config.hpp"
#include "program/project/auto_model.hpp"
#include "program/project/project.hpp"
#include "program/project/project_folder.hpp"
#include "program/project/task_preflight.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

/// What `init` detected, for the settings file and the terminal.
struct InitFindings {
    DetectedRepository repository;
    GateReadiness gates;                 ///< Without scopes: no language was recognised.
    std::string problem;                 ///< The fault in language files of the project.
    std::string command;                 ///< A command that might run the tests if no language is recognised: `make check`.
    std::vector<ModelCandidate> models;  ///< Those that could answer now, in the order in which `auto` tries them.
    bool names_backend = false;          ///< The settings name a backend.
};

/// Warns the user that the project is not trusted. Setting up a repository does not trust it.
void warn_not_trusted(Program& program, const TrustedSettings& loaded) {
    if (!loaded.trust.allowed()) { program.err << "agentforge: " << printable_lines(loaded.trust.refusal().to_string()) << "\n"; }
}

/// Uses the shipped languages and the project's own. Ignores the project's settings, which may be invalid.
Result<GateReadiness> detect_languages(const Program& program, const ProjectPlace& place, const ProductPaths& product,
                                       const std::vector<std::string>& files, std::string& problem) {
    GitTaskWorkspaceOptions options;
    options.repository = place.root.string();
    const auto state = state_directory(program.environment);
    options.state_directory = state.ok() ? *state : (place.agentforge / "cache").string();  // Nothing is written there.
    options.gates.languages_directory = product.config + "/languages";
    options.gates.more_languages = {(place.agentforge / "languages").string()};
    options.gates.conformance_directories = {product.config + "/conformance"};
    options.gates.environment = program.environment;
    const auto processes = make_process_runner(product.exec_helper);
    auto found = readiness_of_checkout(options, *processes, files);
    if (found.ok()) { return found; }
    // An invalid language file of the project does not stop the setup.
    problem = found.error().to_string();
    options.gates.more_languages.clear();
    return readiness_of_checkout(options, *processes, files);
}

/// Returns `check` or `test` if a Makefile in the top folder has that target.
std::string test_target(const std::filesystem::path& root) {
    for (const char* name : {"GNUmakefile", "makefile", "Makefile"}) {
        const auto text = read_file(root / name);
        if (!text.ok()) { continue; }
        for (const char* target : {"check", "test"}) {
            if (text->starts_with(std::string(target) + ":") ||
                text->find("\n" + std::string(target) + ":") != std::string::npos) {
                return target;
            }
        }
    }
    return {};
}

Result<InitFindings> find_out(const Program& program, const ProjectPlace& place, const ProductPaths& product,
                              const Settings* settings) {
    InitFindings found;
    AF_TRY(found.repository, detect_repository(place.root));
    AF_TRY(found.gates, detect_languages(program, place, product, found.repository.files, found.problem));
    if (found.gates.scopes.empty()) { found.command = test_target(place.root); }
    if (settings != nullptr) {
        ModelSettings any = read_model_settings(*settings, "");
        found.names_backend = !any.backend.empty() && any.backend != "auto";
        if (const auto candidates = model_candidates(any, program.environment); candidates.ok()) {
            for (const ModelCandidate& candidate : *candidates) {
                // A request shows whether a local server runs. For a command, being installed is enough.
                const bool absent =
                    !candidate.settings.preset.empty() && !is_on_path(program.environment, candidate.settings.preset);
                if (candidate.missing.empty() && !absent && !candidate.needs_model && candidate.settings.base_url.empty()) {
                    found.models.push_back(candidate);
                }
            }
        }
    }
    return found;
}

/// `python, 12 source files, 3 test files`
std::string counted_files(const ScopeReadiness& scope) {
    return scope.language + ", " + std::to_string(scope.source_files) +
           (scope.source_files == 1 ? " source file, " : " source files, ") +
           (scope.test_files == 0 ? "no tests yet"
                                  : std::to_string(scope.test_files) + (scope.test_files == 1 ? " test file" : " test files"));
}

std::string folder_of_scope(const ScopeReadiness& scope) {
    return scope.directory.empty() ? "." : printable(scope.directory, 100);
}

/// `gates: {language: python, scopes: {api: go}}`
std::string languages_setting(const GateReadiness& gates) {
    std::string language;
    std::string scopes;
    for (const ScopeReadiness& scope : gates.scopes) {
        if (scope.directory.empty()) {
            language = scope.language;
        } else {
            scopes += (scopes.empty() ? "" : ", ") + json::serialize(json::string(printable(scope.directory, 100))) + ": " +
                      scope.language;
        }
    }
    const std::string comma = language.empty() || scopes.empty() ? "" : ", ";
    return "gates: {" + (language.empty() ? "" : "language: " + language) + comma +
           (scopes.empty() ? "" : "scopes: {" + scopes + "}") + "}";
}

/// Returns the remote's address without user and password. Returns a folder unchanged.
std::string shown_remote(const DetectedRepository& repository) {
    const RemotePlace place = read_remote(repository.remote_address);
    return place.host.empty() ? repository.remote_address : place.host + "/" + place.path;
}

/// Returns the text of the settings file: only what applies to everyone who works on the project. The author and the model are
/// personal.
std::string settings_text(const InitFindings& found) {
    const auto comment = [](const std::string& text) { return "# " + printable(text, 200) + "\n"; };
    std::string text =
        "# Settings of this project for agentforge. Commit this file. `agentforge config show --origin` shows the settings in force.\n"
        "# `agentforge help docs/settings.md` lists every key; an unknown key is an error.\n";
    std::string keys;
    const auto& scopes = found.gates.scopes;
    if (scopes.size() == 1) {
        text += comment("The language is detected from the files: " + counted_files(scopes.front()) + ".");
    }
    if (scopes.size() > 1) { text += "# Each folder's language is detected from the files:\n"; }
    for (std::size_t index = 0; scopes.size() > 1 && index < scopes.size(); ++index) {
        text += comment("  " + folder_of_scope(scopes[index]) + "  " + counted_files(scopes[index]));
    }
    if (!scopes.empty()) { text += "# " + languages_setting(found.gates) + "     would set this permanently.\n"; }
    if (!found.command.empty()) {
        text +=
            "# No language was recognized. If this command runs the tests and prints TAP, or writes JUnit XML below $AGENTFORGE_RESULTS (docs/gates.md):\n"
            "# gates: {language: generic, command: [make, " +
            found.command + "]}\n";
    }
    for (const ScopeReadiness& scope : scopes) {
        for (const SetupStep& step : scope.setup) {
            text += comment(
                step.files.front() +
                " lists dependencies; `agentforge setup` downloads them, once for each version of the file. Gates read them and have no network.");
        }
    }
    if (found.repository.python) {
        text += comment(
            "Python's checks run in the .venv, venv, .tox or .nox that its user made here and did not commit; gates.programs.python3 names another interpreter.");
    }
    if (!found.repository.hooks.empty()) {
        std::string names;
        for (const std::string& name : found.repository.hooks) { names += (names.empty() ? "" : ", ") + name; }
        text += comment("Commit hooks run, confined, before each delivery: " + names +
                        ". `delivery: {hooks: skip}` leaves them out.");
    }
    if (!found.repository.secret_files.empty()) {
        std::string list;
        for (const std::string& file : found.repository.secret_files) { list += (list.empty() ? "" : ", ") + file; }
        keys += "# The contents of these files are hidden from models and journals.\nsecrets:\n  files: [" + list + "]\n";
    }
    return text + keys;
}

json::object findings_json(const InitFindings& found) {
    const DetectedRepository& repository = found.repository;
    const ScopeReadiness none;
    const ScopeReadiness& whole = found.gates.scopes.empty() ? none : found.gates.scopes.front();
    json::array models;
    for (const ModelCandidate& each : found.models) { models.emplace_back(each.name); }
    return {{"language", whole.language},
            {"source_files", whole.source_files},
            {"test_files", whole.test_files},
            {"scopes", gates_json(found.gates)},
            {"branch", repository.branch},
            {"remote", repository.remote},
            {"remote_place", shown_remote(repository)},
            {"author", repository.author},
            {"signing", repository.signing},
            {"hooks", json::array(repository.hooks.begin(), repository.hooks.end())},
            {"secret_files", json::array(repository.secret_files.begin(), repository.secret_files.end())},
            {"models", std::move(models)},
            {"agentforge_is_ignored", repository.agentforge_is_ignored}};
}

std::string languages_text(const InitFindings& found) {
    const auto& scopes = found.gates.scopes;
    if (scopes.empty()) {
        return "none with gates (docs/gates.md)" +
               (found.command.empty() ? "" : "; perhaps gates: {language: generic, command: [make, " + found.command + "]}");
    }
    std::string text;
    for (const ScopeReadiness& scope : scopes) {
        text += (text.empty() ? "" : "\n            ") + (scopes.size() == 1 ? "" : folder_of_scope(scope) + ": ") +
                counted_files(scope);
        for (const ToolState& tool : scope.tools) {
            if (tool.needed && !tool.found) {
                text += "\n            `" + tool.wanted() +
                        (tool.unsupported ? "` cannot be measured: " : "` is not installed: ") + tool.install;
            }
        }
        for (const SetupStep& step : scope.setup) {
            if (!step.ready) {
                text += "\n            " + printable(step.files.front(), 100) +
                        (step.required ? ": run `agentforge setup` next to fetch its dependencies"
                                       : ": `agentforge setup` fetches its dependencies, unless your system has them all");
            }
        }
    }
    return text;
}

std::vector<std::string> names_of(const std::vector<ModelCandidate>& models) {
    std::vector<std::string> names;
    for (const ModelCandidate& each : models) { names.push_back(each.name); }
    return names;
}

void print_findings(Program& program, const InitFindings& found) {
    const DetectedRepository& repository = found.repository;
    const auto listed = [](const std::vector<std::string>& names) {
        std::string text;
        for (const std::string& name : names) { text += (text.empty() ? "" : ", ") + name; }
        return text;
    };
    program.out << "Found:\n"
                << "  language  " << languages_text(found) << "\n"
                << "  branch    " << (repository.branch.empty() ? "none, HEAD is detached" : printable(repository.branch))
                << (repository.has_commit ? "" : ", without a commit: a task needs one to start from")
                << (repository.remote.empty()
                        ? ""
                        : "; remote " + printable(repository.remote) + " (" + printable(shown_remote(repository)) + ")")
                << "\n"
                << "  commits   "
                << (repository.author.empty() ? "as AgentForge: git has no user.name and user.email"
                                              : "as " + printable(repository.author))
                << (repository.signing.empty() ? "" : ", signed (" + printable(repository.signing) + ")") << "\n";
    if (!repository.hooks.empty()) {
        program.out << "  hooks     " << listed(repository.hooks) << ": run, confined, before each delivery\n";
    }
    if (!repository.secret_files.empty()) {
        program.out << "  secrets   " << listed(repository.secret_files) << ": hidden from models and journals\n";
    }
    if (!found.models.empty()) { program.out << "  models    " << listed(names_of(found.models)) << "\n"; }
}

/// Returns the current result of the project's tests, measured as in a task. Without a commit or a language, or with invalid
/// settings, runs nothing. Errors: everything that would stop a task before its first model call.
Result<std::string> measure_tests(Program& program, const InitFindings& found, bool settings_are_read) {
    if (!settings_are_read || !found.repository.has_commit || found.gates.scopes.empty()) { return std::string(); }
    NullProgress progress;
    auto project = Project::open(program, progress);
    if (!project.ok()) { return std::string(); }
    AF_TRY(const GateReadiness gates, check_gates(**project));
    const auto can = check_can_measure(gates, (*project)->settings().text("gates.setup"));
    if (!can.ok() && can.error().code == "AF-GATE-100") { return std::string(); }  // `agentforge setup` comes next.
    if (!can.ok()) { return can.error(); }
    AF_TRY(const SuiteNow suite, measure_suite(program, **project));
    return suite.text;
}

/// Asks which model to use and writes it into the user's own settings, which no repository can change.
int ask_for_model(Program& program, const std::vector<ModelCandidate>& models) {
    program.out
        << "Which model should your tasks use? The answer goes into ~/.agentforge/config.yaml and applies to all projects.\n";
    for (std::size_t index = 0; index < models.size(); ++index) {
        const ModelSettings& settings = models[index].settings;
        program.out << "  " << index + 1 << "  " << models[index].name
                    << (settings.preset.empty() ? "" : "  (the `" + settings.preset + "` command)")
                    << (settings.model.empty() ? "" : "  (" + printable(settings.model, 100) + ")") << "\n";
    }
    program.out << "Number (empty: each task uses the first that answers): " << std::flush;
    std::string said;
    std::getline(std::cin, said);
    std::size_t number = 0;
    const auto read = std::from_chars(said.data(), said.data() + said.size(), number);
    if (number == 0 || number > models.size() || read.ptr != said.data() + said.size()) {
        program.out << (said.empty() ? "" : "`" + printable(said, 40) + "` is not one of these numbers. ")
                    << "Nothing was written; each task uses the first that answers.\n";
        return 0;
    }
    const ModelSettings& chosen = models[number - 1].settings;
    for (const auto& [key, value] :
         {std::pair{"llm.backend", chosen.backend}, {"llm.preset", chosen.preset}, {"llm.model", chosen.model}}) {
        if (value.empty()) { continue; }
        if (const int code = set_user_setting(program, key, value); code != 0) { return code; }
    }
    return 0;
}

/// Prints the remaining steps before the first task.
int choose_model(Program& program, const InitFindings& found) {
    const bool has_model = found.names_backend || !found.models.empty();
    const auto home = program.environment.find("HOME");
    const bool can_write = home != program.environment.end() && !home->second.empty();
    const bool asks =
        !found.names_backend && !found.models.empty() && program.in_is_terminal && program.out_is_terminal && can_write;
    const int code = asks ? ask_for_model(program, found.models) : 0;
    if (!has_model) { program.out << "Next: choose a model, one of\n" << program.with_place(model_help()); }
    program.out << (has_model ? "Next: " : "and then: ") << program.with_place("agentforge start") << " \"what you want\"\n";
    if (has_model && !found.names_backend && !asks) {
        program.out << "  It uses the first model that answers; docs/models.md shows how to choose another.\n";
    }
    return code;
}

int run_init(Program& program) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const auto product = ProductPaths::find();
    if (!product.ok()) { return program.fail(product.error()); }
    if (const auto made = prepare_project_folder(*place, true); !made.ok()) { return program.fail(made.error()); }
    for (const char* folder : {"config", "agents", "pipelines", "contracts", "conformance", "orchestration"}) {
        if (const auto made = make_directories(place->agentforge / folder); !made.ok()) { return program.fail(made.error()); }
    }
    const auto loaded = load_settings(program, *place, *product);
    const auto found = find_out(program, *place, *product, loaded.ok() ? loaded->settings.get() : nullptr);
    if (!found.ok()) { return program.fail(found.error()); }
    const std::filesystem::path settings = place->agentforge / "config" / "settings.yaml";
    const auto written = create_file_exclusive(settings, settings_text(*found), Durability::synced);
    const bool existed = !written.ok() && written.error().kind == ErrorKind::conflict;
    if (!written.ok() && !existed) { return program.fail(written.error()); }
    if (loaded.ok()) {
        warn_not_trusted(program, *loaded);
    } else {
        program.err << "agentforge: " << printable_lines(loaded.error().to_string()) << "\n";
    }
    if (!found->problem.empty()) { program.err << "agentforge: " << printable_lines(found->problem) << "\n"; }
    if (found->repository.agentforge_is_ignored) {
        program.err
            << "agentforge: an ignore file of the repository ignores .agentforge, so its settings will not be committed; .agentforge/.gitignore already ignores the tasks' files\n";
    }
    const auto tests = measure_tests(program, *found, loaded.ok());
    if (program.json_output) {
        json::object object{{"project", place->root.string()},
                            {"settings", settings.string()},
                            {"existed", existed},
                            {"found", findings_json(*found)}};
        if (!tests.ok()) { return program.fail(tests.error()); }
        if (!tests->empty()) { object["tests"] = *tests; }
        program.print_json(object);
        return 0;
    }
    program.out << (existed ? "Already set up: " : "Set up: ") << place->agentforge.string() << "\n";
    print_findings(program, *found);
    if (!tests.ok()) { return program.fail(tests.error()); }
    if (!tests->empty()) { program.out << "  tests     " << *tests << "\n"; }
    if (!loaded.ok()) {
        program.out << "Next: correct the settings, then: " << program.with_place("agentforge start") << " \"what you want\"\n";
        return 0;
    }
    return choose_model(program, *found);
}

}  // namespace

void add_init(CLI::App& app, Program& program) {
    const Command command = add_subcommand(
        app, "init", "Set up this repository: detect what it uses, and create .agentforge with settings to keep in git");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Example:  agentforge init");
    command->callback([&program] { program.command = [&program] { return run_init(program); }; });
}

}  // namespace agentforge::kernel
