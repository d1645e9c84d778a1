// SPDX-License-Identifier: Apache-2.0
#include "program/log/log.hpp"

#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>

#include <agentforge/host.hpp>

#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "cost/ledger.hpp"
#include "program/log/event_stream.hpp"
#include "task/state.hpp"
#include "telemetry/trace_ids.hpp"

namespace agentforge::kernel {

namespace {

using spdlog::level::level_enum;

/// A file of lines that several processes write. Each line is one write(2) at the end. A process that finds the file full renames
/// it while holding its flock(2), so only one of two such processes renames it. The other does not wait: its line still goes into
/// the full file.
class RotatingLines final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit RotatingLines(const Log::Options& options) : options_(options) {}

    Result<void> reopen() {
        const int flags =
            O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (options_.follow_links ? 0 : O_NOFOLLOW);
        FileDescriptor opened(::open(options_.file.c_str(), flags, 0600));
        if (!opened.valid() && errno == ENOENT && make_directories(std::filesystem::path(options_.file).parent_path()).ok()) {
            opened = FileDescriptor(::open(options_.file.c_str(), flags, 0600));  // The folder was removed.
        }
        if (!opened.valid()) { return problem(errno_text(errno)); }
        struct stat status {};
        if (::fstat(opened.get(), &status) != 0) { return problem(errno_text(errno)); }
        if (!S_ISREG(status.st_mode)) { return problem("it is not a regular file"); }
        file_ = std::move(opened);
        return {};
    }

    [[nodiscard]] Error problem(const std::string& why) const {
        return {"AF-CLI-020", "cannot write the log: " + why, options_.file, "make its folder writable, or set log.level to off",
                ErrorKind::io};
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        std::string line(message.payload.begin(), message.payload.end());
        line += '\n';
        if (!is_the_file()) { throw_if(reopen()); }
        if (!has_room(line.size())) { throw_if(rotate(line.size())); }
        if (torn_) { line.insert(0, 1, '\n'); }  // The file ends in half a line. Starts a new one.
        const ssize_t written = ::write(file_.get(), line.data(), line.size());
        const bool whole = written == static_cast<ssize_t>(line.size());
        torn_ = !whole && (torn_ || written > 0);
        if (!whole) { throw_if(problem(written < 0 ? errno_text(errno) : "its disk is full")); }
    }
    void flush_() override {}

private:
    static void throw_if(const Result<void>& result) {
        if (!result.ok()) { throw spdlog::spdlog_ex(result.error().message); }
    }
    /// False if another process renamed the file or it was removed.
    [[nodiscard]] bool is_the_file() const {
        struct stat ours {};
        struct stat named {};
        return file_.valid() && ::fstat(file_.get(), &ours) == 0 && ::stat(options_.file.c_str(), &named) == 0 &&
               ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    }
    [[nodiscard]] bool has_room(std::size_t bytes) const {
        struct stat status {};
        // A line larger than any file gets its own.
        if (::fstat(file_.get(), &status) != 0 || status.st_size == 0) { return true; }
        return static_cast<std::uint64_t>(status.st_size) + bytes <= options_.max_file_bytes;
    }
    Result<void> rotate(std::size_t bytes) {
        if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) { return {}; }
        const auto moved = shift_files(bytes);
        ::flock(file_.get(), LOCK_UN);  // Has no effect if `file_` is a new file by now: closing the old one released the lock.
        return moved;
    }
    Result<void> shift_files(std::size_t bytes) {
        if (!is_the_file()) { return reopen(); }  // Another process was faster.
        if (has_room(bytes)) { return {}; }
        const auto rotated = [this](unsigned number) { return options_.file + "." + std::to_string(number); };
        if (options_.kept_files == 0) {
            ::unlink(options_.file.c_str());
        } else {
            for (unsigned number = options_.kept_files; number > 1; --number) {
                ::rename(rotated(number - 1).c_str(), rotated(number).c_str());
            }
            if (::rename(options_.file.c_str(), rotated(1).c_str()) != 0) { return problem(errno_text(errno)); }
        }
        return reopen();
    }

    Log::Options options_;
    FileDescriptor file_;
    bool torn_ = false;
};

struct Kind {
    level_enum level;
    const char* component;
};

