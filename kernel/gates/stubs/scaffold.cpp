// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/scaffold.hpp"

#include <re2/re2.h>

#include "gates/failures.hpp"

namespace agentforge::kernel {

Result<std::vector<std::pair<std::string, std::string>>> scaffold_of(TreeCheckout& checkout, TreeLanguages& languages,
                                                                     const std::string& tree) {
    std::vector<std::pair<std::string, std::string>> files;
    const auto found = languages.of(tree);
    if (!found.ok()) {
        if (has_no_language(found.error())) { return files; }  // The tree has no language yet.
        return found.error();
    }
    AF_TRY(const auto tests, languages.test_files(tree));
    if (!tests.empty()) { return files; }
    for (const auto& file : (*found)->scaffold) {
        AF_TRY(const auto content, checkout.file(tree, file.path));
        const bool adds = file.append || !file.before.empty();
        const bool changes = content ? adds && content->find(file.content) == std::string::npos : !adds;
        if (!changes || (content && !file.unless.empty() && RE2::PartialMatch(*content, file.unless))) { continue; }
        if (!file.when.empty()) {
            AF_TRY(const auto all, checkout.files(tree));
            AF_TRY(const bool wanted, holds(file.when, all, [&](const std::string& path) { return checkout.file(tree, path); }));
            if (!wanted) { continue; }
        }
        std::string text = content.value_or("");
        if (!file.before.empty()) {
            re2::StringPiece place;
            if (!RE2::PartialMatch(text, RE2(file.before, RE2::Quiet), &place)) { continue; }
            text.insert(static_cast<std::size_t>(place.data() - text.data()), file.content);
            files.emplace_back(file.path, std::move(text));
            continue;
        }
        if (!text.empty() && text.back() != '\n') { text += '\n'; }
        files.emplace_back(file.path, text + file.content);
    }
    return files;
}

}  // namespace agentforge::kernel
