// SPDX-License-Identifier: Apache-2.0
// Loads pinned libraries from memory that no program can change.
//
// Hashing a file and then opening it by name leaves a gap: the file may be replaced or overwritten in between. Here the file is
// read once, and its bytes are hashed, compared, and put into a memfd that is sealed against every change. The dynamic linker
// maps that memfd.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "base/files.hpp"
#include "plugins/plugin_registry.hpp"

namespace agentforge::kernel {

/// Makes a sealed copy of one pinned file of the plugin; `name` is below its folder. Errors: AF-PLUG-031 its hash differs;
/// AF-PLUG-037 it cannot be read, is a symbolic link, or the kernel has no memfd.
[[nodiscard]] Result<FileDescriptor> seal(const PluginManifest& manifest, const std::string& name);

/// Seals the plugin's library. First loads sealed copies of the libraries in its folder that it needs, and of their dependencies,
/// so the dynamic linker finds them by SONAME. Returns the path for dlopen. The copies stay open until the process ends, because
/// the dynamic linker knows them by that path. Errors: as `seal`; AF-PLUG-011 one of them cannot be loaded.
[[nodiscard]] Result<std::string> seal_with_needs(const PluginManifest& manifest);

/// Returns DT_NEEDED of a shared library: the names of the libraries it needs. Empty if it is not one. Never reads past the end
/// of the bytes.
[[nodiscard]] std::vector<std::string> needed_libraries(std::string_view library);

}  // namespace agentforge::kernel