/// Levels: failures are warnings, single calls are details.
struct Kinds {
    Kind operator()(const records::StageFailed&) const { return {level_enum::warn, "task"}; }
    Kind operator()(const records::ArtifactRejected&) const { return {level_enum::warn, "task"}; }
    Kind operator()(const records::TaskFailed&) const { return {level_enum::err, "task"}; }
    Kind operator()(const records::Recovered&) const { return {level_enum::warn, "task"}; }
    Kind operator()(const records::Step&) const { return {level_enum::debug, "agent"}; }
    Kind operator()(const records::ReviewFinished&) const { return {level_enum::info, "agent"}; }
    Kind operator()(const records::Violation&) const { return {level_enum::warn, "agent"}; }
    Kind operator()(const records::Answer&) const { return {level_enum::debug, "model"}; }
    Kind operator()(const records::AttemptFailed&) const { return {level_enum::warn, "model"}; }
    Kind operator()(const records::CallLost&) const { return {level_enum::warn, "model"}; }
    Kind operator()(const records::Gate&) const { return {level_enum::info, "gate"}; }
    Kind operator()(const records::ApprovalRequested&) const { return {level_enum::info, "people"}; }
    Kind operator()(const records::ActionAsked&) const { return {level_enum::info, "people"}; }
    Kind operator()(const records::EscalationRaised&) const { return {level_enum::info, "people"}; }
    Kind operator()(const records::ApprovalDecided&) const { return {level_enum::info, "people"}; }
    Kind operator()(const records::ActionDecided&) const { return {level_enum::info, "people"}; }
    Kind operator()(const records::EscalationResolved&) const { return {level_enum::info, "people"}; }
    Kind operator()(const event::Answering&) const { return {level_enum::trace, "agent"}; }
    Kind operator()(const event::ToolCalled&) const { return {level_enum::debug, "agent"}; }
    Kind operator()(const event::GateStarted&) const { return {level_enum::debug, "gate"}; }
    Kind operator()(const event::GateTried&) const { return {level_enum::info, "gate"}; }
    Kind operator()(const event::Asking&) const { return {level_enum::debug, "people"}; }
    Kind operator()(const event::AskingEnded&) const { return {level_enum::debug, "people"}; }
    Kind operator()(const event::Message&) const { return {level_enum::info, "stage"}; }
    Kind operator()(const event::Logged& logged) const {
        switch (static_cast<LogLevel>(logged.level)) {
            case LogLevel::debug:
                return {level_enum::debug, "stage"};
            case LogLevel::warning:
                return {level_enum::warn, "stage"};
            case LogLevel::error:
                return {level_enum::err, "stage"};
            case LogLevel::info:
                break;
        }
        return {level_enum::info, "stage"};
    }
    Kind operator()(const event::RunEnded&) const { return {level_enum::info, "task"}; }
    template <class Other>
    Kind operator()(const Other&) const {
        return {level_enum::info, "task"};
    }
};

Kind kind_of(const records::AnyRecord& record) { return std::visit(Kinds{}, record.body); }

Kind kind_of(const Event& event) { return std::visit(Kinds{}, event); }

constexpr Kind of_the_program{level_enum::info, "program"};
constexpr Kind gone_wrong{level_enum::err, "program"};
constexpr Kind lines_were_lost{level_enum::warn, "program"};
constexpr Kind transition{level_enum::info, "task"};

