// SPDX-License-Identifier: Apache-2.0
#include "program/commands/plugins_check.hpp"

#include <cmath>
#include <memory>
#include <ostream>

#include "plugins/check/check.hpp"
#include "plugins/exit_guard.hpp"
#include "program/command_line.hpp"
#include "program/program.hpp"
#include "program/terminal/display.hpp"
#include "tools/arguments_check.hpp"
#include "tools/workspace/role_workspace.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* child_command = "check-child";

int check(Program& program, const std::string& file, double timeout_s) {
    CheckOptions options;
    options.file = (program.directory / file).string();  // Respects -C; an absolute path is unchanged.
    options.call_limit = std::chrono::milliseconds(std::llround(timeout_s * 1000));
    options.program = "/proc/self/exe";
    std::error_code failure;
    if (const auto real = std::filesystem::read_symlink(options.program, failure); !failure) { options.program = real.string(); }
    options.arguments = {"plugins", child_command};
    options.environment = program.environment;
    const auto report = check_plugin(options, [&program] { return program.cancel != nullptr && program.cancel->requested(); });
    if (!report.ok()) { return program.fail(report.error()); }
    if (program.json_output) {
        program.print_json(check_json(*report));
    } else {
        program.out << printable_lines(check_text(*report));
    }
    return report->passed() ? 0 : 1;
}

int child() {
    exit_guard::expect_exit();  // The parent reports which call ended the process.
    CheckHooks hooks;
    hooks.arguments = [](std::string_view tool, const json::object& schema, json::object& arguments) {
        return check_arguments(tool, schema, arguments);
    };
    hooks.workspace = [](const std::string& folder) -> Result<std::shared_ptr<Workspace>> {
        AF_TRY(auto opened, RoleWorkspace::open(folder, RolePaths()));
        return std::shared_ptr<RoleWorkspace>(std::move(opened));
    };
    return exercise_plugin(hooks);
}

}  // namespace

void add_plugins_check(CLI::App& group, Program& program) {
    struct Given {
        std::string file;
        double timeout_s = 5;
    };
    const auto given = std::make_shared<Given>();
    const Command check_command = add_subcommand(group, "check", "Test one plugin in a separate process");
    add_option(*check_command, "FILE", given->file, "The plugin's library, its plugin.json, or their folder")
        ->type_name("FILE")
        ->required();
    add_flag(*check_command, "--json", program.json_output, "Print JSON");
    add_option(*check_command, "--timeout", given->timeout_s, "How long one call may take, in seconds (default: 5)")
        ->type_name("SECONDS")
        ->between(0.05, 3600.0);
    check_command->footer("Example:  agentforge plugins check build/plugins/tool/my_tool");
    check_command->callback(
        [given, &program] { program.command = [given, &program] { return check(program, given->file, given->timeout_s); }; });
    const Command child_app = *add_subcommand(group, child_command, "")->hidden();
    child_app->callback([&program] { program.command = [] { return child(); }; });
}

}  // namespace agentforge::kernel
