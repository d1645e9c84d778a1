// SPDX-License-Identifier: Apache-2.0
// `agentforge check`: runs the conformance checks on the checkout. Asks no model and runs nothing from the repository.
#include <algorithm>
#include <ostream>

#include "base/files.hpp"
#include "base/text.hpp"
#include "gates/conformance/sarif.hpp"
#include "pipeline/check.hpp"
#include "program/command_line.hpp"
#include "program/project/project.hpp"
#include "program/project/project_folder.hpp"
#include "program/project/violations.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

namespace fs = std::filesystem;

struct CheckArguments {
    std::vector<std::string> paths;
    std::string format = "text";
    std::string since;
    bool changed = false;
    bool strict = false;
    bool all = false;
    bool update_baseline = false;
};

bool is_below_any(const std::string& file, const std::vector<std::string>& paths) {
    return paths.empty() || std::ranges::any_of(paths, [&](const std::string& path) {
               return path == "." || file == path || file.starts_with(path + "/");
           });
}

/// Converts the user's paths, relative to the current folder, to paths relative to the repository's root.
/// With `known`, also accepts deleted paths that have entries in it.
Result<std::vector<std::string>> from_root(const Program& program, const fs::path& root, const std::vector<std::string>& given,
                                           const std::vector<NamedViolation>& known) {
    std::vector<std::string> paths;
    std::error_code failure;
    const fs::path whole = fs::weakly_canonical(root, failure);
    for (const std::string& each : given) {
        const fs::path there = fs::weakly_canonical(program.directory / each, failure);
        const std::string inside = there.lexically_relative(whole).generic_string();
        if (inside.empty() || inside == ".." || inside.starts_with("../")) {
            return Error{"AF-CLI-142", "`" + printable(each, 200) + "` is not inside the repository", whole.string(),
                         "Name files and folders of the repository", ErrorKind::invalid};
        }
        const bool is_known =
            std::ranges::any_of(known, [&](const NamedViolation& entry) { return is_below_any(entry.violation.file, {inside}); });
        if (!is_known && !fs::exists(there, failure)) {
            return Error{"AF-CLI-142", "there is no file or folder `" + printable(each, 200) + "`", there.string(),
                         "Name files and folders of the repository; without arguments, `check` checks all of it",
                         ErrorKind::not_found};
        }
        paths.push_back(inside);
    }
    return paths;
}

/// Updates the baseline with the new results. Keeps entries outside the given paths.
Result<std::size_t> update_baseline(const Project& project, const CheckRequest& request, const CheckResult& result) {
    std::vector<NamedViolation> all = result.violations;
    for (const NamedViolation& each : request.baseline) {
        if (!is_below_any(each.violation.file, request.paths)) { all.push_back(each); }
    }
    const std::size_t count = all.size();
    AF_CHECK(prepare_project_folder(project.place(), true));  // Otherwise git would ignore the file.
    AF_CHECK(write_file_atomic(baseline_file(project.place()), baseline_text(std::move(all)), Durability::synced));
    return count;
}

/// Writes the records that `fix` reads. If the repository cannot be written, the check still succeeds.
void keep_records(Program& program, const Project& project, const CheckResult& result) {
    auto kept = prepare_project_folder(project.place(), false);
    if (kept.ok()) { kept = write_records(records_folder(project.place()), result.violations, result.gone); }
    if (!kept.ok()) {
        program.err << "agentforge: cannot record the violations, so `agentforge fix` cannot find them: "
                    << printable_lines(kept.error().message) << "\n";
    }
}

json::array not_measured_json(const CheckResult& result) {
    json::array files;
    for (const UnmeasuredFile& each : result.not_measured) {
        files.push_back(json::object{{"file", each.file}, {"reason", each.reason}});
    }
    return files;
}

/// Shows only the first files: if a tool is missing, all files of its language are listed.
void print_not_measured(Program& program, const CheckResult& result) {
    constexpr std::size_t most_shown = 20;
    std::size_t shown = 0;
    for (const UnmeasuredFile& each : result.not_measured) {
        if (shown == most_shown) { break; }
        ++shown;
        program.out << "not measured: " << printable(each.file, 500) << " (" << printable(each.reason, 500) << ")\n";
    }
    const std::size_t left = result.not_measured.size() - shown;
    if (left > 0) { program.out << "not measured: " << left << " more (--json lists them)\n"; }
}

json::object result_json(const CheckResult& result, bool clean) {
    json::array violations;
    for (const NamedViolation& each : result.violations) {
        json::object object = to_json(each);
        for (const char* fingerprint : {"text", "above", "below"}) { object.erase(fingerprint); }
        object["new"] = result.fresh.contains(each.id);
        violations.push_back(std::move(object));
    }
    json::object object{{"clean", clean},
                        {"checks", result.checks.size()},
                        {"violations_new", result.fresh.size()},
                        {"violations_blocking", result.blocking()},
                        {"violations_known", result.violations.size() - result.fresh.size()},
                        {"violations", std::move(violations)},
                        {"not_measured", not_measured_json(result)}};
    if (!result.compared_with.empty()) { object["compared_with"] = result.compared_with; }
    return object;
}

