// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "faulty.hpp"

FAULTY_ENTRY(factory.create = [](const char*, char*, std::size_t) -> void* {
    throw std::runtime_error("no exception may leave");
})
