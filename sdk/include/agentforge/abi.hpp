// SPDX-License-Identifier: Apache-2.0
// What must be equal in host and plugin for C++ objects to cross, as one text: the fingerprint.
//
// libagentforge-abi.so exports one symbol, `agentforge_abi_fingerprint`, whose *symbol version* is
// the fingerprint of the build (a hash where the linker needs a name). A plugin references it, so
// the dynamic linker refuses a plugin of another build before its constructors run, and its
// message names both.
#pragma once

#include <boost/version.hpp>
#include <cstdint>
#include <string>   // defines _GLIBCXX_RELEASE and _GLIBCXX_USE_CXX11_ABI

/// Raised whenever a type that crosses the boundary changes.
#define AGENTFORGE_ABI_VERSION 1U

extern "C" {
/// The fingerprint of the build that this process runs, e.g. `agentforge-1;libstdc++-12;cxx11-1;gxxabi-1017;c++-202002;boost-1_81;debug-0;sanitizer-none`.
const char* agentforge_abi_fingerprint() noexcept;
}
