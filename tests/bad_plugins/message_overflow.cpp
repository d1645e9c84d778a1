// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "faulty.hpp"

FAULTY_ENTRY(factory.create = [](const char*, char* error, std::size_t size) -> void* {
    if (error != nullptr) { std::memset(error, 'x', size + 16); }
    return nullptr;
})
