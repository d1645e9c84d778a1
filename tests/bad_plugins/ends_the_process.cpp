// SPDX-License-Identifier: Apache-2.0
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "faulty.hpp"

namespace {

/// Ends the process that it is called in, as its setting `how` says.
class Faulty : public agentforge::Stage {
public:
    explicit Faulty(agentforge::json::object config) : how_(config.at("how").as_string()) {}
    agentforge::StageInfo info() const override {
        agentforge::StageInfo info;
        info.name = "faulty";
        return info;
    }
    agentforge::StageResult execute(agentforge::StageContext&) override {
        if (how_ == "exit") { std::exit(0); }
        if (how_ == "quick_exit") { std::quick_exit(0); }
        if (how_ == "_exit") { ::_exit(0); }
        if (how_ == "_Exit") { std::_Exit(0); }
        if (how_ == "syscall") { ::syscall(SYS_exit_group, 0); }
        if (how_ == "execve") {
            std::array<char*, 2> words{const_cast<char*>("true"), nullptr};
            ::execve("/bin/true", words.data(), environ);
        }
        if (how_ == "execlp") { ::execlp("true", "true", nullptr); }
        if (how_ == "child") { return child_runs_a_program(); }
        if (how_ == "atexit") {
            std::atexit([] { ::_exit(0); });
            return agentforge::StageResult::failed(
                agentforge::Error{"FAULTY-1", "it failed", "", "", agentforge::ErrorKind::invalid});
        }
        std::raise(SIGKILL);
        return {};
    }

private:
    /// What is fine: a forked child becomes another program.
    static agentforge::StageResult child_runs_a_program() {
        const pid_t child = ::fork();
        if (child == 0) {
            ::execlp("sh", "sh", "-c", "exit 7", nullptr);
            ::_exit(1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return agentforge::StageResult::failed(agentforge::Error{"FAULTY-" + std::to_string(WEXITSTATUS(status)),
                                                                 "the child ended", "", "", agentforge::ErrorKind::invalid});
    }

    std::string how_;
};

}  // namespace

AGENTFORGE_PLUGIN(FAULTY_ID, "1.0.0", "Apache-2.0", agentforge::provides_stage<Faulty>("faulty"))
