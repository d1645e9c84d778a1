// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolSpec spec() const override {
        agentforge::ToolSpec spec = GoodTool::spec();
        spec.name = "somebody_else";
        return spec;
    }
};

}  // namespace

FAULTY_TOOL(Faulty)
