// SPDX-License-Identifier: Apache-2.0
// One opened plugin: its file checked, its descriptor held against its manifest.
#pragma once

#include <string>
#include <string_view>

#include "plugins/host.hpp"

namespace agentforge::kernel {

/// Opens the library that the manifest names, once a process: a second call answers from memory.
///
/// The library is never closed. Objects, static data, virtual tables and exception types of a plugin may be in use
/// anywhere, and an unloaded one turns the last of them into a crash; so handles are leaked on purpose.
/// Opening runs the plugin's static constructors, and only after file, symbol version and undefined symbols were checked.
/// Thread-safe. Errors: AF-PLUG-011 … 015.
[[nodiscard]] Result<const AgentforgeDescriptor*> open_library(const PluginManifest& manifest);

/// Refuses a file that the dynamic linker would crash on (a truncated one) or name badly. Errors: AF-PLUG-011.
[[nodiscard]] Result<void> check_elf(const std::string& path);

/// A descriptor against manifest and host. Errors: AF-PLUG-012, 014, 015.
[[nodiscard]] Result<void> check_descriptor(const AgentforgeDescriptor* descriptor, const PluginManifest& manifest);

/// What the dynamic linker said, as an Error: fingerprints become AF-PLUG-012, all else AF-PLUG-011.
[[nodiscard]] Error explain_load_failure(std::string_view what, const PluginManifest& manifest);

/// AF-PLUG-013 for an entry symbol that is data: calling it would run bytes that are no code.
[[nodiscard]] Error entry_is_data(const PluginManifest& manifest);

}  // namespace agentforge::kernel
