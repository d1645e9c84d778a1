// SPDX-License-Identifier: Apache-2.0
#include "gates/language/tree_languages.hpp"

#include <algorithm>
#include <optional>

#include "gates/language/inline_tests.hpp"

namespace agentforge::kernel {

Result<const Language*> TreeLanguages::of(const std::string& tree) {
    if (const auto known = languages_.find(tree); known != languages_.end()) { return &known->second; }
    std::optional<Language> found;
    if (!configured_.empty()) {
        AF_TRY(auto loaded, load_language(directory_, configured_));
        found = std::move(loaded);
    } else {
        AF_TRY(const auto files, checkout_.files(tree));
        AF_TRY(auto detected, detect_language(directory_, files));
        found = std::move(detected);
    }
    if (!found) {
        return Error{"AF-GATE-002", "No language that AgentForge knows was found in this repository.", directory_,
                     "Name a language in the settings, or add a file for it to config/languages.", ErrorKind::unavailable};
    }
    return &languages_.emplace(tree, std::move(*found)).first->second;
}

Result<std::vector<std::string>> TreeLanguages::test_files(const std::string& tree) {
    AF_TRY(const auto* found, of(tree));
    AF_TRY(auto files, checkout_.files(tree));
    std::vector<std::string> inlined;
    for (const auto& file : files) {
        if (!found->may_hold_tests(file)) { continue; }
        AF_TRY(const auto content, checkout_.file(tree, file));
        if (content && !split_inline_tests(*content, found->inline_begins).tests.empty()) { inlined.push_back(file); }
    }
    std::erase_if(files, [&](const auto& file) { return !found->tests.matches(file); });
    files.insert(files.end(), inlined.begin(), inlined.end());
    std::sort(files.begin(), files.end());
    return files;
}

Result<const TypeChecker*> TreeLanguages::type_checker(const std::string& tree) {
    AF_TRY(const auto* found, of(tree));
    AF_TRY(const auto files, checkout_.files(tree));
    const auto content = [&](const std::string& path) { return checkout_.file(tree, path); };
    for (const auto& checker : found->type_checkers) {
        AF_TRY(const bool declared, holds(checker.declared_by, files, content));
        if (declared) { return &checker; }
    }
    return nullptr;
}

}  // namespace agentforge::kernel
