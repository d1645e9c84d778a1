// SPDX-License-Identifier: Apache-2.0
// Self-contained HTML pages: no script and no link outside the file. Text is always escaped.
#pragma once

#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Escapes text for an element or a quoted attribute. Also escapes characters that act when shown (base/text.hpp).
[[nodiscard]] std::string html_text(std::string_view text);
/// Returns a whole page. `body` is HTML; its texts must have gone through `html_text`.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view body);

}  // namespace agentforge::kernel
