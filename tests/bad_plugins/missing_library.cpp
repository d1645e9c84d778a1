// SPDX-License-Identifier: Apache-2.0
#include "faulty.hpp"

int from_the_library_that_is_gone();

namespace {

class Faulty : public faulty::GoodTool {
public:
    Faulty() { static_cast<void>(from_the_library_that_is_gone()); }
};

}  // namespace

FAULTY_TOOL(Faulty)
