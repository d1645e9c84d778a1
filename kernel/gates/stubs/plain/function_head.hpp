// SPDX-License-Identifier: Apache-2.0
// Reads a function's header: what its callers and its body depend on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// Names and types of parameters: `a, b int`, `a: i32`, `int a`.
struct PlainParameters {
    std::vector<std::string> names;
    std::string types;  ///< Without blanks, each with a comma after it.
};

/// The parts of a function's header that callers and the body depend on.
struct FunctionHead {
    PlainParameters parameters;
    std::string result;
};

/// `text`: a header up to its body. `open`: the opening bracket of its parameters.
[[nodiscard]] FunctionHead read_head(std::string_view kind, std::string_view text, std::size_t open);

}  // namespace agentforge::kernel