/// Returns log lines for records that are not in the stream.
struct Turns {
    using Turn = std::optional<StreamLine>;
    Turn operator()(const records::TaskCreated& created) const { return turn(created, {{"goal_type", created.goal_type}}); }
    Turn operator()(const records::TaskResumed& resumed) const { return turn(resumed, {{"reason", *resumed.reason}}); }
    Turn operator()(const records::TaskPaused& paused) const { return turn(paused, {{"reason", paused.reason}}); }
    Turn operator()(const records::TaskAborted& aborted) const { return turn(aborted, {{"reason", aborted.reason}}); }
    Turn operator()(const records::TaskFailed& failed) const {
        return turn(failed, {{"code", failed.code}, {"message", failed.message}});
    }
    Turn operator()(const records::TaskCompleted& completed) const {
        return turn(completed, {{"exit_stage", completed.exit_stage}, {"exit_type", *completed.exit_type}});
    }
    Turn operator()(const records::TaskContinued& continued) const {
        return turn(continued, {{"revise", continued.revise},
                                {"exit_stage", continued.extension ? continued.extension->exit_stage : std::string()},
                                {"accepted_stale", continued.freshness.accepted}});
    }
    Turn operator()(const records::Recovered& recovered) const {
        return turn(recovered, {{"torn_file", *recovered.torn_file}, {"torn_bytes", *recovered.torn_bytes}});
    }
    Turn operator()(const records::Violation& violation) const {
        return turn(violation, {{"paths", json::array(violation.paths->begin(), violation.paths->end())}});
    }
    Turn operator()(const records::CallLost& lost) const {
        return turn(lost, {{"run_step", *lost.run_step}, {"reason", *lost.reason}});
    }
    Turn operator()(const records::AttemptFailed& failed) const {
        return turn(failed, {{"run_step", *failed.run_step},
                             {"attempt", *failed.attempt},
                             {"code", *failed.code},
                             {"message", *failed.message},
                             {"where", *failed.where}});
    }
    Turn operator()(const records::Answer& answer) const {
        json::object fields{{"run_step", *answer.run_step}};
        if (answer.usage) {
            fields["model"] = *answer.usage->model;
            fields["input_tokens"] = answer.usage->input_tokens;
            fields["cached_input_tokens"] = *answer.usage->cached_input_tokens;
            fields["output_tokens"] = answer.usage->output_tokens;
        }
        return StreamLine{"model_answered", std::move(fields)};
    }
    template <class Other>
    Turn operator()(const Other&) const {
        return std::nullopt;
    }

private:
    template <class One>
    static StreamLine turn(const One&, json::object fields) {
        return {One::type, std::move(fields)};
    }
};

/// True if the record can move the task from one stage to another.
bool may_move(const records::AnyRecord& record) {
    return std::holds_alternative<records::StageCompleted>(record.body) ||
           std::holds_alternative<records::CycleStarted>(record.body) ||
           std::holds_alternative<records::StageSkipped>(record.body) ||
           std::holds_alternative<records::TaskCompleted>(record.body);
}

Result<level_enum> level_named(const std::string& name, const std::string& where) {
    if (name.empty()) { return level_enum::info; }
    const level_enum level = name == "off" ? level_enum::off : spdlog::level::from_str(name);
    if (level == level_enum::off && name != "off") {
        return Error{"AF-CLI-021", "`" + ellipsis(name, 80) + "` is not a log level", where,
                     "use trace, debug, info, warning, error or off", ErrorKind::invalid};
    }
    return level;
}

/// Writes a single word unchanged, and all else in quotes, with terminal control characters as \uXXXX.
std::string plain(const json::value& value) {
    const auto* text = value.if_string();
    if (text == nullptr) { return to_json_line(value); }
    const bool word =
        !text->empty() && std::string_view(*text).find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@+") == std::string_view::npos;
    return word ? std::string(*text) : to_json_line(value);
}

std::string as_text(const json::object& line) {
    std::string text = std::string(line.at("time").as_string()) + " " + ellipsis(line.at("level").as_string(), 7);
    text.resize(std::max<std::size_t>(text.size(), 33), ' ');
    text += std::string(line.at("component").as_string()) + " " + std::string(line.at("event").as_string());
    for (const auto& [key, value] : line) {
        if (key == "time" || key == "level" || key == "component" || key == "event" || value.is_null()) { continue; }
        text += " " + plain(json::value(key)) + "=" + plain(value);
    }
    return text;
}

}  // namespace

struct Log::State {
    Options options;
    const Clock& clock;
    std::mutex writing;
    level_enum level = level_enum::off;
    std::map<std::string, level_enum, std::less<>> levels;
    std::unique_ptr<spdlog::logger> logger;  ///< Created with the first line, so a command that logs nothing creates no file.
    bool unusable = false;                   ///< The lack of a log was reported.
    std::string failed;                      ///< Why the current line could not be written.
    std::uint64_t lost = 0;
    bool reported_lost = false;

    // The context of the next line.
    std::string task_id;
    std::string stage;
    std::string trace_id;
    std::string span_id;
    std::map<std::string, std::uint64_t, std::less<>> visits;  ///< The newest visit of each stage.
    std::uint64_t step = 0;

