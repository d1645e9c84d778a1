// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "faulty.hpp"

FAULTY_ENTRY(factory.destroy = [](void* object) {
    delete static_cast<agentforge::Tool*>(object);
    throw std::runtime_error("no exception may leave");
})
