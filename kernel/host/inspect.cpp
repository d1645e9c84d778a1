// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <ostream>
#include <tuple>

#include "base/text.hpp"
#include "base/json_fields.hpp"
#include "gates/command_log.hpp"
#include "host/command_line.hpp"
#include "host/display.hpp"
#include "host/event_fields.hpp"
#include "host/inspect.hpp"
#include "host/project.hpp"
#include "host/terminal.hpp"

namespace agentforge::kernel {

namespace {

struct InspectArguments {
    std::string task;
    std::uint64_t step = 0;
    std::string show;
    bool gates = false;
};

const json::object& map_of(const json::object& object, std::string_view key) {
    static const json::object empty;
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_object() ? value->get_object() : empty;
}
std::uint64_t number_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_number() ? value->to_number<std::uint64_t>() : 0;
}

int show_journal(Program& program, const std::string& id, const std::vector<Record>& records, const Recovery& recovery) {
    if (program.json_output) {
        json::array array;
        for (const Record& record : records) { array.push_back(record.body); }
        program.print_json({{"task_id", id}, {"records", std::move(array)}, {"torn_tail", recovery.torn_tail}});
        return 0;
    }
    program.out << id << ": " << records.size() << " records, the hash chain verifies"
                << (recovery.torn_tail ? " (a torn last line is left out; the next run recovers it)" : "") << "\n\n";
    for (const Record& record : records) {
        if (program.out_is_terminal) {
            program.out << record_on_terminal(program, record.body, fmt::format("{:>5}  ", record.seq)) << "\n";
            continue;
        }
        const json::object& agent = map_of(record.body, "agent");
        program.out << fmt::format("{:>5}  {}  {:<20} {}\n", record.seq, text_of(record.body, "timestamp").substr(11, 12), text_of(agent, "role"),
                                   printable(record_line(record.body), 220));
    }
    program.out << "\nOne step with all that was sent and answered: agentforge inspect " << id << " --step N\n";
    return 0;
}

Result<std::string> blob_text(const BlobStore& blobs, const json::object& body, std::string_view key) {
    const std::string hash = text_of(body, key);
    if (hash.empty()) { return std::string(); }
    return blobs.get(hash);
}

int show_step(Program& program, const TaskPaths& paths, const std::vector<Record>& records, const InspectArguments& arguments) {
    const json::object* found = nullptr;
    std::uint64_t last = 0;
    for (const Record& record : records) {
        if (record.type() != "step") { continue; }
        last = number_of(record.body, "step");
        if (last == arguments.step) { found = &record.body; }
    }
    if (found == nullptr) {
        return program.fail(Error{"AF-CLI-012", "there is no step " + std::to_string(arguments.step), paths.root.filename().string(),
                                  "the task has steps 1 to " + std::to_string(last), ErrorKind::not_found});
    }
    const BlobStore blobs(paths.blobs());
    json::object parts;
    for (const auto& [name, key] : {std::pair{"system", "system_blob"}, {"context", "context_blob"}, {"record", "record_blob"}}) {
        auto text = blob_text(blobs, *found, key);
        if (!text.ok()) { return program.fail(text.error()); }
        parts[name] = std::move(*text);
    }
    auto record = parse_json(text_of(parts, "record"), "the step's record");
    if (!record.ok()) { return program.fail(record.error()); }
    if (program.json_output) {
        json::object step = *found;
        step["system"] = parts["system"];
        step["context"] = parts["context"];
        step["detail"] = *record;
        program.print_json(step);
        return 0;
    }
    const bool everything = arguments.show.empty();
    // One part sent into a file or a pipe comes as it is (a diff is for `git apply`); what people look at cannot act on their terminal.
    const auto shown = [&](const std::string& text) { return everything || program.out_is_terminal ? printable_lines(text) : text; };
    const json::object& detail = record->get_object();
    if (everything) {
        program.out << "step " << arguments.step << "  " << text_of(*found, "phase") << "  " << text_of(map_of(*found, "agent"), "role") << "  "
                    << text_of(*found, "timestamp") << "\n";
    }
    if (everything || arguments.show == "system") { program.out << "\n--- system prompt\n" << shown(text_of(parts, "system")) << "\n"; }
    if (everything || arguments.show == "context") { program.out << "\n--- context\n" << shown(text_of(parts, "context")) << "\n"; }
    if (everything || arguments.show == "answer") { program.out << "\n--- answer\n" << shown(to_json_pretty(map_of(detail, "completion"))); }
    if (everything || arguments.show == "result") {
        program.out << "\n--- result: " << printable(text_of(detail, "summary"), 1000) << "\n";
        for (const char* key : {"output", "error"}) {
            if (const std::string text = text_of(detail, key); !text.empty()) { program.out << shown(text) << "\n"; }
        }
    }
    if (everything || arguments.show == "diff") {
        const std::string patch = text_of(*found, "patch");
        if (patch.empty()) {
            if (!everything) { program.err << "agentforge: step " << arguments.step << " changed no file\n"; }
            return 0;
        }
        const auto text = read_file(paths.root / patch);
        if (!text.ok()) { return program.fail(text.error()); }
        program.out << (everything ? "\n--- diff\n" : "") << shown(*text);
    }
    return 0;
}

/// Each gate with its commands; those of one name, purpose and tree in one line.
int show_gates(Program& program, const std::string& id, const std::vector<Record>& records) {
    json::array gates;
    for (const Record& record : records) {
        const json::value* commands = record.body.if_contains("commands");
        if (record.type() != "gate" || commands == nullptr) { continue; }
        gates.push_back({{"seq", record.seq}, {"gate", text_of(record.body, "gate")}, {"duration_ms", number_of(record.body, "duration_ms")}, {"commands", *commands}});
    }
    const GateTime time = gate_time(records);
    if (program.json_output) {
        program.print_json({{"task_id", id}, {"gates", std::move(gates)}, {"time", to_json(time)}});
        return 0;
    }
    for (const json::value& gate : gates) {
        const json::object& body = gate.get_object();
        program.out << fmt::format("{:>5}  {:<12} {:>9.1f} s\n", number_of(body, "seq"), text_of(body, "gate"), static_cast<double>(number_of(body, "duration_ms")) / 1000.0);
        std::map<std::tuple<std::string, std::string, std::string>, std::pair<std::size_t, std::chrono::milliseconds>> lines;
        for (const GateCommand& each : gate_commands_from_json(body.at("commands"))) {
            auto& [count, duration] = lines[{each.tree, each.purpose, each.command}];
            ++count;
            duration += each.duration;
        }
        for (const auto& [name, sum] : lines) {
            const auto& [tree, purpose, command] = name;
            const auto& [count, duration] = sum;
            program.out << fmt::format("         {:<10} {:>9.1f} s  {:>3} x  {:<8}  {}\n", command, static_cast<double>(duration.count()) / 1000.0, count, tree.substr(0, 8), purpose);
        }
    }
    program.out << "\nCommands of the gates: " << (time.total.count() == 0 ? "none" : in_words(time)) << ".\n";
    return 0;
}

int run_inspect(Program& program, const InspectArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = store.resolve(arguments.task);
    if (!id.ok()) { return program.fail(id.error()); }
    const TaskPaths paths = store.paths(*id);
    Recovery recovery;
    const auto records = store.records(*id, &recovery);
    if (!records.ok()) { return program.fail(records.error()); }
    if (arguments.step != 0) { return show_step(program, paths, *records, arguments); }
    if (arguments.gates) { return show_gates(program, *id, *records); }
    return show_journal(program, *id, *records, recovery);
}

}  // namespace

