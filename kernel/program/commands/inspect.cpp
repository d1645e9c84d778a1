// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <ostream>
#include <tuple>

#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "config/gate_words.hpp"
#include "pipeline/task_session.hpp"
#include "program/command_line.hpp"
#include "program/commands/inspect.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/terminal.hpp"
#include "records/records.hpp"
#include "task/step_index.hpp"

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

std::string role_of(const records::Envelope& envelope) { return envelope.agent ? *envelope.agent->role : std::string(); }
/// Returns the time of a record: `19:43:12.135`, or the first `length` characters.
std::string time_of_day(const records::Envelope& envelope, std::size_t length) {
    constexpr std::size_t date = 11;
    const std::string time = envelope.timestamp;
    return time.size() < date ? std::string() : time.substr(date, length);
}

/// Appends `name=value` if a record has a text field of that name.
template <class T>
void add_named(std::string& text, std::string_view name, const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
        if (!value.empty()) { text += "  " + std::string(name) + "=" + std::string(value); }
    } else if constexpr (std::is_same_v<T, std::optional<std::string>>) {
        if (value) { add_named(text, name, *value); }
    } else if constexpr (std::is_same_v<T, records::Added<std::string>>) {
        add_named(text, name, *value);
    }
}

/// Writes a record in one line.
struct Line {
    std::uint64_t step;

