// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

int defined_nowhere(int number);

namespace {

class Faulty : public faulty::GoodTool {
public:
    Faulty() { static_cast<void>(defined_nowhere(1)); }
};

}  // namespace

FAULTY_TOOL(Faulty)
