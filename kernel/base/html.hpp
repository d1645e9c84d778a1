// SPDX-License-Identifier: Apache-2.0
// HTML pages that stand alone: no script, no address outside the file, text stays text.
#pragma once

#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Text as content of an element or of a quoted attribute. Characters that act where they are shown are escaped (base/text.hpp).
[[nodiscard]] std::string html_text(std::string_view text);
/// A whole page. `body` is HTML: its texts must have gone through `html_text`.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view body);

}  // namespace agentforge::kernel