std::string counted(std::size_t count, const char* one, const char* many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

void print_text(Program& program, const CheckResult& result, bool all) {
    for (const NamedViolation& each : result.violations) {
        const bool fresh = result.fresh.contains(each.id);
        if (!fresh && !all) { continue; }
        const Violation& violation = each.violation;
        program.out << printable(violation.file) << ":" << violation.line << ": " << printable(violation.message, 500) << " ("
                    << violation.check_id << ", " << violation.severity << (fresh ? "" : ", known") << ") " << each.id << "\n";
    }
    print_not_measured(program, result);
    const std::size_t known = result.violations.size() - result.fresh.size();
    program.out << (result.fresh.empty() ? "Nothing new" : counted(result.fresh.size(), "new violation", "new violations"));
    if (!result.fresh.empty()) {
        program.out << (result.blocking() == 0 ? ", none of them blocks" : ", " + counted(result.blocking(), "blocks", "block"));
    }
    program.out << "; " << counted(result.checks.size(), "check", "checks");
    if (known > 0) { program.out << ", " << known << " known" << (all ? "" : " (--all shows them)"); }
    if (!result.compared_with.empty()) { program.out << ", compared with " << printable(result.compared_with, 200); }
    program.out << ".\n";
    if (!result.fresh.empty()) {
        program.out
            << "Fix one with: agentforge fix "
            << std::ranges::find_if(result.violations, [&](const auto& each) { return result.fresh.contains(each.id); })->id
            << "\n";
    }
}

int run_check(Program& program, const CheckArguments& arguments) {
    if (arguments.format == "sarif" && program.json_output) {
        program.fail(Error{"AF-CLI-076", "--json and --format sarif cannot be used together", "", "leave one of them out",
                           ErrorKind::invalid});
        return static_cast<int>(ExitCode::usage);
    }
    if (arguments.format == "json") { program.json_output = true; }
    const auto progress = make_progress(program);
    const auto opened = Project::open(program, *progress);
    if (!opened.ok()) { return program.fail(opened.error()); }
    const Project& project = **opened;
    CheckRequest request;
    request.changed = arguments.changed || !arguments.since.empty();
    request.since = arguments.since;
    auto baseline = read_baseline(baseline_file(project.place()));
    const bool is_replaced = arguments.update_baseline && arguments.paths.empty() && !request.changed;
    if (!baseline.ok() && !is_replaced) { return program.fail(baseline.error()); }
    if (baseline.ok()) { request.baseline = std::move(*baseline); }
    auto paths = from_root(program, project.place().root, arguments.paths, request.baseline);
    if (!paths.ok()) { return program.fail(paths.error()); }
    request.paths = std::move(*paths);
    request.records = read_records(records_folder(project.place()));
    const auto result =
        check_conformance(project.task_workspace_options(), (*opened)->processes(), request, Stop{program.cancel, std::nullopt});
    if (!result.ok()) { return program.fail(result.error()); }
    keep_records(program, project, *result);
    if (arguments.update_baseline) {
        const auto written = update_baseline(project, request, *result);
        if (!written.ok()) { return program.fail(written.error()); }
        if (program.json_output) {
            program.print_json(json::object{{"baseline", baseline_file(project.place()).string()},
                                            {"violations", *written},
                                            {"not_measured", not_measured_json(*result)}});
        } else {
            print_not_measured(program, *result);
            program.out << "The baseline contains " << counted(*written, "violation", "violations") << "; commit .agentforge/"
                        << baseline_file(project.place()).filename().string() << ".\n";
        }
        return 0;
    }
    const bool clean = arguments.strict ? result->fresh.empty() : result->blocking() == 0;
    if (arguments.format == "sarif") {
        program.print_json(to_sarif(result->violations, result->fresh, result->checks, AGENTFORGE_VERSION, result->not_measured));
    } else if (program.json_output) {
        program.print_json(result_json(*result, clean));
    } else {
        print_text(program, *result, arguments.all);
    }
    return clean ? 0 : 1;
}

}  // namespace

fs::path records_folder(const ProjectPlace& place) { return place.agentforge / "violations"; }
fs::path baseline_file(const ProjectPlace& place) { return place.agentforge / "conformance_baseline.yaml"; }

void add_check(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<CheckArguments>();
    const Command command = add_subcommand(
        app, "check", "Find violations of the conformance checks, without a model; exit 1 if a new one is major or critical");
    add_option(*command, "path", arguments->paths,
               "Files and folders (default: the whole checkout, uncommitted changes included)")
        ->type_name("PATH");
    const Option changed = add_flag(*command, "--changed", arguments->changed,
                                    "Only files changed since your branch forked from its base, uncommitted changes included");
    const Option since =
        *add_option(*command, "--since", arguments->since, "The same, since the merge base of your branch and this revision")
             ->type_name("REVISION")
             ->excludes(changed);
    add_option(*command, "--format", arguments->format, "text, json, or sarif (2.1.0)")
        ->type_name("FORMAT")
        ->one_of({"text", "json", "sarif"});
    add_flag(*command, "--all", arguments->all, "Show known violations, too");
    add_flag(*command, "--strict", arguments->strict,
             "Exit with code 1 for a new violation of any severity, not only major and critical");
    const Option update = add_flag(*command, "--update-baseline", arguments->update_baseline,
                                   "Record the current violations as known; from then on only new ones fail the check");
    update->excludes(changed);
    update->excludes(since);
    add_flag(*command, "--json", program.json_output, "The same as --format json");
    command->footer(
        "Examples:\n"
        "  agentforge check\n"
        "  agentforge check src --changed\n"
        "  agentforge check --update-baseline\n"
        "  agentforge check --format sarif > violations.sarif");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_check(program, *arguments); }; });
}

}  // namespace agentforge::kernel
