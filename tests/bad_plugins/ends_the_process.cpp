// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

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
        if (how_ == "atexit") {
            std::atexit([] { ::_exit(0); });
            return agentforge::StageResult::failed(agentforge::Error{"FAULTY-1", "it failed", "", "", agentforge::ErrorKind::invalid});
        }
        std::raise(SIGKILL);
        return {};
    }

private:
    std::string how_;
};

}  // namespace

AGENTFORGE_PLUGIN(FAULTY_ID, "1.0.0", "Apache-2.0", agentforge::provides_stage<Faulty>("faulty"))
