// SPDX-License-Identifier: Apache-2.0
// One opened plugin: its file checked, its descriptor held against its manifest.
#pragma once

#include <string>
#include <string_view>

#include "plugins/host.hpp"

namespace agentforge::kernel {

/// Opens the library that the manifest names, once a process: a second call answers from memory.
///
/// Where the manifest's files are pinned (by plugins.lock or by trust), all of them are compared first, and then it is not the
/// file that is opened but a sealed copy of its bytes in memory (sealed.hpp), hashed while it was made: nobody can exchange or
/// overwrite between the check and the load. So is every library beside it that it needs. What that costs: such a library has no
/// folder, so an $ORIGIN in its run path leads nowhere; the libraries it needs must lie in the plugin's own folder, with a
/// SONAME, or be the system's. Its path in a debugger is `/proc/self/fd/N`. Without a pin it is opened by its path, and the
/// libraries in its folder that it needs by theirs, before it.
///
/// The library is never closed. Objects, static data, virtual tables and exception types of a plugin may be in use
/// anywhere, and an unloaded one turns the last of them into a crash; so handles are leaked on purpose.
/// Opening runs the plugin's static constructors, and only after file, symbol version and undefined symbols were checked.
/// Thread-safe. Errors: AF-PLUG-011 … 015, AF-PLUG-031, AF-PLUG-037.
[[nodiscard]] Result<const AgentforgeDescriptor*> open_library(const PluginManifest& manifest,
                                                               const Interfaces& interfaces = Interfaces());

/// Refuses a file that the dynamic linker would crash on (a truncated one) or name badly. Errors: AF-PLUG-011.
[[nodiscard]] Result<void> check_elf(const std::string& path);

/// A descriptor against manifest and host. Errors: AF-PLUG-012, 014, 015.
[[nodiscard]] Result<void> check_descriptor(const AgentforgeDescriptor* descriptor, const PluginManifest& manifest,
                                            const Interfaces& interfaces = Interfaces());

/// What the dynamic linker said, as an Error: fingerprints become AF-PLUG-012, all else AF-PLUG-011.
[[nodiscard]] Error explain_load_failure(std::string_view what, const PluginManifest& manifest);

/// AF-PLUG-013 for an entry symbol that is data: calling it would run bytes that are no code.
[[nodiscard]] Error entry_is_data(const PluginManifest& manifest);

}  // namespace agentforge::kernel
