// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "faulty.hpp"

FAULTY_ENTRY(factory.destroy = [](void*) { throw std::runtime_error("no exception may leave"); })
