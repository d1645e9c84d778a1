// SPDX-License-Identifier: Apache-2.0
#include "host/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>

#include <filesystem>

#include <agentforge/host.hpp>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

struct Log::State {
    std::string file;
    spdlog::level::level_enum level = spdlog::level::off;
    std::unique_ptr<spdlog::logger> logger;     ///< Made with the first line, so that a command that logs nothing leaves nothing.

    Result<void> open();
};

namespace {

/// Task 012's levels by event: what goes wrong is a warning, single tool calls are details.
spdlog::level::level_enum level_of(std::string_view name, const json::object& fields) {
    if (name == "log") {
        const json::value* level = fields.if_contains("level");
        switch (level != nullptr && level->is_number() ? level->to_number<int>() : 2) {
            case 1: return spdlog::level::debug;
            case 3: return spdlog::level::warn;
            case 4: return spdlog::level::err;
            default: return spdlog::level::info;
        }
    }
    if (name == "stage_failed" || name == "artifact_rejected") { return spdlog::level::warn; }
    if (name == "answering") { return spdlog::level::trace; }
    if (name == "step" || name == "tool" || name == "gate_started") { return spdlog::level::debug; }
    return spdlog::level::info;
}

}  // namespace

Log::Log(std::unique_ptr<State> state, EventSink& next) : state_(std::move(state)), next_(next) {}
Log::~Log() = default;

Result<std::unique_ptr<Log>> Log::open(const Options& options, EventSink& next) {
    auto state = std::make_unique<State>();
    if (!options.file.empty() && options.level != "off") {
        state->level = options.level.empty() ? spdlog::level::info : spdlog::level::from_str(options.level);
        if (state->level == spdlog::level::off) {
            return Error{"AF-CLI-021", "`" + options.level + "` is not a log level", "log.level", "use trace, debug, info, warning, error or off",
                         ErrorKind::invalid};
        }
        state->file = options.file;
    }
    return std::unique_ptr<Log>(new Log(std::move(state), next));
}

Result<void> Log::State::open() {
    AF_CHECK(make_directories(std::filesystem::path(file).parent_path()));
    try {
        auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_st>(file, max_file_bytes, kept_files);
        logger = std::make_unique<spdlog::logger>("agentforge", std::move(sink));
        logger->set_pattern("%v");
        logger->set_level(level);
        logger->set_error_handler([](const std::string&) {});    // A full disk must not end the task: the journal is the truth.
    } catch (const spdlog::spdlog_ex& problem) {
        return Error{"AF-CLI-020", std::string("the log cannot be written: ") + problem.what(), file,
                     "make its folder writable, or set log.level to off", ErrorKind::io};
    }
    return {};
}

void Log::event(std::string_view name, const json::object& fields) {
    const auto level = level_of(name, fields);
    if (level >= state_->level && state_->level != spdlog::level::off) {
        if (!state_->logger) {
            if (const auto opened = state_->open(); !opened.ok()) {
                state_->level = spdlog::level::off;
                next_.event("log", {{"level", static_cast<std::uint64_t>(LogLevel::warning)}, {"message", opened.error().to_string()}});
            }
        }
        if (state_->logger) {
            json::object line{{"time", format_time(SystemClock().now())}, {"level", spdlog::level::to_string_view(level).data()}, {"event", name}};
            for (const auto& [key, value] : fields) {
                if (!line.contains(key)) { line[key] = value; }
            }
            state_->logger->log(level, to_json_line(line));
        }
    }
    next_.event(name, fields);
}

}  // namespace agentforge::kernel
