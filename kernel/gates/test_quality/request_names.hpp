// SPDX-License-Identifier: Apache-2.0
// What a request names exactly: numbers, options, files and names of code. Plain functions over texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// Returns what a request names exactly, in the order of the text and each once: whole numbers and decimals (`30`), long options
/// (`--since`), files (`feeds.py`), names that are no plain words (`max_length`, `maxLength`, `LOG_COLOUR`), and single words in
/// backticks.
[[nodiscard]] std::vector<std::string> exact_names(std::string_view request);

/// True if the text has this name, and not only as a part of a longer one.
[[nodiscard]] bool has_name(std::string_view text, const std::string& name);

}  // namespace agentforge::kernel
