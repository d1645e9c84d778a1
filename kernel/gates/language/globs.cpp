// SPDX-License-Identifier: Apache-2.0
#include "gates/language/globs.hpp"

#include <algorithm>

namespace agentforge::kernel {
namespace {

bool matches_file(const Glob& glob, const std::vector<std::string_view>& path) {
    return !glob.names_folder() && glob.matches(path, path.size());
}

}  // namespace

bool path_matches(std::string_view glob, std::string_view path) { return matches_file(Glob(glob), path_components(path)); }

Globs::Globs(const std::vector<std::string>& patterns) {
    for (const std::string_view pattern : patterns) {
        if (pattern.starts_with('!')) {
            excluded_.emplace_back(pattern.substr(1));
        } else if (!pattern.empty()) {
            wanted_.emplace_back(pattern);
        }
    }
}

bool Globs::matches(std::string_view path) const {
    const auto components = path_components(path);
    const auto matching = [&](const Glob& glob) { return matches_file(glob, components); };
    if (std::ranges::any_of(excluded_, matching)) { return false; }
    return (wanted_.empty() && !excluded_.empty()) || std::ranges::any_of(wanted_, matching);
}

}  // namespace agentforge::kernel
