// SPDX-License-Identifier: Apache-2.0
#include <agentforge/plugin.hpp>

#ifndef OUTSIDE_NAME
#define OUTSIDE_NAME "outside"
#endif

namespace {

class Outside : public agentforge::Stage {
public:
    agentforge::StageInfo info() const override {
        agentforge::StageInfo info;
        info.name = OUTSIDE_NAME;
        info.output_fields = {"greeting"};
        return info;
    }
    agentforge::StageResult execute(agentforge::StageContext&) override { return agentforge::StageResult::completed({{"greeting", "hello from outside"}}); }
};

}  // namespace

AGENTFORGE_PLUGIN("org.example." OUTSIDE_NAME, "1.0.0", "Apache-2.0", agentforge::provides_stage<Outside>(OUTSIDE_NAME))
