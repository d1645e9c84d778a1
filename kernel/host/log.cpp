// SPDX-License-Identifier: Apache-2.0
#include "host/log.hpp"

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
#include "base/text.hpp"
#include "host/event_fields.hpp"
#include "task/state.hpp"
#include "telemetry/trace_ids.hpp"

namespace agentforge::kernel {

namespace {

using spdlog::level::level_enum;

/// A file of lines that several processes write: each line is one write(2) at the end, and who finds the file full moves it aside, holding its
/// flock(2), so that of two who find it full one does it. The other waits for nobody: its line still goes into the full one.
class RotatingLines final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit RotatingLines(const Log::Options& options) : options_(options) {}

    Result<void> reopen() {
        const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | (options_.follow_links ? 0 : O_NOFOLLOW);
        FileDescriptor opened(::open(options_.file.c_str(), flags, 0600));
        if (!opened.valid() && errno == ENOENT && make_directories(std::filesystem::path(options_.file).parent_path()).ok()) {
            opened = FileDescriptor(::open(options_.file.c_str(), flags, 0600));        // Somebody removed the folder.
        }
        if (!opened.valid()) { return problem(errno_text(errno)); }
        struct stat status {};
        if (::fstat(opened.get(), &status) != 0) { return problem(errno_text(errno)); }
        if (!S_ISREG(status.st_mode)) { return problem("it is not a regular file"); }
        file_ = std::move(opened);
        return {};
    }

    [[nodiscard]] Error problem(const std::string& why) const {
        return {"AF-CLI-020", "the log cannot be written: " + why, options_.file, "make its folder writable, or set log.level to off", ErrorKind::io};
    }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override {
        std::string line(message.payload.begin(), message.payload.end());
        line += '\n';
        if (!is_the_file()) { throw_if(reopen()); }
        if (!has_room(line.size())) { throw_if(rotate(line.size())); }
        if (torn_) { line.insert(0, 1, '\n'); }       // Half a line stands at the end: this one begins anew.
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
    /// Another process may have moved it aside, or somebody removed it.
    [[nodiscard]] bool is_the_file() const {
        struct stat ours {};
        struct stat named {};
        return file_.valid() && ::fstat(file_.get(), &ours) == 0 && ::stat(options_.file.c_str(), &named) == 0 && ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
    }
    [[nodiscard]] bool has_room(std::size_t bytes) const {
        struct stat status {};
        if (::fstat(file_.get(), &status) != 0 || status.st_size == 0) { return true; }      // A line that is too long for any file gets one.
        return static_cast<std::uint64_t>(status.st_size) + bytes <= options_.max_file_bytes;
    }
    Result<void> rotate(std::size_t bytes) {
        if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) { return {}; }
        const auto moved = move_aside(bytes);
        ::flock(file_.get(), LOCK_UN);      // Where it is the old one still; closing it freed the lock, too.
        return moved;
    }
    Result<void> move_aside(std::size_t bytes) {
        if (!is_the_file()) { return reopen(); }      // Somebody was faster.
        if (has_room(bytes)) { return {}; }
        const auto aside = [this](unsigned number) { return options_.file + "." + std::to_string(number); };
        if (options_.kept_files == 0) {
            ::unlink(options_.file.c_str());
        } else {
            for (unsigned number = options_.kept_files; number > 1; --number) { ::rename(aside(number - 1).c_str(), aside(number).c_str()); }
            if (::rename(options_.file.c_str(), aside(1).c_str()) != 0) { return problem(errno_text(errno)); }
        }
        return reopen();
    }