    std::string operator()(const records::Step& taken) const {
        const std::string files = listed_files(taken);
        return fmt::format("step {} {}: {}{}", step, *taken.action->type, *taken.result->summary,
                           files.empty() ? "" : "  changed: " + files);
    }
    std::string operator()(const records::Gate& gate) const {
        if (gate.passed && was_skipped(gate.gate, gate.summary)) {
            return fmt::format("gate {} skipped: {}", gate.gate, why_skipped(gate.summary));
        }
        return fmt::format("gate {} {}: {}", gate.gate, gate.passed ? "passed" : "FAILED", gate.summary);
    }
    std::string operator()(const records::StageFailed& failed) const { return named(failed) + "  " + failed.error.message; }
    template <class Other>
    std::string operator()(const Other& other) const {
        return named(other);
    }

private:
    template <class T>
    static std::string named(const T& body) {
        std::string text(T::type);
#define AGENTFORGE_NAMED(member) \
    if constexpr (requires { body.member; }) { add_named(text, #member, body.member); }
        AGENTFORGE_NAMED(stage)
        AGENTFORGE_NAMED(name)
        AGENTFORGE_NAMED(to)
        AGENTFORGE_NAMED(reviewer)
        AGENTFORGE_NAMED(artifact)
        AGENTFORGE_NAMED(reason)
        AGENTFORGE_NAMED(guidance)
        AGENTFORGE_NAMED(escalation_id)
        AGENTFORGE_NAMED(approval_id)
        AGENTFORGE_NAMED(tool)
        AGENTFORGE_NAMED(decision)
        AGENTFORGE_NAMED(decided_by)
        AGENTFORGE_NAMED(commit)
        AGENTFORGE_NAMED(message)
#undef AGENTFORGE_NAMED
        return text;
    }
};

/// True if the record reports a failure.
struct Failure {
    bool operator()(const records::StageFailed&) const { return true; }
    bool operator()(const records::TaskFailed&) const { return true; }
    bool operator()(const records::ArtifactRejected&) const { return true; }
    bool operator()(const records::Gate& gate) const { return !gate.passed; }
    bool operator()(const records::Step& step) const { return *step.result->status != "success"; }
    template <class Other>
    bool operator()(const Other&) const {
        return false;
    }
};

int show_journal(Program& program, const std::string& id, const std::vector<Record>& records, const Recovery& recovery) {
    if (program.json_output) {
        json::array array;
        for (const Record& record : records) { array.push_back(record.body); }
        program.print_json({{"task_id", id}, {"records", std::move(array)}, {"torn_tail", recovery.torn_tail}});
        return 0;
    }
    program.out << short_id(id) << ": " << records.size() << " records, the hash chain verifies"
                << (recovery.torn_tail ? " (a torn last line is left out; the next run recovers it)" : "") << "\n\n";
    for (const Record& record : records) {
        if (program.out_is_terminal) {
            program.out << record_on_terminal(program, record, fmt::format("{:>5}  ", record.seq)) << "\n";
            continue;
        }
        const auto envelope = records::envelope_in(record);
        program.out << fmt::format("{:>5}  {}  {:<20} {}\n", record.seq, time_of_day(envelope, 12), role_of(envelope),
                                   printable(record_line(record), 220));
    }
    program.out << "\nOne step with everything sent and received: "
                << program.with_place("agentforge inspect " + short_id(id) + " --step N") << "\n";
    return 0;
}

Result<std::string> blob_text(const BlobStore& blobs, const std::string& hash) {
    if (hash.empty()) { return std::string(); }
    return blobs.get(hash);
}

/// True if `agentforge gc --blobs` removed them: it removes the whole folder.
bool blobs_were_freed(const TaskPaths& paths) {
    std::error_code error;
    return !std::filesystem::exists(paths.blobs(), error) && !error;
}

Error freed_blobs(const TaskPaths& paths) {
    return Error{"AF-JRNL-011", "the task's blobs were freed", paths.blobs().string(),
                 "`agentforge archive restore " + paths.root.filename().string() + "` restores them", ErrorKind::not_found};
}

/// One step with everything sent and received, or one part of it.
class StepReport {
public:
    StepReport(Program& program, const TaskPaths& paths, const InspectArguments& arguments, const Record& step)
        : program_(program),
          paths_(paths),
          arguments_(arguments),
          step_(step),
          taken_(*records::as<records::Step>(step)),
          freed_(blobs_were_freed(paths)),
          everything_(arguments.show.empty()) {}

    Result<void> read();
    void print_as_json();
    Result<void> print();

private:
    Result<void> read_blobs();
    void print_parts();
    void print_result();
    Result<void> print_diff();
    [[nodiscard]] bool shows(std::string_view part) const { return (everything_ && !freed_) || arguments_.show == part; }
    [[nodiscard]] std::string shown(const std::string& text) const;

    Program& program_;
    const TaskPaths& paths_;
    const InspectArguments& arguments_;
    const Record& step_;
    const records::Step taken_;
    const bool freed_;
    const bool everything_;
    json::object parts_;
    json::value detail_;
};

Result<void> StepReport::read() {
    const bool shows_recorded_only = everything_ || arguments_.show == "diff";
    if (freed_ && !shows_recorded_only) { return freed_blobs(paths_); }
    if (freed_) {
        parts_ = {{"system", ""}, {"context", ""}, {"record", "{}"}};
        program_.err << "agentforge: cannot show what was sent and received: " << freed_blobs(paths_).message << "; "
                     << freed_blobs(paths_).remedy << "\n";
    } else {
        AF_CHECK(read_blobs());
    }
    AF_TRY(detail_, parse_json(text_of(parts_, "record"), "the step's record"));
    return {};
}

Result<void> StepReport::read_blobs() {
    const BlobStore blobs(paths_.blobs());
    for (const auto& [name, blob] :
         {std::pair{"system", taken_.system_blob}, {"context", taken_.context_blob}, {"record", taken_.record_blob}}) {
        AF_TRY(std::string text, blob_text(blobs, *blob));
        parts_[name] = std::move(text);
    }
    return {};
}

void StepReport::print_as_json() {
    json::object step = step_.body;
    if (!freed_) {
        step["system"] = parts_["system"];
        step["context"] = parts_["context"];
        step["detail"] = detail_;
    }
    program_.print_json(step);
}

/// A single part sent to a file or pipe stays unchanged, so a diff works with `git apply`. On a terminal, control characters are
/// escaped.
std::string StepReport::shown(const std::string& text) const {
    return everything_ || program_.out_is_terminal ? printable_lines(text) : text;
}

Result<void> StepReport::print() {
    if (everything_) {
        const auto envelope = records::envelope_in(step_);
        program_.out << "step " << arguments_.step << "  " << taken_.phase << "  " << role_of(envelope) << "  "
                     << envelope.timestamp << "\n";
    }
    if (everything_ && freed_) { program_.out << "\n" << printable(record_line(step_), 1000) << "\n"; }
    print_parts();
    return everything_ || arguments_.show == "diff" ? print_diff() : Result<void>();
}

void StepReport::print_parts() {
    if (shows("system")) { program_.out << "\n--- system prompt\n" << shown(text_of(parts_, "system")) << "\n"; }
    if (shows("context")) { program_.out << "\n--- context\n" << shown(text_of(parts_, "context")) << "\n"; }
    if (shows("answer")) {
        program_.out << "\n--- answer\n" << shown(to_json_pretty(map_of(detail_.get_object(), "completion")));
    }
    if (shows("result")) { print_result(); }
}

void StepReport::print_result() {
    const json::object& detail = detail_.get_object();
    program_.out << "\n--- result: " << printable(text_of(detail, "summary"), 1000) << "\n";
    for (const char* key : {"output", "error"}) {
        if (const std::string text = text_of(detail, key); !text.empty()) { program_.out << shown(text) << "\n"; }
    }
}

Result<void> StepReport::print_diff() {
    const std::string patch = taken_.patch.value_or("");
    if (patch.empty()) {
        if (!everything_) { program_.err << "agentforge: step " << arguments_.step << " changed no file\n"; }
        return {};
    }
    AF_TRY(const std::string text, read_file(paths_.root / patch));
    program_.out << (everything_ ? "\n--- diff\n" : "") << shown(text);
    return {};
}

int show_step(Program& program, const TaskPaths& paths, const TaskState& state, const InspectArguments& arguments) {
    const auto found = StepIndex(paths.journal()).find(arguments.step);
    if (!found.ok()) { return program.fail(found.error()); }
    if (!*found) {
        return program.fail(Error{"AF-CLI-012", "there is no step " + std::to_string(arguments.step),
                                  paths.root.filename().string(), "the task has steps 1 to " + std::to_string(state.steps),
                                  ErrorKind::not_found});
    }
    StepReport report(program, paths, arguments, **found);
    if (const auto read = report.read(); !read.ok()) { return program.fail(read.error()); }
    if (program.json_output) {
        report.print_as_json();
        return 0;
    }
    const auto printed = report.print();
    return printed.ok() ? 0 : program.fail(printed.error());
}

/// Commands with the same name, purpose and tree share a line.
void show_gate(Program& program, Sequence seq, const records::Gate& gate) {
    program.out << fmt::format("{:>5}  {:<12} {:>9.1f} s\n", seq, gate.gate, static_cast<double>(*gate.duration_ms) / 1000.0);
    std::map<std::tuple<std::string, std::string, std::string>, std::pair<std::size_t, std::uint64_t>> lines;
    for (const records::CommandRun& each : *gate.commands) {
        auto& [count, duration_ms] = lines[{*each.tree, each.purpose.value_or(""), *each.command}];
        ++count;
        duration_ms += *each.duration_ms;
    }
    for (const auto& [name, sum] : lines) {
        const auto& [tree, purpose, command] = name;
        const auto& [count, duration_ms] = sum;
        program.out << fmt::format("         {:<10} {:>9.1f} s  {:>3} x  {:<8}  {}\n", command,
                                   static_cast<double>(duration_ms) / 1000.0, count, tree.substr(0, 8), purpose);
    }
}

/// Shows each gate with its commands.
int show_gates(Program& program, const std::string& id, const std::vector<Record>& records, const GateTime& time) {
    json::array gates;
    for (const Record& record : records) {
        const auto gate = records::as<records::Gate>(record);
        if (!gate || !gate->commands) { continue; }
        if (program.json_output) {
            json::object object{{"seq", record.seq}, {"gate", gate->gate}, {"duration_ms", *gate->duration_ms}};
            records::write_field(object, "commands", *gate->commands);
            gates.push_back(std::move(object));
        } else {
            show_gate(program, record.seq, *gate);
        }
    }
    if (program.json_output) {
        program.print_json({{"task_id", id}, {"gates", std::move(gates)}, {"time", to_json(time)}});
        return 0;
    }
    program.out << "\nCommands of the gates: " << (time.total.count() == 0 ? "none" : in_words(time)) << ".\n";
    return 0;
}

int run_inspect(Program& program, const InspectArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_newest(program, store, arguments.task);
    if (!id.ok()) { return program.fail(id.error()); }
    const TaskPaths paths = store.paths(*id);
    if (arguments.step != 0) {
        const auto state = read_task_state(store, *id);
        return state.ok() ? show_step(program, paths, *state, arguments) : program.fail(state.error());
    }
    Recovery recovery;
    const auto records = store.records(*id, &recovery);
    if (!records.ok()) { return program.fail(records.error()); }
    if (records->empty()) { return program.fail(no_records(*id, paths)); }
    const auto state = fold_all(*records);  // The hash chain can be intact although the records do not make a valid task.
    if (!state.ok() && arguments.gates) { return program.fail(state.error()); }
    if (arguments.gates) { return show_gates(program, *id, *records, state->gate_figures.time); }
    const int shown = show_journal(program, *id, *records, recovery);
    return state.ok() ? shown : program.fail(state.error());
}

}  // namespace

std::string listed_files(const records::Step& step) {
    std::string text;
    for (const std::string& file : step.files.value_or(std::vector<std::string>())) { text += (text.empty() ? "" : ", ") + file; }
    return text;
}

std::string record_line(const Record& record) {
    const auto typed = records::read_record(record.body);
    return typed.ok() ? std::visit(Line{typed->envelope.step}, typed->body) : std::string(record.type());
}

std::string record_on_terminal(const Program& program, const Record& record, const std::string& begin) {
    constexpr std::size_t wide = 100;
    const auto envelope = records::envelope_in(record);
    const auto typed = records::read_record(record.body);
    const bool failure = typed.ok() && std::visit(Failure{}, typed->body);
    const std::string role =
        terminal_columns(STDOUT_FILENO) >= wide ? fmt::format("{:<20} ", printable(role_of(envelope), 60)) : "";
    const std::string line = begin + time_of_day(envelope, 8) + "  " + role + printable(record_line(record), 400);
    return failure ? fitted_line(program, "", line) : fitted_line(program, line);
}

int inspect_step(Program& program, const std::string& task, std::uint64_t step) {
    return run_inspect(program, {.task = task, .step = step, .show = ""});
}

void add_inspect(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<InspectArguments>();
    const Command command = add_subcommand(app, "inspect", "Verify and show a task's journal, or show one step of it");
    add_option(*command, "task", arguments->task, newest_task_help)->type_name("TASK");
    const Option step = add_option(*command, "--step", arguments->step, "This step, with everything sent and received");
    step->type_name("N")->positive();
    add_option(*command, "--show", arguments->show, "Only this part of the step")
        ->one_of({"system", "context", "answer", "result", "diff"})
        ->needs("--step");
    add_flag(*command, "--gates", arguments->gates, "What the gates ran, on which tree, and how long it took")->excludes(step);
    add_flag(*command, "--json", program.json_output, "Print JSON");
    command->footer("Examples:\n  agentforge inspect 1f2e3d4c\n  agentforge inspect 1f2e3d4c --step 7 --show context");
    command->callback([&program, arguments] {
        program.pages = true;
        program.command = [&program, arguments] { return run_inspect(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
