// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "faulty.hpp"

FAULTY_ENTRY(factory.create = [](const char*, char*, std::size_t) -> void* {
    for (;;) { ::pause(); }
})
