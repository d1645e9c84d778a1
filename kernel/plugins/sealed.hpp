// SPDX-License-Identifier: Apache-2.0
// Libraries whose bytes are checked are loaded from memory that nobody can change any more.
//
// Hashing a file and then opening it by name leaves a gap: another file may have come in between, or the same one may have been
// written to. Here the file is read once; what was read is hashed, compared, and put into a memfd that is sealed against every
// further change; and that is what the dynamic linker maps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "base/files.hpp"
#include "plugins/host.hpp"

namespace agentforge::kernel {

/// A sealed copy of one pinned file of the plugin, `name` below its folder.
/// Errors: AF-PLUG-031 its hash is another; AF-PLUG-037 it cannot be read, is a symbolic link, or the kernel has no memfd.
[[nodiscard]] Result<FileDescriptor> seal(const PluginManifest& manifest, const std::string& name);

/// Seals the plugin's library, and loads sealed copies of the libraries in its folder that it needs (and those that they need)
/// first, so that the dynamic linker takes them by their SONAME. Answers the path to give to dlopen. The copies stay open until
/// the process ends: the dynamic linker knows them by that path. Errors: as `seal`; AF-PLUG-011 one of them cannot be loaded.
[[nodiscard]] Result<std::string> seal_with_needs(const PluginManifest& manifest);

/// DT_NEEDED of a shared library: the names of the libraries it asks for. Empty where it is not one; never reads beyond the
/// bytes.
[[nodiscard]] std::vector<std::string> needed_libraries(std::string_view library);

}  // namespace agentforge::kernel
