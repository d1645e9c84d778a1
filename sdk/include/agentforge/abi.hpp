// SPDX-License-Identifier: Apache-2.0
// The fingerprint: one text that names everything that must be equal in host and plugin before C++ objects may cross.
//
// It is checked in two places, and each finds what the other cannot:
//  * libagentforge-abi.so exports one symbol, `agentforge_abi_fingerprint`, whose *symbol version* is
//    the fingerprint of the build. A plugin references this symbol, so the dynamic linker refuses a plugin
//    linked against another build before its constructors run, and names the fingerprint.
//  * AGENTFORGE_ABI_FINGERPRINT is built here from the macros of the translation unit that includes
//    this header. The plugin's descriptor carries it, so the host also refuses a plugin that was linked
//    against the right library but compiled with other flags.
//
// The parts, and the reason for each:
//  * AGENTFORGE_ABI_VERSION: layout of the SDK's own types and virtual tables.
//  * _GLIBCXX_RELEASE, _GLIBCXX_USE_CXX11_ABI, _GLIBCXX_DEBUG: layout of std::string, std::map, std::vector, …
//  * __GXX_ABI_VERSION: name mangling and calling convention of the compiler (-fabi-version).
//  * BOOST_LIB_VERSION: layout of boost::json::value.
//  * the sanitizer: ASan and TSan need their run-time library in the host.
//
// These are left out:
//  * `__cplusplus` above 202002: in libstdc++ the types that cross have the same layout in C++20 and C++23, so a
//    plugin may use either.
//  * NDEBUG, the optimisation level and UBSan: they change no layout.
//  * the machine: the dynamic linker checks it.
#pragma once

#include <boost/version.hpp>
#include <cstdint>
#include <string>  // for _GLIBCXX_RELEASE and _GLIBCXX_USE_CXX11_ABI

/// Incremented whenever a type that crosses the boundary changes.
#define AGENTFORGE_ABI_VERSION 1

#if __cplusplus < 202002L
#error "AgentForge plugins need C++20 or later: compile with -std=c++20"
#endif
#ifndef _GLIBCXX_RELEASE
#error "AgentForge plugins need libstdc++: the standard library of the host (with clang: -stdlib=libstdc++)"
#endif

#define AGENTFORGE_ABI_TEXT_INNER(value) #value
#define AGENTFORGE_ABI_TEXT(value) AGENTFORGE_ABI_TEXT_INNER(value)

#ifdef _GLIBCXX_DEBUG
#define AGENTFORGE_ABI_DEBUG "1"
#else
#define AGENTFORGE_ABI_DEBUG "0"
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define AGENTFORGE_ABI_SANITIZER "Address"
#elif __has_feature(thread_sanitizer)
#define AGENTFORGE_ABI_SANITIZER "Thread"
#endif
#endif
#ifndef AGENTFORGE_ABI_SANITIZER
#if defined(__SANITIZE_ADDRESS__)
#define AGENTFORGE_ABI_SANITIZER "Address"
#elif defined(__SANITIZE_THREAD__)
#define AGENTFORGE_ABI_SANITIZER "Thread"
#else
#define AGENTFORGE_ABI_SANITIZER "None"
#endif
#endif

/// The fingerprint of this translation unit: a string literal of [A-Za-z0-9_], for instance
/// `AGENTFORGE_1_libstdcxx12_cxx11abi1_gxxabi1017_boost1_81_dbg0_sanNone`.
#define AGENTFORGE_ABI_FINGERPRINT                                                                                                                \
    "AGENTFORGE_" AGENTFORGE_ABI_TEXT(AGENTFORGE_ABI_VERSION) "_libstdcxx" AGENTFORGE_ABI_TEXT(_GLIBCXX_RELEASE) "_cxx11abi" AGENTFORGE_ABI_TEXT( \
        _GLIBCXX_USE_CXX11_ABI) "_gxxabi" AGENTFORGE_ABI_TEXT(__GXX_ABI_VERSION) "_boost" BOOST_LIB_VERSION                                       \
                                                                                 "_dbg" AGENTFORGE_ABI_DEBUG                                      \
                                                                                 "_san" AGENTFORGE_ABI_SANITIZER

extern "C" {
/// Returns the fingerprint of the build that this process runs, in the same form. Exported by libagentforge-abi.so.
const char* agentforge_abi_fingerprint() noexcept;
}
