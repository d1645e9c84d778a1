// SPDX-License-Identifier: Apache-2.0
// All of libagentforge-abi.so: one function, under a symbol version that is the fingerprint.
#include <agentforge/abi.hpp>

#include <string_view>

// A preprocessor run at configure time generated the linker script. With other flags than this file's, host and library would
// name different builds.
static_assert(std::string_view(AGENTFORGE_ABI_FINGERPRINT) == std::string_view(AGENTFORGE_CONFIGURED_FINGERPRINT),
              "the build's flags changed after it was configured: run cmake again");

extern "C" __attribute__((visibility("default"))) const char* agentforge_abi_fingerprint() noexcept {
    return AGENTFORGE_ABI_FINGERPRINT;
}
