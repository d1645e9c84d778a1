// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace agentforge::fuzz {

/// Aborts if the promise is broken: a fuzzer keeps the input, and a test ends with the message.
inline void must(bool holds, const std::string& promise) {
    if (holds) { return; }
    std::fprintf(stderr, "not kept: %s\n", promise.c_str());
    std::abort();
}

}  // namespace agentforge::fuzz
