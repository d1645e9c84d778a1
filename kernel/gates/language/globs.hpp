// SPDX-License-Identifier: Apache-2.0
// Path patterns of languages and conformance checks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// Gitignore-style globs: `*` and `?` do not cross `/`, `**` does. A glob without `/` matches at any depth. `tests/**/x.py` also
/// matches `tests/x.py`. A leading `!` excludes, whatever the order.
class Globs {
public:
    Globs() = default;
    explicit Globs(std::vector<std::string> patterns);
    /// True if some positive glob matches (or there are only exclusions) and no exclusion does.
    [[nodiscard]] bool matches(std::string_view path) const;
    [[nodiscard]] bool empty() const noexcept { return wanted_.empty() && excluded_.empty(); }

private:
    std::vector<std::string> wanted_;
    std::vector<std::string> excluded_;
};

[[nodiscard]] bool path_matches(std::string_view glob, std::string_view path);

}  // namespace agentforge::kernel
