// SPDX-License-Identifier: Apache-2.0
// Shows the records of a task's journal, also while another process runs the task.
#include <fmt/format.h>

#include <fstream>
#include <ostream>

#include "base/text.hpp"
#include "pipeline/task_session.hpp"
#include "program/command_line.hpp"
#include "program/commands/inspect.hpp"
#include "program/project/chosen_task.hpp"
#include "program/project/journal_watch.hpp"
#include "program/project/project.hpp"
#include "program/terminal/display.hpp"

namespace agentforge::kernel {

namespace {

struct LogArguments {
    std::string task;
    std::string format = "text";
    std::uint64_t tail = 0;
    bool follow = false;
};

void print_record(Program& program, const LogArguments& arguments, const Record& record) {
    if (arguments.format == "stream-json") {
        program.out << to_json_line(record.body) << "\n";
        return;
    }
    if (!program.out_is_terminal) {
        const auto envelope = records::envelope_in(record);
        const std::string role = envelope.agent ? *envelope.agent->role : std::string();
        program.out << fmt::format("{}  {:<20} {}\n", envelope.timestamp, printable(role, 60),
                                   printable(record_line(record), 400));
        return;
    }
    program.out << record_on_terminal(program, record, "") << "\n";
}

/// Reads newly appended records of a journal. Leaves an incomplete line for the next call.
class Tail {
public:
    Tail(const std::filesystem::path& file, Sequence seen) : file_(file), seen_(seen) {}

    Result<std::vector<Record>> more() {
        std::vector<Record> records;
        std::ifstream in(file_, std::ios::binary);
        if (!in) {
            return Error{"AF-CLI-072", "the journal is gone", file_.string(), "the task was removed while you followed it",
                         ErrorKind::io};
        }
        in.seekg(static_cast<std::streamoff>(offset_));
        for (std::string line; std::getline(in, line) && !in.eof(); offset_ += line.size() + 1) {
            if (!line.starts_with("- {")) { continue; }
            auto value = parse_json(std::string_view(line).substr(2), file_.string());
            if (!value.ok()) { return value.error(); }
            Record record;
            record.body = std::move(value->get_object());
            record.seq = records::envelope_in(record).seq.value_or(0);
            if (record.seq <= seen_) { continue; }
            seen_ = record.seq;
            records.push_back(std::move(record));
        }
        return records;
    }

private:
    std::filesystem::path file_;
    Sequence seen_;
    std::size_t offset_ = 0;
};

int follow(Program& program, const LogArguments& arguments, const TaskPaths& paths, Sequence seen) {
    Tail tail(paths.journal(), seen);
    const JournalWatch change(paths.journal());
    while (true) {
        const bool running =
            TaskLock::holder(paths).has_value();  // Checked first, so that records written until then are read below.
        const auto records = tail.more();
        if (!records.ok()) { return program.fail(records.error()); }
        for (const Record& record : *records) { print_record(program, arguments, record); }
        program.out.flush();
        if (!running || !program.out) { return 0; }
        if (program.cancel->requested()) { return static_cast<int>(ExitCode::cancelled); }
        change.wait();
    }
}

/// Checks that the records form a valid task: the hash chain may be intact although they do not.
int check_records(Program& program, std::string_view task_id, const TaskPaths& paths, const std::vector<Record>& records) {
    if (records.empty() && !TaskLock::holder(paths)) { return program.fail(no_records(task_id, paths)); }
    TaskState state;
    for (const Record& record : records) {
        if (const auto folded = fold(state, record.body); !folded.ok()) { return program.fail(folded.error()); }
    }
    return 0;
}

int show_logs(Program& program, const LogArguments& arguments) {
    if (arguments.follow && arguments.format == "json") {
        program.fail(Error{"AF-CLI-073", "--follow cannot print one JSON object, because its output has no end", "",
                           "use --output-format stream-json: one object a line", ErrorKind::invalid});
        return 2;
    }
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const TaskStore store(place->agentforge);
    const auto id = task_or_newest(program, store, arguments.task);
    if (!id.ok()) { return program.fail(id.error()); }
    const TaskPaths paths = store.paths(*id);
    const auto records = store.records(*id);
    if (!records.ok()) { return program.fail(records.error()); }
    const std::size_t first = arguments.tail == 0 || arguments.tail >= records->size() ? 0 : records->size() - arguments.tail;
    if (arguments.format == "json") {
        json::array list;
        for (std::size_t index = first; index < records->size(); ++index) { list.push_back((*records)[index].body); }
        program.print_json({{"task_id", *id}, {"records", std::move(list)}, {"running", TaskLock::holder(paths).has_value()}});
        return check_records(program, *id, paths, *records);
    }
    for (std::size_t index = first; index < records->size(); ++index) { print_record(program, arguments, (*records)[index]); }
    return arguments.follow ? follow(program, arguments, paths, records->empty() ? 0 : records->back().seq)
                            : check_records(program, *id, paths, *records);
}

}  // namespace

void add_logs(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<LogArguments>();
    const Command command =
        add_subcommand(app, "logs", "Show what a task has done, line by line; --follow continues while it runs");
    add_option(*command, "task", arguments->task, newest_task_help)->type_name("TASK");
    add_flag(*command, "--follow,-f", arguments->follow, "Keep printing until no process runs the task");
    add_option(*command, "--tail", arguments->tail, "Begin with the last N lines")->type_name("N")->positive();
    const Option json = add_flag_callback(
        *command, "--json",
        [&program, arguments] {
            program.json_output = true;
            arguments->format = "json";
        },
        "Print JSON");
    add_option_function(
        *command, "--output-format",
        [&program, arguments](const std::string& format) {
            program.json_output = format != "text";
            arguments->format = format;
        },
        "Output format; stream-json prints one record a line")
        ->one_of({"text", "json", "stream-json"})
        ->excludes(json);
    command->footer(
        "Examples:\n  agentforge logs 1f2e3d4c --follow\n  agentforge logs 1f2e3d4c --tail 20\n  agentforge logs 1f2e3d4c --output-format stream-json");
    command->callback([&program, arguments] {
        program.pages = !arguments->follow && arguments->format == "text";
        program.command = [&program, arguments] { return show_logs(program, *arguments); };
    });
}

}  // namespace agentforge::kernel
