// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <ostream>

#include "host/display.hpp"
#include "host/project.hpp"

namespace agentforge::kernel {

namespace {

enum class Verdict : unsigned char { good = 1, warning, bad };

struct Check {
    std::string name;
    Verdict verdict = Verdict::good;
    std::string detail;
};

std::string_view word(Verdict verdict) {
    switch (verdict) {
        case Verdict::good: return "ok";
        case Verdict::warning: return "warning";
        case Verdict::bad: return "FAILED";
    }
    return "?";
}

template <class T>
Check from(std::string name, const Result<T>& result, const std::string& good, Verdict otherwise = Verdict::bad) {
    if (result.ok()) { return {std::move(name), Verdict::good, good}; }
    return {std::move(name), otherwise, result.error().to_string()};
}

Check check_confinement(const ProductPaths& product, const std::string& folder) {
    const auto processes = make_process_runner(product.exec_helper);
    ProcessRequest request;
    request.argv = {"true"};
    request.directory = folder;
    request.environment = base_environment(current_environment());
    request.confinement.readable = {folder};
    const auto outcome = processes->run(request, {});
    if (!outcome.ok()) { return {"sandbox", Verdict::bad, outcome.error().to_string()}; }
    return {"sandbox", outcome->exit_code == 0 ? Verdict::good : Verdict::bad, "in force: " + json::serialize(outcome->confinement)};
}

Check check_program(const ProductPaths& product, const std::string& folder, std::string name, const std::vector<std::string>& argv) {
    const auto processes = make_process_runner(product.exec_helper);
    ProcessRequest request;
    request.argv = argv;
    request.directory = folder;
    request.environment = base_environment(current_environment());
    request.confinement.enabled = false;
    const auto outcome = processes->run(request, {});
    if (!outcome.ok()) { return {std::move(name), Verdict::warning, outcome.error().message}; }
    const std::string said = outcome->out.empty() ? outcome->err : outcome->out;
    return {std::move(name), outcome->exit_code == 0 ? Verdict::good : Verdict::warning, printable(said, 100)};
}

Check check_model(Project& project) {
    const std::string name = project.settings().text("llm.backend");
    auto backend = project.backend(name, project.settings().text("llm.model"));
    if (!backend.ok()) { return {"model", Verdict::warning, backend.error().to_string()}; }
    class Context final : public CallContext {
    public:
        [[nodiscard]] bool cancelled() const noexcept override { return false; }
        [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept override {
            return start_ + std::chrono::seconds(10);
        }
        void log(LogLevel, std::string_view, const json::object&) override {}
        void progress(std::string_view) override {}
        [[nodiscard]] std::chrono::system_clock::time_point now() override { return std::chrono::system_clock::now(); }

    private:
        std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    } context;
    const auto answer = (*backend)->check(context);
    return from("model", answer, name + ": " + (answer.ok() ? *answer : ""), Verdict::warning);
}

int run_doctor(Program& program) {
    std::vector<Check> checks;
    const auto product = ProductPaths::find();
    checks.push_back(from("installation", product, product.ok() ? product->config : ""));
    const auto place = ProjectPlace::find(program);
    checks.push_back(from("repository", place, place.ok() ? place->root.string() : ""));
    if (product.ok()) {
        const std::string folder = place.ok() ? place->root.string() : "/";
        checks.push_back(check_confinement(*product, folder));
        checks.push_back(check_program(*product, folder, "git", {"git", "--version"}));
        checks.push_back(check_program(*product, folder, "python3", {"python3", "--version"}));
        checks.push_back(check_program(*product, folder, "pytest", {"python3", "-m", "pytest", "--version"}));
    }
    if (product.ok() && place.ok()) {
        NullEventSink events;
        auto project = Project::open(program, events);
        checks.push_back(from("configuration", project, "settings, contracts, agents and pipelines are valid"));
        if (project.ok()) {
            const auto& plugins = (*project)->plugins();
            checks.push_back({"plugins", plugins.problems().empty() ? Verdict::good : Verdict::warning,
                              std::to_string(plugins.plugins().size()) + " found, " + std::to_string(plugins.problems().size()) + " with problems"});
            checks.push_back(check_model(**project));
        }
    }
    bool failed = false;
    json::array array;
    for (const Check& check : checks) {
        failed = failed || check.verdict == Verdict::bad;
        array.push_back(json::object{{"name", check.name}, {"verdict", word(check.verdict)}, {"detail", check.detail}});
    }
    if (program.json_output) {
        program.print_json({{"checks", std::move(array)}, {"healthy", !failed}});
    } else {
        for (const Check& check : checks) { program.out << word(check.verdict) << "\t" << check.name << ": " << check.detail << "\n"; }
    }
    return failed ? 1 : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Program& program) {
    CLI::App* command = app.add_subcommand("doctor", "Check what is needed: repository, sandbox, configuration, plugins, model");
    command->add_flag("--json", program.json_output, "Answer as JSON");
    command->footer("Example:  agentforge doctor");
    command->callback([&program] { program.command = [&program] { return run_doctor(program); }; });
}

}  // namespace agentforge::kernel
