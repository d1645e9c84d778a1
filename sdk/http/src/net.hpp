// SPDX-License-Identifier: Apache-2.0
// The one symbol of libagentforge-net.so. Library and plugins are of one build: what they pass to one another are C++ objects.
#pragma once

#include <agentforge_http/exchange.hpp>

namespace agentforge::http {

struct Net {
    const char* version;    ///< The project's.
    std::size_t call_size;  ///< sizeof(Call), sizeof(Head): another build's may differ in them before they differ in the version.
    std::size_t head_size;
    Result<Head> (*exchange)(const Call&, const std::function<bool()>&, const Take&);
};

}  // namespace agentforge::http

extern "C" const agentforge::http::Net* agentforge_net();
