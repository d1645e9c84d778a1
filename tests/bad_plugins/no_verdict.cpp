// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

namespace {

class Faulty : public agentforge::Stage {
public:
    agentforge::StageInfo info() const override {
        agentforge::StageInfo info;
        info.name = "faulty";
        return info;
    }
    agentforge::StageResult execute(agentforge::StageContext&) override { return {}; }
};

}  // namespace

AGENTFORGE_PLUGIN(FAULTY_ID, "1.0.0", "Apache-2.0", agentforge::provides_stage<Faulty>("faulty"))
