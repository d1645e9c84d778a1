// SPDX-License-Identifier: Apache-2.0
// The one symbol of libagentforge-net.so. Library and plugins must come from one build, because they exchange C++ objects.
#pragma once

#include <agentforge_http/exchange.hpp>

namespace agentforge::http {

struct Net {
    const char* version;    ///< Version of the project.
    std::size_t call_size;  ///< sizeof(Call), sizeof(Head): they may differ between builds of the same version.
    std::size_t head_size;
    Result<Head> (*exchange)(const Call&, const std::function<bool()>&, const Take&);
};

}  // namespace agentforge::http

extern "C" const agentforge::http::Net* agentforge_net();
