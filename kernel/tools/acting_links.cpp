// SPDX-License-Identifier: Apache-2.0
#include "tools/acting_links.hpp"

#include <deque>
#include <ranges>
#include <utility>
#include <vector>

#include "tools/acting_files.hpp"

namespace agentforge::kernel {
namespace {

constexpr unsigned most_links = 40;  ///< Same limit as in Linux.

std::deque<std::string> components(std::string_view path) {
    std::deque<std::string> parts;
    for (const auto part : std::views::split(path, '/')) {
        if (!part.empty()) { parts.emplace_back(part.begin(), part.end()); }
    }
    return parts;
}

std::string joined(const std::vector<std::string>& parts) {
    std::string path;
    for (const std::string& part : parts) { path += (path.empty() ? "" : "/") + part; }
    return path;
}

/// Returns each link on the way from `path` with its final target; only the links if the target is outside the tree or its root.
std::vector<std::string> way_from(const std::string& path, const std::map<std::string, std::string>& links) {
    std::vector<std::string> way;
    std::vector<std::string> at;
    std::deque<std::string> left = components(path);
    while (!left.empty()) {
        const std::string part = std::move(left.front());
        left.pop_front();
        if (part == ".") { continue; }
        if (part == "..") {
            if (at.empty()) { return way; }
            at.pop_back();
            continue;
        }
        at.push_back(part);
        const auto link = links.find(joined(at));
        if (link == links.end()) { continue; }
        way.push_back(link->first);
        if (way.size() > most_links || link->second.starts_with('/')) { return way; }
        at.pop_back();
        std::deque<std::string> target = components(link->second);
        left.insert(left.begin(), target.begin(), target.end());
    }
    if (!at.empty()) { way.push_back(joined(at)); }
    return way;
}

}  // namespace

ActingLinks::ActingLinks(const std::map<std::string, std::string>& links) {
    for (const auto& [path, target] : links) {
        if (!acts_later(path)) { continue; }
        for (std::string& place : way_from(path, links)) {
            if (!acts_later(place)) { targets_.try_emplace(std::move(place), path); }
        }
    }
}

std::string_view ActingLinks::leading_to(std::string_view path) const {
    for (std::size_t end = path.size(); end != std::string_view::npos;
         end = end == 0 ? std::string_view::npos : path.rfind('/', end - 1)) {
        if (const auto found = targets_.find(path.substr(0, end)); found != targets_.end()) { return found->second; }
    }
    return {};
}

}  // namespace agentforge::kernel
