// SPDX-License-Identifier: Apache-2.0
// Stubs: functions of a project that do nothing yet, such as `pass`, `todo!()`, `throw`, an empty body or a constant result.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

struct StubRules;

/// Returns the text with each stub marked, and also each function in `named`, even if it is no stub. A marked function begins by
/// ending the calling test, with the marker and its own name; one that must not throw fails the test and goes on, if the language
/// can do that (StubRules::failed). Returns the text unchanged if it has no such function or cannot be parsed.
[[nodiscard]] std::string mark_stubs(std::string_view text, const CodeRules& code, const StubRules& stubs,
                                     const std::string& marker, const std::set<std::string>& named = {});

/// Returns the text with the innermost function around each of these lines marked. `go_on`: all of them fail the test and go on.
[[nodiscard]] std::string mark_functions_at(std::string_view text, const CodeRules& code, const StubRules& stubs,
                                            const std::set<std::uint64_t>& lines, const std::string& marker, bool go_on = false);

/// Returns the text with the innermost function around each of these lines turned into a stub. The stub ends any test that calls
/// it, and keeps its old body as comments. Functions that already are stubs, and lines outside functions, stay unchanged.
[[nodiscard]] std::string stub_functions_at(std::string_view text, const CodeRules& code, const StubRules& stubs,
                                            const std::set<std::uint64_t>& lines, const std::string& marker);

/// Returns the declared identifier that a message reports as missing, because the test looks for it in another package or does
/// not import it. Empty if there is none.
[[nodiscard]] std::string unimported_name(std::string_view message, const std::set<std::string>& declared);

}  // namespace agentforge::kernel
