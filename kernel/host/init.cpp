// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "base/files.hpp"
#include "host/command_line.hpp"
#include "host/display.hpp"
#include "host/project.hpp"

namespace agentforge::kernel {

namespace {

/// A repository that somebody else made is not trusted by setting it up; the user hears that there is something to look at.
void name_what_is_not_trusted(Program& program, const ProjectPlace& place) {
    const auto product = ProductPaths::find();
    if (!product.ok()) { return; }
    const auto loaded = load_settings(program, place, *product);
    if (loaded.ok() && !loaded->trust.allowed()) { program.err << "agentforge: " << printable_lines(loaded->trust.refusal().to_string()) << "\n"; }
}

constexpr std::string_view settings_file =
    "# Settings of this project for agentforge. `agentforge doctor` says what is in force.\n"
    "# Every key is listed in docs/settings.md of the product; an unknown key is an error.\n"
    "{}\n";

int run_init(Program& program) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    if (const auto made = prepare_project_folder(*place, true); !made.ok()) { return program.fail(made.error()); }
    for (const char* folder : {"config", "agents", "pipelines", "contracts", "conformance", "orchestration"}) {
        if (const auto made = make_directories(place->agentforge / folder); !made.ok()) { return program.fail(made.error()); }
    }
    const std::filesystem::path settings = place->agentforge / "config" / "settings.yaml";
    const auto written = create_file_exclusive(settings, settings_file, Durability::synced);
    const bool existed = !written.ok() && written.error().kind == ErrorKind::conflict;
    if (!written.ok() && !existed) { return program.fail(written.error()); }
    name_what_is_not_trusted(program, *place);
    if (program.json_output) {
        program.print_json({{"project", place->root.string()}, {"settings", settings.string()}, {"existed", existed}});
        return 0;
    }
    program.out << (existed ? "Already set up: " : "Set up: ") << place->agentforge.string() << "\n"
                << "Next: choose a model, one of\n"
                << model_help() << "and then: agentforge start \"what you want\"\n";
    return 0;
}

}  // namespace

void add_init(CLI::App& app, Program& program) {
    const Command command = add_subcommand(app, "init", "Set up this repository: makes .agentforge with settings to keep in git");
    add_flag(*command, "--json", program.json_output, "Answer as JSON");
    command->footer("Example:  agentforge init");
    command->callback([&program] { program.command = [&program] { return run_init(program); }; });
}

}  // namespace agentforge::kernel