    Log::Options options_;
    FileDescriptor file_;
    bool torn_ = false;
};

struct Kind { level_enum level; const char* component; };

/// Task 012's levels by event: what goes wrong is a warning, single calls are details.
Kind kind_of(std::string_view name, const json::object& fields) {
    static const std::map<std::string_view, Kind> known = {
        {"stage_failed", {level_enum::warn, "task"}}, {"artifact_rejected", {level_enum::warn, "task"}}, {"task_failed", {level_enum::err, "task"}},
        {"recovered", {level_enum::warn, "task"}}, {"answering", {level_enum::trace, "agent"}}, {"step", {level_enum::debug, "agent"}},
        {"tool", {level_enum::debug, "agent"}}, {"review", {level_enum::info, "agent"}}, {"violation", {level_enum::warn, "agent"}},
        {"message", {level_enum::info, "stage"}}, {"model_answered", {level_enum::debug, "model"}}, {"attempt_failed", {level_enum::warn, "model"}},
        {"call_lost", {level_enum::warn, "model"}}, {"gate_started", {level_enum::debug, "gate"}}, {"gate", {level_enum::info, "gate"}},
        {"approval_requested", {level_enum::info, "people"}}, {"escalation", {level_enum::info, "people"}}, {"decided", {level_enum::info, "people"}},
        {"resolved", {level_enum::info, "people"}}, {"asking", {level_enum::debug, "people"}}, {"run_started", {level_enum::info, "program"}}, {"error", {level_enum::err, "program"}},
        {"lines_lost", {level_enum::warn, "program"}}};
    if (name == "log") {
        const json::value* level = fields.if_contains("level");
        switch (level != nullptr && level->is_number() ? level->to_number<int>() : 2) {
            case 1: return {level_enum::debug, "stage"};
            case 3: return {level_enum::warn, "stage"};
            case 4: return {level_enum::err, "stage"};
            default: return {level_enum::info, "stage"};
        }
    }
    const auto found = known.find(name);
    return found == known.end() ? Kind{level_enum::info, "task"} : found->second;
}

/// Records of the journal that no event tells; the others do nothing here but carry the ids on. Their fields are `fields`.
struct Turn { const char* name; std::vector<std::string_view> fields; };
const Turn* turn_of(std::string_view type) {
    static const std::map<std::string_view, Turn> turns = {
        {"task_created", {"task_created", {"goal_type"}}}, {"task_resumed", {"task_resumed", {"reason"}}}, {"task_paused", {"task_paused", {"reason", "code"}}},
        {"task_aborted", {"task_aborted", {"reason"}}}, {"task_failed", {"task_failed", {"code", "message"}}},
        {"task_completed", {"task_completed", {"exit_stage", "exit_type"}}}, {"recovered", {"recovered", {"torn_file", "torn_bytes"}}},
        {"violation", {"violation", {"code", "path", "message"}}}, {"call_lost", {"call_lost", {"run_step", "reason"}}},
        {"attempt_failed", {"attempt_failed", {"run_step", "attempt", "code", "message", "where"}}}, {"answer", {"model_answered", {"run_step"}}}};
    const auto found = turns.find(type);
    return found == turns.end() ? nullptr : &found->second;
}

Result<level_enum> level_named(const std::string& name, const std::string& where) {
    if (name.empty()) { return level_enum::info; }
    const level_enum level = name == "off" ? level_enum::off : spdlog::level::from_str(name);
    if (level == level_enum::off && name != "off") {
        return Error{"AF-CLI-021", "`" + ellipsis(name, 80) + "` is not a log level", where, "use trace, debug, info, warning, error or off", ErrorKind::invalid};
    }
    return level;
}

/// A word as it is, all else in quotes, with what a terminal would obey written as \uXXXX.
std::string plain(const json::value& value) {
    const auto* text = value.if_string();
    if (text == nullptr) { return to_json_line(value); }
    const bool word = !text->empty() && std::string_view(*text).find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@+") == std::string_view::npos;
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
    std::unique_ptr<spdlog::logger> logger;     ///< Made with the first line, so that a command that logs nothing leaves nothing.
    bool unusable = false;                      ///< It was said that there is no log.
    std::string failed;                         ///< Why the line under way could not be written.
    std::uint64_t lost = 0;
    bool told_lost = false;

    // What the next line belongs to.
    std::string task_id;
    std::string stage;
    std::string trace_id;
    std::string span_id;
    std::map<std::string, std::uint64_t, std::less<>> visits;       ///< The newest of each stage.
    std::uint64_t step = 0;
    std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> gates;   ///< Since when each is measured.

    State(Options from, const Clock& of) : options(std::move(from)), clock(of) {}

    [[nodiscard]] bool wants(const Kind& kind) const {
        if (options.file.empty() || unusable) { return false; }
        const auto own = levels.find(kind.component);
        const level_enum least = own == levels.end() ? level : own->second;
        return least != level_enum::off && kind.level >= least;
    }

    void enter(const std::string& task, const std::string& now_stage, std::uint64_t now_visit) {
        if (task != task_id) {
            task_id = task;
            trace_id = trace_id_of(task);
            visits.clear();
            step = 0;
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

    /// Writes one line. What kept it from being written, where that was not said before.
    Result<void> write(std::string_view name, const json::object& fields, const Kind& kind) {
        if (!wants(kind)) { return {}; }
        if (!logger) {
            if (const auto opened = make_logger(); !opened.ok()) {
                unusable = true;
                return opened;
            }
            const Kind first = kind_of("run_started", {});
            if (wants(first)) { put("run_started", {{"version", options.version}, {"command", options.command}}, first); }
        }
        if (lost > 0 && !put("lines_lost", {{"count", lost}}, kind_of("lines_lost", {}))) { return lose(); }
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
        logger->set_error_handler([this](const std::string& why) { failed = why.empty() ? "?" : why; });    // A full disk must not end the task: the journal is the truth.
        return {};
    }

    Result<void> lose() {
        ++lost;
        if (std::exchange(told_lost, true)) { return {}; }
        return Error{"AF-CLI-120", "lines of the log are lost: " + failed, options.file, "make room on its disk; the task goes on, and its journal has all that matters", ErrorKind::io};
    }

    bool put(std::string_view name, const json::object& fields, const Kind& kind) {
        const auto or_null = [](const std::string& text) { return text.empty() ? json::value(nullptr) : json::value(text); };
        std::string of_stage = event_text(fields, "stage");
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
            if (key == "level") { continue; }       // Of `log`: it is the line's.
            if (key == "step") { line[name == "step" ? "step" : "run_step"] = value; }
            else if (!line.contains(key)) { line[key] = value; }
        }
        if (options.also) { options.also(line); }
        failed.clear();
        logger->log(kind.level, options.format == "text" ? as_text(line) : to_json_line(line));
        return failed.empty();
    }
};

Log::Log(std::unique_ptr<State> state, EventSink& next) : state_(std::move(state)), next_(next) {}
Log::~Log() = default;

const std::vector<std::string>& Log::components() {
    static const std::vector<std::string> names = {"task", "agent", "stage", "model", "gate", "people", "program"};
    return names;
}

Result<std::unique_ptr<Log>> Log::open(const Options& options, EventSink& next, const Clock& clock) {
    auto state = std::make_unique<State>(options, clock);
    AF_TRY(state->level, level_named(options.level, "log.level"));
    for (const auto& [component, name] : options.levels) {
        if (std::ranges::find(components(), component) == components().end()) {
            const std::string near = nearest(component, components());
            return Error{"AF-CLI-121", "`" + ellipsis(component, 80) + "` is no component of the log", "log.levels",
                         near.empty() ? "use task, agent, stage, model, gate, people or program" : "did you mean `" + near + "`?", ErrorKind::invalid};
        }
        AF_TRY(state->levels[component], level_named(name, "log.levels." + component));
    }
    if (options.format != "json" && options.format != "text") {
        return Error{"AF-CLI-121", "`" + ellipsis(options.format, 80) + "` is no form of the log", "log.format", "use json or text", ErrorKind::invalid};
    }
    return std::unique_ptr<Log>(new Log(std::move(state), next));
}

void Log::event(std::string_view name, const json::object& fields) {
    Result<void> written;
    {
        const std::lock_guard guard(state_->writing);
        State& state = *state_;
        if (const std::string task = event_text(fields, "task_id"); name == "task_started" && task != state.task_id) { state.enter(task, "", 0); }
        json::object all = fields;
        all.erase("stages");        // Of task_started: the transitions name them.
        if (name == "tool" || name == "answering") {
            all["run_step"] = event_number(fields, "step");
            all.erase("step");
        }
        if (const std::string gate = event_text(fields, "gate"); name == "gate_started") {
            state.gates[gate] = state.clock.steady();
        } else if (name == "gate" && !all.contains("duration_ms")) {
            if (const auto since = state.gates.find(gate); since != state.gates.end()) {
                all["duration_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(state.clock.steady() - since->second).count();
                state.gates.erase(since);
            }
        }
        written = state.write(name, all, kind_of(name, fields));
    }
    if (!written.ok()) { next_.event("log", {{"level", static_cast<std::uint64_t>(LogLevel::warning)}, {"message", written.error().to_string()}}); }
    next_.event(name, fields);
}

void Log::recorded(const TaskState& task, const StageState* left, const json::object& record) {
    Result<void> written;
    {
        const std::lock_guard guard(state_->writing);
        State& state = *state_;
        const auto write = [&](std::string_view name, const json::object& fields) {
            if (auto result = state.write(name, fields, kind_of(name, fields)); !result.ok()) { written = std::move(result); }
        };
        const std::string type = event_text(record, "type");
        const bool has_stage = !task.stages.empty() && (task.stage_index > 0 || task.stage().visits > 0);      // It has begun.
        const std::string from = left == nullptr ? std::string() : left->name;
        const std::string to = type == "task_completed" || !has_stage ? std::string() : task.stage().name;
        state.step = task.steps;
        // FR-018: a stage's first entry has no source, the end no target.
        const bool first = type == "stage_started" && has_stage && task.stage().visits <= 1 && task.stage_index == 0;
        if (left != nullptr && (first || (from != to && (type == "stage_completed" || type == "cycle_started" || type == "stage_skipped" || type == "task_completed")))) {
            std::uint64_t cycles = 0;
            for (const StageState& stage : task.stages) { cycles += stage.cycles; }
            state.enter(task.task_id, first ? to : from, first ? task.stage().visits : left->visits);
            write("stage_transition", {{"from_stage", first ? json::value(nullptr) : json::value(from)},
                                       {"to_stage", to.empty() ? json::value(nullptr) : json::value(to)},
                                       {"duration_ms", first ? 0 : left->duration_ms},
                                       {"tokens_used", first ? 0 : left->input_tokens + left->output_tokens},
                                       {"cycle_count", cycles},
                                       {"retry_count", first || left->attempts == 0 ? 0 : left->attempts - 1}});
        }
        state.enter(task.task_id, to, has_stage ? task.stage().visits : 0);
        if (const Turn* turn = turn_of(type)) {
            json::object fields;
            for (const std::string_view key : turn->fields) {
                if (const json::value* value = record.if_contains(key)) { fields[key] = *value; }
            }
            if (type == "answer") {
                if (const json::value* usage = record.if_contains("usage"); usage != nullptr && usage->is_object()) {
                    for (const char* key : {"model", "input_tokens", "cached_input_tokens", "output_tokens"}) {
                        if (const json::value* value = usage->get_object().if_contains(key)) { fields[key] = *value; }
                    }
                }
            }
            write(turn->name, fields);
        }
    }
    if (!written.ok()) { next_.event("log", {{"level", static_cast<std::uint64_t>(LogLevel::warning)}, {"message", written.error().to_string()}}); }
}

void Log::note(std::string_view name, const json::object& fields, const std::string& beside) {
    const std::lock_guard guard(state_->writing);
    std::error_code error;
    if (!state_->logger && !std::filesystem::is_directory(beside, error)) { return; }
    static_cast<void>(state_->write(name, fields, kind_of(name, fields)));
}

}  // namespace agentforge::kernel
