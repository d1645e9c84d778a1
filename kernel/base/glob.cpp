// SPDX-License-Identifier: Apache-2.0
#include "base/glob.hpp"

namespace agentforge::kernel {
namespace {

bool in_named_class(std::string_view name, unsigned char c) noexcept {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool small = c >= 'a' && c <= 'z';
    const bool digit = c >= '0' && c <= '9';
    if (name == "alpha") { return upper || small; }
    if (name == "digit") { return digit; }
    if (name == "alnum") { return upper || small || digit; }
    if (name == "upper") { return upper; }
    if (name == "lower") { return small; }
    if (name == "space") { return c == ' ' || (c >= '\t' && c <= '\r'); }
    if (name == "xdigit") { return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
    if (name == "punct") { return c > ' ' && c < 0x7F && !upper && !small && !digit; }
    return false;
}

/// Returns the end (one past `]`) of the bracket expression that begins at `pattern[at]`, or npos if it is not closed. `matched`:
/// whether `c` belongs to it.
std::size_t bracket(std::string_view pattern, std::size_t at, unsigned char c, bool& matched) noexcept {
    std::size_t i = at + 1;
    bool negated = false;
    if (i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^')) {
        negated = true;
        ++i;
    }
    bool found = false;
    bool first = true;
    while (i < pattern.size() && (first || pattern[i] != ']')) {
        first = false;
        if (pattern[i] == '[' && i + 1 < pattern.size() && pattern[i + 1] == ':') {
            const auto end = pattern.find(":]", i + 2);
            if (end == std::string_view::npos) { return end; }
            found = found || in_named_class(pattern.substr(i + 2, end - i - 2), c);
            i = end + 2;
            continue;
        }
        if (pattern[i] == '\\' && ++i >= pattern.size()) { return std::string_view::npos; }
        const auto low = static_cast<unsigned char>(pattern[i]);
        ++i;
        auto high = low;
        if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
            ++i;
            if (pattern[i] == '\\' && ++i >= pattern.size()) { return std::string_view::npos; }
            high = static_cast<unsigned char>(pattern[i]);
            ++i;
        }
        found = found || (low <= c && c <= high);
    }
    if (i >= pattern.size()) { return std::string_view::npos; }
    matched = found != negated;
    return i + 1;
}

/// Matches one component against one component. Backtracks only to the last `*`, so the cost is at most quadratic.
bool component_matches(std::string_view pattern, std::string_view text) noexcept {
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_text = 0;
    while (t < text.size() || p < pattern.size()) {
        if (p < pattern.size()) {
            const char c = pattern[p];
            if (c == '*') {
                star = ++p;
                star_text = t;
                continue;
            }
            if (t < text.size()) {
                if (c == '?') {
                    ++p;
                    ++t;
                    continue;
                }
                if (c == '[') {
                    bool matched = false;
                    const auto end = bracket(pattern, p, static_cast<unsigned char>(text[t]), matched);
                    if (end == std::string_view::npos) { return false; }
                    if (matched) {
                        p = end;
                        ++t;
                        continue;
                    }
                } else {
                    const std::size_t at = c == '\\' ? p + 1 : p;
                    if (at >= pattern.size()) { return false; }
                    if (pattern[at] == text[t]) {
                        p = at + 1;
                        ++t;
                        continue;
                    }
                }
            }
        }
        if (star == std::string_view::npos || star_text >= text.size()) { return false; }
        p = star;
        t = ++star_text;
    }
    return true;
}

}  // namespace

Glob::Glob(std::string_view pattern) {
    const bool in_root = pattern.starts_with("./");
    while (pattern.starts_with("./")) { pattern.remove_prefix(2); }
    if (pattern.ends_with('/')) {
        names_folder_ = true;
        pattern.remove_suffix(1);
    }
    if (pattern.empty() && !in_root) { return; }
    const bool anchored = pattern.find('/') != std::string_view::npos;
    if (!anchored) { components_.emplace_back("**"); }
    for (const auto component : path_components(pattern)) {
        if (component == "**" && !components_.empty() && components_.back() == "**") { continue; }
        components_.emplace_back(component);
    }
    if (!anchored && components_.size() == 1) { components_.emplace_back("*"); }  // `**` or `./` alone
}

bool Glob::matches(std::string_view path) const {
    const auto components = path_components(path);
    return matches(components, components.size());
}

bool Glob::matches(const std::vector<std::string_view>& components, std::size_t count) const {
    if (components_.empty() || count == 0) { return false; }
    std::size_t g = 0;
    std::size_t p = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_path = 0;
    while (p < count || g < components_.size()) {
        if (g < components_.size()) {
            if (components_[g] == "**") {
                if (g + 1 == components_.size()) { return p < count; }
                star = ++g;
                star_path = p;
                continue;
            }
            if (p < count && component_matches(components_[g], components[p])) {
                ++g;
                ++p;
                continue;
            }
        }
        if (star == std::string_view::npos || star_path >= count) { return false; }
        g = star;
        p = ++star_path;
    }
    return true;
}

bool Glob::ends_in_wildcard() const noexcept {
    return !components_.empty() && components_.back().find_first_of("*?[") != std::string::npos;
}

std::vector<std::string_view> path_components(std::string_view path) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    while (begin <= path.size()) {
        auto end = path.find('/', begin);
        if (end == std::string_view::npos) { end = path.size(); }
        if (end > begin) { parts.push_back(path.substr(begin, end - begin)); }
        begin = end + 1;
    }
    return parts;
}

std::size_t bracket_end(std::string_view pattern, std::size_t at) noexcept {
    bool ignored = false;
    return bracket(pattern, at, 'x', ignored);
}

}  // namespace agentforge::kernel
