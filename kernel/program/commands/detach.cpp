// SPDX-License-Identifier: Apache-2.0
#include "program/commands/detach.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ostream>

#include "base/files.hpp"
#include "base/ids.hpp"
#include "base/text.hpp"
#include "plugins/exit_guard.hpp"
#include "program/project/project_trust.hpp"
#include "records/records.hpp"
#include "task/state.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

namespace {

class DetachedProgress final : public Progress {
public:
    DetachedProgress(Program& program, std::unique_ptr<Progress> next) : program_(program), next_(std::move(next)) {}

    void event(const Event& event) override { next_->event(event); }
    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override {
        const bool begins = std::holds_alternative<records::TaskStarted>(record.body) ||
                            std::holds_alternative<records::TaskResumed>(record.body) ||
                            std::holds_alternative<records::TaskContinued>(record.body);
        if (begins && program_.detached >= 0) { leave(state.task_id); }
        next_->recorded(state, left, record);
    }

private:
    /// From here on, output goes to a file beside the task's journal. Sends the task's id to the parent.
    void leave(const std::string& task) {
        const auto place = ProjectPlace::find(program_);
        if (!place.ok()) { return; }
        const std::string file = (TaskStore(place->agentforge).paths(task).root / "detached.log").string();
        const int log = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        const int out = log >= 0 ? log : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        program_.out.flush();
        program_.err.flush();
        if (out >= 0) {
            ::dup2(out, STDOUT_FILENO);
            ::dup2(out, STDERR_FILENO);
            ::close(out);
        }
        const auto result = write_all(program_.detached, task, "the parent");
        if (!result.ok()) {
            next_->event(event::Logged{static_cast<std::uint64_t>(LogLevel::warning), result.error().to_string()});
        }
        ::close(program_.detached);
        program_.detached = -1;
    }

    Program& program_;
    std::unique_ptr<Progress> next_;
};

std::string read_to_end(int descriptor) {
    std::string text;
    char buffer[512];
    while (true) {
        const auto count = ::read(descriptor, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) { continue; }
        if (count <= 0) { return text; }
        text.append(buffer, static_cast<std::size_t>(count));
    }
}

int exit_code_of(pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

Error cannot_detach(const char* what) {
    return Error{"AF-CLI-071", std::string("cannot run the task in the background: ") + what + ": " + std::strerror(errno), "",
                 "leave out --detach, or stop some processes", ErrorKind::unavailable};
}

}  // namespace

int detach(Program& program, const std::function<int()>& work) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) { return program.fail(cannot_detach("pipe")); }
    program.out.flush();
    program.err.flush();
    const pid_t child = ::fork();
    if (child < 0) {
        const Error error = cannot_detach("fork");
        ::close(ends[0]);
        ::close(ends[1]);
        return program.fail(error);
    }
    if (child == 0) {
        ::close(ends[0]);
        ::setsid();
        exit_guard::watch_this_process();
        const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing >= 0) {
            ::dup2(nothing, STDIN_FILENO);
            ::close(nothing);
        }
        program.detached = ends[1];
        program.err_is_terminal = program.in_is_terminal = program.out_is_terminal = false;
        return work();
    }
    ::close(ends[1]);
    const std::string task = read_to_end(ends[0]);
    ::close(ends[0]);
    if (task.empty()) { return exit_code_of(child); }  // The child has printed its own error.
    const auto place = ProjectPlace::find(program);
    const std::string log = place.ok() ? (TaskStore(place->agentforge).paths(task).root / "detached.log").string() : "";
    if (program.json_output || program.stream_output) {
        json::object result{{"task_id", task}, {"detached", true}, {"pid", child}, {"log", log}};
        if (program.stream_output) {
            result["type"] = "result";
            program.out << to_json_line(result) << "\n";
        } else {
            program.print_json(result);
        }
        return 0;
    }
    program.out << "Started: " << task << "  (process " << child << ")\n"
                << "  follow it: agentforge attach " << short_id(task) << "\n"
                << "  pause it:  agentforge pause " << short_id(task) << "\n";
    return 0;
}

std::unique_ptr<Progress> make_detached_progress(Program& program, std::unique_ptr<Progress> next) {
    return std::make_unique<DetachedProgress>(program, std::move(next));
}

}  // namespace agentforge::kernel
