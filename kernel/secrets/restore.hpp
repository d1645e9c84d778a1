// SPDX-License-Identifier: Apache-2.0
// Placeholders that a model writes back.
//
// A placeholder gives its secret back only where that secret already is: in the file that is written, or elsewhere in the
// workspace. So a text that a model was talked into writing moves no key of the environment into a file, and a view that is
// written back is the file again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "secrets/redactor.hpp"

namespace agentforge::kernel {

/// The first placeholder from `from` on, as begin and size; size 0: none.
struct PlaceholderAt {
    std::size_t begin = 0;
    std::size_t size = 0;
};
[[nodiscard]] PlaceholderAt find_placeholder(std::string_view text, std::size_t from = 0);
/// Whether the text may hold one; cheap.
[[nodiscard]] bool may_hold_placeholder(std::string_view text);

/// What stands behind a placeholder elsewhere in the workspace; asked only where the file itself does not know it.
using FindHidden = std::function<std::optional<std::string>(std::string_view placeholder)>;

/// `text` with the secrets in place of their placeholders. `before`: the file's bytes now (empty: it is new), `hidden`: what
/// redacting them hid. A text that only looks like a placeholder is left as it is where it stands in `before`. Errors: AF-SEC-003
/// (`denied`) the secret behind a placeholder is nowhere in the workspace; AF-SEC-004 (`invalid`) a placeholder was changed or
/// cut where the file has secrets; AF-SEC-005 (`invalid`) the file holds both the secret and a text like its placeholder.
[[nodiscard]] Result<std::string> restore_secrets(std::string_view text, std::string_view before,
                                                  const std::vector<Hidden>& hidden, const FindHidden& elsewhere,
                                                  const std::string& path);

}  // namespace agentforge::kernel
