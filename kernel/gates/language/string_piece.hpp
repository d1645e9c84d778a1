// SPDX-License-Identifier: Apache-2.0
// RE2 takes its own views of texts.
#pragma once

#include <string_view>

#include <re2/re2.h>

namespace agentforge::kernel {

[[nodiscard]] inline re2::StringPiece string_piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace agentforge::kernel