    State(Options from, const Clock& of) : options(std::move(from)), clock(of) {}

    [[nodiscard]] bool wants(const Kind& kind) const {
        if (options.file.empty() || unusable) { return false; }
        const auto own = levels.find(kind.component);
        const level_enum least = own == levels.end() ? level : own->second;
        return least != level_enum::off && kind.level >= least;
    }

    void enter(const TaskState& task, const std::string& now_stage, std::uint64_t now_visit) {
        step = task.steps;
        if (task.task_id != task_id) {
            task_id = task.task_id;
            trace_id = trace_id_of(task_id);
            visits.clear();
        } else if (now_stage == stage && visits[stage] == now_visit) {
            return;
        }
        stage = now_stage;
        visits[stage] = now_visit;
        span_id = span_of(stage);
    }

    [[nodiscard]] std::string span_of(const std::string& of_stage) const {
        if (task_id.empty()) { return {}; }
        const auto visit = visits.find(of_stage);
        return span_id_of(task_id, of_stage, visit == visits.end() ? 0 : visit->second);
    }

    /// Writes one line. Returns the error that prevented it, unless it was returned before.
    Result<void> write(std::string_view name, const json::object& fields, const Kind& kind) {
        if (!wants(kind)) { return {}; }
        if (!logger) {
            if (const auto opened = make_logger(); !opened.ok()) {
                unusable = true;
                return opened;
            }
            if (wants(of_the_program)) {
                put("run_started", {{"version", options.version}, {"command", options.command}}, of_the_program);
            }
        }
        if (lost > 0 && !put("lines_lost", {{"count", lost}}, lines_were_lost)) { return lose(); }
        lost = 0;
        if (!put(name, fields, kind)) { return lose(); }
        return {};
    }

private:
    Result<void> make_logger() {
        const std::filesystem::path folder = std::filesystem::path(options.file).parent_path();
        AF_CHECK(make_directories(folder));
        auto sink = std::make_shared<RotatingLines>(options);
        std::error_code error;
        if (!options.follow_links && std::filesystem::is_symlink(folder, error)) { return sink->problem("its folder is a link"); }
        AF_CHECK(sink->reopen());
        logger = std::make_unique<spdlog::logger>("agentforge", std::move(sink));
        logger->set_level(level_enum::trace);
        logger->set_error_handler([this](const std::string& why) {
            failed = why.empty() ? "?" : why;
        });  // A full disk must not end the task: the journal is what counts.
        return {};
    }

    Result<void> lose() {
        ++lost;
        if (std::exchange(reported_lost, true)) { return {}; }
        return Error{"AF-CLI-120", "log lines were lost: " + failed, options.file,
                     "free some space on its disk; the task continues, and its journal is complete", ErrorKind::io};
    }

    bool put(std::string_view name, const json::object& fields, const Kind& kind) {
        const auto or_null = [](const std::string& text) { return text.empty() ? json::value(nullptr) : json::value(text); };
        std::string of_stage = text_of(fields, "stage");
        if (of_stage.empty()) { of_stage = stage; }
        json::object line{{"time", format_time(clock.now())},
                          {"level", spdlog::level::to_string_view(kind.level).data()},
                          {"component", kind.component},
                          {"event", name},
                          {"task_id", or_null(task_id)},
                          {"stage", or_null(of_stage)},
                          {"step", task_id.empty() ? json::value(nullptr) : json::value(step)},
                          {"trace_id", or_null(trace_id)},
                          {"span_id", or_null(of_stage == stage ? span_id : span_of(of_stage))},
                          {"pid", static_cast<std::int64_t>(::getpid())}};
        for (const auto& [key, value] : fields) {
            // The line has its own level; the transitions name the stages.
            if (key == "level" || key == "stages") { continue; }
            if (!line.contains(key)) { line[key] = value; }
        }
        if (options.also) { options.also(line); }
        failed.clear();
        logger->log(kind.level, options.format == "text" ? as_text(line) : to_json_line(line));
        return failed.empty();
    }
};

Log::Log(std::unique_ptr<State> state, Progress& next) : state_(std::move(state)), next_(next) {}
Log::~Log() = default;

const std::vector<std::string>& Log::components() {
    static const std::vector<std::string> names = {"task", "agent", "stage", "model", "gate", "people", "program"};
    return names;
}

