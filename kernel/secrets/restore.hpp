// SPDX-License-Identifier: Apache-2.0
// Restores secrets where a model wrote back their placeholders.
//
// A placeholder is replaced by its secret only if that secret is already in the file or elsewhere in the workspace. So a model
// that was tricked cannot write a key from the environment into a file. Writing back a view restores the file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "secrets/redactor.hpp"

namespace agentforge::kernel {

/// The first placeholder from `from` on, as begin and size. Size 0: none.
struct PlaceholderAt {
    std::size_t begin = 0;
    std::size_t size = 0;
};
[[nodiscard]] PlaceholderAt find_placeholder(std::string_view text, std::size_t from = 0);
/// True if the text may contain one. Cheap.
[[nodiscard]] bool may_hold_placeholder(std::string_view text);
/// True if `text` may be what `redacted` was before its secrets were hidden: it differs only where that has placeholders.
[[nodiscard]] bool equals_but_for_secrets(std::string_view redacted, std::string_view text);

/// Returns the text behind a placeholder elsewhere in the workspace. Called only if the file itself does not contain it.
using FindHidden = std::function<std::optional<std::string>(std::string_view placeholder)>;

/// Returns `text` with secrets in place of their placeholders. `before`: the file's current bytes (empty: a new file). `hidden`:
/// what redacting them hid. Text that only looks like a placeholder stays if it is in `before`. Errors: AF-SEC-003 (`denied`) the
/// secret behind a placeholder is nowhere in the workspace; AF-SEC-004 (`invalid`) a placeholder was changed or cut in a file
/// with secrets; AF-SEC-005 (`invalid`) the file contains both the secret and text like its placeholder.
[[nodiscard]] Result<std::string> restore_secrets(std::string_view text, std::string_view before,
                                                  const std::vector<Hidden>& hidden, const FindHidden& elsewhere,
                                                  const std::string& path);

}  // namespace agentforge::kernel
