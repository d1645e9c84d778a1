// SPDX-License-Identifier: Apache-2.0
// Decides which language judges which path. A repository with one language is one scope. In a monorepo each project folder is a
// scope, which its language treats as a repository.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "gates/language/language.hpp"
#include "gates/language/language_files.hpp"
#include "gates/run/tree_checkout.hpp"

namespace agentforge::kernel {

/// A folder of the tree, without folders of deeper scopes, and the language that judges it.
struct Scope {
    std::string directory;  ///< Relative, without trailing `/`. Empty: the whole tree.
    std::string language;
    bool has_project = true;  ///< False: no project of the language was found here; only its globs are used.
};

/// The settings `gates.language` and `gates.scopes`.
struct ScopeSettings {
    std::string language;                            ///< Language of everything outside the other scopes. Empty: detected.
    std::map<std::string, std::string> directories;  ///< Folder → language. If not empty, no other scopes are looked for.
};

class Scopes {
public:
    /// Sorted by folder. The first one is the whole tree.
    [[nodiscard]] const std::vector<Scope>& all() const noexcept { return scopes_; }
    /// Returns the deepest scope that contains a path.
    [[nodiscard]] const Scope& of(std::string_view path) const;
    /// Returns a path relative to the scope.
    [[nodiscard]] static std::string_view inside(const Scope& scope, std::string_view path);
    [[nodiscard]] static std::string outside(const Scope& scope, std::string_view path);

    /// Finds the scopes. A folder that contains one of a language's `roots` files is a scope of it, unless it is inside another
    /// scope of the same language (if `nested_roots` is not set), among a scope's tests, or in a folder of examples, fixtures or
    /// vendored code (`vendor`, `node_modules`, …). Everything else is the whole tree's scope, with the language that `detect`
    /// finds there, or else that of the scope with the most sources. Errors: AF-GATE-002 no language at all; AF-GATE-080 the
    /// settings name a missing folder or a non-folder; AF-GATE-010.
    [[nodiscard]] static Result<Scopes> find(LanguageFiles& languages, const std::vector<std::string>& files,
                                             const ScopeSettings& settings);

    /// Adds the scopes of `later` whose folders contain none of `earlier_files`.
    void add_new(const Scopes& later, const std::vector<std::string>& earlier_files);

private:
    std::vector<Scope> scopes_;
};

/// Returns the part of another checkout that one scope sees. A file moved into or out of the scope counts as added or deleted.
/// `whole` must outlive the result.
[[nodiscard]] std::unique_ptr<TreeCheckout> make_scope_checkout(TreeCheckout& whole, const Scopes& scopes, const Scope& scope);

}  // namespace agentforge::kernel