Result<std::unique_ptr<Log>> Log::open(const Options& options, Progress& next, const Clock& clock) {
    auto state = std::make_unique<State>(options, clock);
    AF_TRY(state->level, level_named(options.level, "log.level"));
    for (const auto& [component, name] : options.levels) {
        if (std::ranges::find(components(), component) == components().end()) {
            const std::string near = nearest(component, components());
            return Error{"AF-CLI-121", "`" + ellipsis(component, 80) + "` is not a log component", "log.levels",
                         near.empty() ? "use task, agent, stage, model, gate, people or program" : "did you mean `" + near + "`?",
                         ErrorKind::invalid};
        }
        AF_TRY(state->levels[component], level_named(name, "log.levels." + component));
    }
    if (options.format != "json" && options.format != "text") {
        return Error{"AF-CLI-121", "`" + ellipsis(options.format, 80) + "` is not a log format", "log.format", "use json or text",
                     ErrorKind::invalid};
    }
    return std::unique_ptr<Log>(new Log(std::move(state), next));
}

void Log::warn(const Result<void>& written) {
    if (!written.ok()) { next_.event(event::Logged{static_cast<std::uint64_t>(LogLevel::warning), written.error().to_string()}); }
}

void Log::event(const Event& event) {
    Result<void> written;
    {
        const std::lock_guard guard(state_->writing);
        StreamLine line = line_of(event);
        // The step of the agent's run. The line's own `step` is the task's.
        if (const json::value* step = line.fields.if_contains("step")) {
            line.fields["run_step"] = *step;
            line.fields.erase("step");
        }
        written = state_->write(line.type, line.fields, kind_of(event));
    }
    warn(written);
    next_.event(event);
}

void Log::recorded(const TaskState& task, const StageState* left, const records::AnyRecord& record) {
    Result<void> written;
    {
        const std::lock_guard guard(state_->writing);
        State& state = *state_;
        const auto write = [&](std::string_view name, const json::object& fields, const Kind& kind) {
            if (auto result = state.write(name, fields, kind); !result.ok()) { written = std::move(result); }
        };
        // The stage has begun.
        const bool has_stage = !task.stages.empty() && (task.stage_index > 0 || task.stage().visits > 0);
        const std::string from = left == nullptr ? std::string() : left->name;
        const std::string to =
            std::holds_alternative<records::TaskCompleted>(record.body) || !has_stage ? std::string() : task.stage().name;
        // The first stage's entry has no source, and the end has no target.
        const bool first = std::holds_alternative<records::StageStarted>(record.body) && has_stage && task.stage().visits <= 1 &&
                           task.stage_index == 0;
        if (left != nullptr && (first || (from != to && may_move(record)))) {
            std::uint64_t cycles = 0;
            for (const StageState& stage : task.stages) { cycles += stage.cycles; }
            state.enter(task, first ? to : from, first ? task.stage().visits : left->visits);
            write("stage_transition",
                  {{"from_stage", first ? json::value(nullptr) : json::value(from)},
                   {"to_stage", to.empty() ? json::value(nullptr) : json::value(to)},
                   {"duration_ms", first ? 0 : left->duration_ms},
                   {"tokens_used", first ? 0 : left->input_tokens + left->output_tokens},
                   {"cycle_count", cycles},
                   {"retry_count", first || left->attempts == 0 ? 0 : left->attempts - 1}},
                  transition);
        }
        state.enter(task, to, has_stage ? task.stage().visits : 0);
        if (const auto turn = std::visit(Turns{}, record.body)) { write(turn->type, turn->fields, kind_of(record)); }
        for (const StreamLine& line : lines_of(task, record)) { write(line.type, line.fields, kind_of(record)); }
    }
    warn(written);
    next_.recorded(task, left, record);
}

void Log::note(const Error& logged, const std::string& beside) {
    const std::lock_guard guard(state_->writing);
    std::error_code error;
    if (!state_->logger && !std::filesystem::is_directory(beside, error)) { return; }
    static_cast<void>(state_->write(
        "error", {{"code", logged.code}, {"message", logged.message}, {"where", logged.where}, {"remedy", logged.remedy}},
        gone_wrong));
}

}  // namespace agentforge::kernel
