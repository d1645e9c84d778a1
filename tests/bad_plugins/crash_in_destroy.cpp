// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include "faulty.hpp"

FAULTY_ENTRY(factory.destroy = [](void*) { std::raise(SIGBUS); })
