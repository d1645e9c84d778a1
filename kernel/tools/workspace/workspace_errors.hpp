// SPDX-License-Identifier: Apache-2.0
// The errors of a workspace. Each names the path and what to do; a model reads their messages.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// AF-TOOL-032: `link`, on the way to `path` or the path itself, is a symbolic link. `target` may be empty.
[[nodiscard]] Error link_error(std::string_view path, std::string_view link, std::string_view target);
/// AF-TOOL-033: a pipe, socket or device.
[[nodiscard]] Error special_error(std::string_view path, mode_t mode);
/// AF-TOOL-031.
[[nodiscard]] Error not_found_error(std::string_view path);
/// AF-TOOL-035.
[[nodiscard]] Error exists_error(std::string_view path);
/// AF-TOOL-034.
[[nodiscard]] Error is_folder_error(std::string_view path);
/// AF-TOOL-037. `limit` in bytes.
[[nodiscard]] Error size_error(std::string_view path, std::uint64_t size, std::uint64_t limit, std::string remedy);
/// AF-TOOL-044.
[[nodiscard]] Error changed_error(std::string_view path);
/// Returns the error for what is already at the path, by its mode. `target`: of a link.
[[nodiscard]] Error in_the_way_error(std::string_view path, mode_t mode, std::string_view target);
/// AF-TOOL-036.
[[nodiscard]] Error binary_error(std::string_view path, std::uint64_t size);
/// AF-TOOL-038 or 039, by the system's error number. `doing`: a verb, such as `read`.
[[nodiscard]] Error file_system_error(std::string_view path, std::string_view doing, int error);

}  // namespace agentforge::kernel
