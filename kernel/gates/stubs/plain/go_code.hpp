// SPDX-License-Identifier: Apache-2.0
// Texts of Go.
#pragma once

#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Go: a removed body may have been the only user of an import.
[[nodiscard]] std::string without_unused_imports(const std::string& text);

/// Returns the import path of the standard library's package with this last part: `math/big` for `big`. Empty: none.
[[nodiscard]] std::string_view standard_go_package(std::string_view name);

}  // namespace agentforge::kernel
