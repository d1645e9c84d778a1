// SPDX-License-Identifier: Apache-2.0
#include "gates/language/globs.hpp"

#include <algorithm>

namespace agentforge::kernel {
namespace {

bool segment_matches(std::string_view glob, std::string_view text) {
    std::size_t g = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t mark = 0;
    while (t < text.size()) {
        if (g < glob.size() && glob[g] == '*') {
            star = g++;
            mark = t;
        } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
            ++g;
            ++t;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') { ++g; }
    return g == glob.size();
}

std::vector<std::string_view> segments(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto slash = text.find('/');
        parts.push_back(text.substr(0, slash));
        if (slash == std::string_view::npos) { return parts; }
        text.remove_prefix(slash + 1);
    }
}

}  // namespace

bool path_matches(std::string_view glob, std::string_view path) {
    if (glob.find('/') == std::string_view::npos) {
        if (glob == "**") { return true; }
        const auto slash = path.rfind('/');
        return segment_matches(glob, slash == std::string_view::npos ? path : path.substr(slash + 1));
    }
    if (glob.front() == '/') { glob.remove_prefix(1); }
    const auto wanted = segments(glob);
    const auto given = segments(path);
    // `**` is to segments as `*` is to characters: one backtracking point is enough.
    std::size_t w = 0;
    std::size_t g = 0;
    std::size_t star = wanted.size() + 1;
    std::size_t mark = 0;
    while (g < given.size()) {
        if (w < wanted.size() && wanted[w] == "**") {
            if (w + 1 == wanted.size()) { return true; }
            star = w++;
            mark = g;
        } else if (w < wanted.size() && segment_matches(wanted[w], given[g])) {
            ++w;
            ++g;
        } else if (star <= wanted.size()) {
            w = star + 1;
            g = ++mark;
        } else {
            return false;
        }
    }
    return w == wanted.size();
}

Globs::Globs(std::vector<std::string> patterns) {
    for (auto& pattern : patterns) {
        if (!pattern.empty() && pattern.front() == '!') {
            excluded_.push_back(pattern.substr(1));
        } else if (!pattern.empty()) {
            wanted_.push_back(std::move(pattern));
        }
    }
}

bool Globs::matches(std::string_view path) const {
    const auto matching = [path](const std::string& glob) { return path_matches(glob, path); };
    if (std::any_of(excluded_.begin(), excluded_.end(), matching)) { return false; }
    return (wanted_.empty() && !excluded_.empty()) || std::any_of(wanted_.begin(), wanted_.end(), matching);
}

}  // namespace agentforge::kernel
