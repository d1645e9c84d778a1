// SPDX-License-Identifier: Apache-2.0
// Opens one plugin: checks its file, and its descriptor against its manifest.
#pragma once

#include <string>
#include <string_view>

#include "plugins/plugin_registry.hpp"

namespace agentforge::kernel {

/// Opens the library that the manifest names, once in a process. A second call returns the same descriptor.
///
/// If the manifest's files are pinned (by plugins.lock or by trust), compares all of them first. Then opens a
/// sealed copy of its bytes in memory (sealed.hpp) instead of the file. The copy is hashed as it is made, so no program can
/// replace or overwrite it between check and load. The same holds for every library beside it that it needs. A sealed library has
/// no folder, so an $ORIGIN in its run path leads nowhere. The libraries it needs must be in the plugin's own folder, with a
/// SONAME, or be the system's. A debugger shows its path as `/proc/self/fd/N`. Without a pin, the libraries that it needs from
/// its folder, and then the library itself, are opened by path.
///
/// The library is never closed. Objects, static data, virtual tables and exception types of a plugin may be in use anywhere, and
/// using one after an unload would crash. So handles are leaked on purpose. Opening runs the plugin's static constructors, but
/// only after file, symbol version and undefined symbols were checked. Thread-safe. Errors: AF-PLUG-011 … 015, AF-PLUG-031,
/// AF-PLUG-037.
[[nodiscard]] Result<const AgentforgeDescriptor*> open_library(const PluginManifest& manifest,
                                                               const Interfaces& interfaces = Interfaces());

/// Refuses a file on which the dynamic linker would crash (a truncated one) or give a poor message. Errors: AF-PLUG-011.
[[nodiscard]] Result<void> check_elf(const std::string& path);

/// Checks a descriptor against manifest and host. Errors: AF-PLUG-012, 014, 015.
[[nodiscard]] Result<void> check_descriptor(const AgentforgeDescriptor* descriptor, const PluginManifest& manifest,
                                            const Interfaces& interfaces = Interfaces());

/// Converts the dynamic linker's message to an Error: AF-PLUG-012 for a fingerprint, AF-PLUG-011 for anything else.
[[nodiscard]] Error explain_load_failure(std::string_view what, const PluginManifest& manifest);

/// Returns AF-PLUG-013 for an entry symbol that is data. Calling it would execute bytes that are not code.
[[nodiscard]] Error entry_is_data(const PluginManifest& manifest);

}  // namespace agentforge::kernel
