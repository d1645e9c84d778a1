// SPDX-License-Identifier: Apache-2.0
// libagentforge-abi.so of a fictitious build. Plugins linked against it have its symbol version.
extern "C" __attribute__((visibility("default"))) const char* agentforge_abi_fingerprint() noexcept {
    return "AGENTFORGE_0_other";
}
