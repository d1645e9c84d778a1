// SPDX-License-Identifier: Apache-2.0
#include "gates/engine/affected_tests.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace agentforge::kernel {

Result<std::vector<std::string>> AffectedTests::files(const GateCall& call, const std::vector<std::string>& suite,
                                                      const Stop& stop) {
    std::vector<std::string> unit = suite;
    std::erase_if(unit, [&](const std::string& file) { return suite_.is_integration_test(file); });
    if (call.baseline == nullptr || call.baseline->base_tree.empty()) { return unit; }
    AF_TRY(const auto* found, languages_.of(call.tree));
    AF_TRY(const auto changes, checkout_.changes(call.baseline->base_tree, call.tree));
    std::set<std::string> chosen(call.baseline->test_files.begin(), call.baseline->test_files.end());
    std::vector<std::string> sources;
    for (const auto& change : changes) {
        for (const auto* path : {&change.path, &change.old_path}) {
            if (path->empty() || path->ends_with(".md") || path->ends_with(".rst")) { continue; }
            if (found->tests.matches(*path)) {
                chosen.insert(*path);
            } else if (found->sources.matches(*path) && !found->test_support.matches(*path)) {
                sources.push_back(*path);
            } else {
                return unit;  // Data, configuration or test support: the tests that read it are unknown.
            }
        }
    }
    std::vector<std::string> there = sources;
    AF_TRY(const auto everything, checkout_.files(call.tree));
    std::erase_if(there,
                  [&](const std::string& file) { return !std::binary_search(everything.begin(), everything.end(), file); });
    std::optional<std::vector<std::string>> affected_tests;
    if (there.size() == sources.size()) { AF_TRY(affected_tests, commands_.affected(*found, call.tree, sources, stop)); }
    if (affected_tests) {
        chosen.insert(affected_tests->begin(), affected_tests->end());
    } else if (!sources.empty()) {
        std::vector<std::string> known = everything;
        std::erase_if(known,
                      [&](const std::string& file) { return !found->sources.matches(file) && !found->tests.matches(file); });
        if (known.size() > MentionIndex::max_files) { return unit; }
        std::vector<std::string> changed;
        if (!mentions_tree_.empty()) {
            AF_TRY(const auto since, checkout_.changes(mentions_tree_, call.tree));
            for (const auto& change : since) { changed.push_back(change.path); }
        }
        mentions_tree_.clear();
        AF_CHECK(mentions_.update(known, changed, [&](const std::string& path) { return checkout_.file(call.tree, path); }));
        mentions_tree_ = call.tree;
        chosen.merge(mentions_.affected(sources));
    }
    std::erase_if(unit, [&](const std::string& file) { return !chosen.contains(file); });
    return unit;
}

}  // namespace agentforge::kernel
