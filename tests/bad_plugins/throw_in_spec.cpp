// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    agentforge::ToolSpec spec() const override { throw std::runtime_error("no words for it"); }
};

}  // namespace

FAULTY_TOOL(Faulty)
