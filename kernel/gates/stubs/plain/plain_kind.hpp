// SPDX-License-Identifier: Apache-2.0
// How Go, Rust and Java write declarations, as regular expressions.
#pragma once

#include <string_view>

namespace agentforge::kernel {

struct PlainKind {
    std::string_view name;
    const char* function;  ///< RE2 of a whole signature. Its last group is the name.
    const char* bare;      ///< The same without the word before it, `prefix`.
    const char* prefix;
    const char* type;   ///< RE2 of a whole declaration of a type. Its last group is the name.
    const char* value;  ///< The same for a constant, a variable or a type alias.
    const char* named;  ///< RE2 of a type or value in a file. `%` is the name.
    const char*
        head;  ///< RE2 of the text before a function's parameters in a file. `%` is the name; the first group is a receiver.
};

/// Returns null unless `kind` is `go`, `rust` or `java`.
[[nodiscard]] const PlainKind* find_plain(std::string_view kind);

}  // namespace agentforge::kernel
