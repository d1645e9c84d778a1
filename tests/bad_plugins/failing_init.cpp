// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    Faulty() { throw std::runtime_error("the moon is not full"); }
};

}  // namespace

FAULTY_TOOL(Faulty)