GateTime gate_time(const std::vector<Record>& records) {
    std::vector<GateCommand> all;
    for (const Record& record : records) {
        const json::value* commands = record.type() == "gate" ? record.body.if_contains("commands") : nullptr;
        if (commands == nullptr) { continue; }
        for (GateCommand& each : gate_commands_from_json(*commands)) { all.push_back(std::move(each)); }
    }
    return time_of(all);
}

std::string record_line(const json::object& body) {
    const std::string type = text_of(body, "type");
    if (type == "step") {
        return fmt::format("step {} {}: {}{}", number_of(body, "step"), text_of(map_of(body, "action"), "type"), text_of(map_of(body, "result"), "summary"), text_of_files(body, "  changed: "));
    }
    if (type == "gate") {
        return fmt::format("gate {} {}: {}", text_of(body, "gate"), body.at("passed").as_bool() ? "passed" : "FAILED", text_of(body, "summary"));
    }
    std::string text = type;
    for (const std::string_view key : {"stage", "name", "to", "reviewer", "artifact", "reason", "guidance", "escalation_id", "approval_id", "tool", "decision", "decided_by", "commit", "message"}) {
        if (const std::string value = text_of(body, key); !value.empty()) { text += "  " + std::string(key) + "=" + value; }
    }
    if (type == "stage_failed") { text += "  " + text_of(map_of(body, "error"), "message"); }
    return text;
}

std::string record_on_terminal(const Program& program, const json::object& body, const std::string& begin) {
    constexpr std::size_t wide = 100;
    const std::string type = text_of(body, "type");
    const json::value* passed = body.if_contains("passed");
    const bool failure = type == "stage_failed" || type == "task_failed" || type == "artifact_rejected" || (passed != nullptr && *passed == json::value(false)) ||
                         (type == "step" && text_of(map_of(body, "result"), "status") != "success");
    const std::string role = terminal_columns(STDOUT_FILENO) >= wide ? fmt::format("{:<20} ", printable(text_of(map_of(body, "agent"), "role"), 60)) : "";
    const std::string line = begin + text_of(body, "timestamp").substr(11, 8) + "  " + role + printable(record_line(body), 400);
    return failure ? fitted_line(program, "", line) : fitted_line(program, line);
}

int inspect_step(Program& program, const std::string& task, std::uint64_t step) { return run_inspect(program, {.task = task, .step = step, .show = ""}); }

void add_inspect(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<InspectArguments>();
    const Command command = add_subcommand(app, "inspect", "Show a task's journal, verified, or one step of it");
    add_option(*command, "task", arguments->task, "The task's id, or enough of it")->type_name("TASK")->required();
    const Option step = add_option(*command, "--step", arguments->step, "This step, with all that was sent and answered");
    step->type_name("N")->positive();
    add_option(*command, "--show", arguments->show, "Only this part of the step")
        ->one_of({"system", "context", "answer", "result", "diff"})->needs("--step");
    add_flag(*command, "--gates", arguments->gates, "What the gates have run, for which tree and how long")->excludes(step);
    add_flag(*command, "--json", program.json_output, "Answer as JSON");
    command->footer("Examples:\n  agentforge inspect 1f2e3d4c\n  agentforge inspect 1f2e3d4c --step 7 --show context");
    command->callback([&program, arguments] {
        program.pages = true;
        program.command = [&program, arguments] { return run_inspect(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
