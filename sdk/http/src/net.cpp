// SPDX-License-Identifier: Apache-2.0
#include "net.hpp"

extern "C" [[gnu::visibility("default")]] const agentforge::http::Net* agentforge_net() {
    using namespace agentforge::http;
    static constexpr Net net{AGENTFORGE_PROJECT_VERSION, sizeof(Call), sizeof(Head), &exchange};
    return &net;
}
