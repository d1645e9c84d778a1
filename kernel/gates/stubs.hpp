// SPDX-License-Identifier: Apache-2.0
// Functions of a project that are written and do nothing yet: `pass`, `todo!()`, `throw`, an empty body, a constant in place of an answer.
#pragma once

#include <string>
#include <string_view>

#include "gates/source_text.hpp"

namespace agentforge::kernel {

struct StubRules;

/// The text with each stub in it made to end the test that comes there, with the marker and the function's name, before it does what it does;
/// as it is where it has none. Lines move only by those of `head`. Errors: none; a text that cannot be read is left alone.
[[nodiscard]] std::string mark_stubs(std::string_view text, const CodeRules& code, const StubRules& stubs, const std::string& marker);

}  // namespace agentforge::kernel
