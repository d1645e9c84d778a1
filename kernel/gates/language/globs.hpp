// SPDX-License-Identifier: Apache-2.0
// Path patterns of languages and conformance checks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/glob.hpp"

namespace agentforge::kernel {

/// A list of globs, which match files. base/glob.hpp says what each matches. A leading `!` excludes, whatever the order. Unlike
/// in a path rule, a glob that matches a folder does not cover its contents, and one that ends in `/` matches nothing: write
/// `docs/**`.
class Globs {
public:
    Globs() = default;
    explicit Globs(const std::vector<std::string>& patterns);
    /// True if some positive glob matches (or there are only exclusions) and no exclusion does.
    [[nodiscard]] bool matches(std::string_view path) const;
    [[nodiscard]] bool empty() const noexcept { return wanted_.empty() && excluded_.empty(); }

private:
    std::vector<Glob> wanted_;
    std::vector<Glob> excluded_;
};

/// Matches one glob, without `!`, as above.
[[nodiscard]] bool path_matches(std::string_view glob, std::string_view path);

}  // namespace agentforge::kernel
