// SPDX-License-Identifier: Apache-2.0
// Cuts the requested lines out of a file's text. A plain function over bytes.
#pragma once

#include <string>

#include <agentforge/host.hpp>

namespace agentforge::kernel {

/// Returns the requested lines, at most `options.max_bytes` of them. Leaves `sha256` and `size_bytes` to the caller, whose file
/// may differ from what it shows. Errors: `invalid` AF-TOOL-045 the lines are not a range of this text.
[[nodiscard]] Result<FileView> view_of_lines(const std::string& path, const std::string& text, const ReadOptions& options);

}  // namespace agentforge::kernel
