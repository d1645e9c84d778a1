// SPDX-License-Identifier: Apache-2.0
// The files of the page, compiled into the program: no request's path reaches the file system.
#pragma once

#include <string_view>

namespace agentforge::kernel {

struct PageFile {
    std::string_view path;  ///< The path in the request.
    std::string_view type;
    std::string_view bytes;
};

/// Returns null if the page has no such file.
[[nodiscard]] const PageFile* page_file(std::string_view path) noexcept;
/// Returns kernel/dashboard/openapi.yaml.
[[nodiscard]] std::string_view openapi_text() noexcept;

}  // namespace agentforge::kernel
