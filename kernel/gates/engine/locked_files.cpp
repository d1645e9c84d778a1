// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/locked_files.hpp"

#include <filesystem>
#include <set>

#include "base/text.hpp"

namespace agentforge::kernel {

Result<std::vector<std::string>> LockedFiles::changed_runner_configuration(const Language& language, const std::string& old_tree,
                                                                           const std::vector<TreeChange>& changes,
                                                                           const std::string& tree) {
    std::set<std::string> changed;
    for (const auto& change : changes) {
        for (const auto* path : {&change.path, &change.old_path}) {
            if (path->empty()) { continue; }
            if (language.runner_files.matches(*path)) { changed.insert(*path); }
            for (const auto& section : language.runner_sections) {
                if (!path_matches(section.file, *path)) { continue; }
                AF_TRY(const auto before, checkout_.file(old_tree, *path));
                AF_TRY(const auto after, checkout_.file(tree, *path));
                if (section_text(before.value_or(""), section) != section_text(after.value_or(""), section)) {
                    changed.insert(*path);
                }
            }
        }
    }
    return std::vector<std::string>(changed.begin(), changed.end());
}

Result<std::map<std::string, std::string>> LockedFiles::behind_links(const Language& language, const std::string& tree) {
    if (const auto known = behind_.find(tree); known != behind_.end()) { return known->second; }
    namespace fs = std::filesystem;
    std::map<std::string, std::string> behind;
    AF_TRY(const auto files, checkout_.files(tree));
    AF_CHECK(checkout_.check_out(tree));
    for (const auto& file : files) {
        if (!language.belongs_to_tests(file) || !is_link(checkout_, file)) { continue; }
        // Counts each link of a chain, because each can be redirected.
        fs::path at = file;
        for (int hops = 0; hops < 20; ++hops) {
            fs::path so_far;
            bool turned = false;
            for (auto part = at.begin(); part != at.end() && !turned; ++part) {
                so_far /= *part;
                if (!is_link(checkout_, so_far.string())) { continue; }
                if (so_far != fs::path(file)) { behind.emplace(so_far.string(), file); }
                std::error_code none;
                fs::path next = so_far.parent_path() / fs::read_symlink(checkout_.path() / so_far, none);
                while (++part != at.end()) { next /= *part; }
                at = next.lexically_normal();
                turned = true;
                break;
            }
            if (!turned || at.is_absolute() || at.string().starts_with("..")) { break; }
        }
        if (at.is_relative() && !at.string().starts_with("..") && at != fs::path(file)) { behind.emplace(at.string(), file); }
    }
    return behind_.emplace(tree, std::move(behind)).first->second;
}

}  // namespace agentforge::kernel
