// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "faulty.hpp"

namespace {

class Faulty : public faulty::GoodTool {
public:
    ~Faulty() override { throw_it(); }

private:
    static void throw_it() { throw std::runtime_error("a destructor may not throw"); }
};

}  // namespace

FAULTY_TOOL(Faulty)
