// SPDX-License-Identifier: Apache-2.0
// Which language judges which path. A repository of one language is one scope; in a monorepo each project folder is a scope
// of its own, which its language sees as if it were a repository.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

#include "gates/language/language.hpp"
#include "gates/run/checkout.hpp"

namespace agentforge::kernel {

/// Language files of several folders: the product's, then a user's or project's own. A later one replaces an earlier one of its
/// name.
class LanguageFiles {
public:
    explicit LanguageFiles(std::vector<std::string> directories) : directories_(std::move(directories)) {}
    /// All of them by name, read once. Folders but the first may be missing. Errors: AF-GATE-010.
    [[nodiscard]] Result<const std::map<std::string, Language, std::less<>>*> all();
    /// Errors: AF-GATE-002 naming the languages that there are.
    [[nodiscard]] Result<const Language*> get(std::string_view name);
    /// The folder that the file of this language lies in; it is in `all()`.
    [[nodiscard]] const std::string& directory(std::string_view name) const { return found_in_.find(name)->second; }

private:
    std::vector<std::string> directories_;
    bool read_ = false;
    std::map<std::string, Language, std::less<>> languages_;
    std::map<std::string, std::string, std::less<>> found_in_;
};

/// A folder of the tree and the language that judges what is in it, folders of deeper scopes left out.
struct Scope {
    std::string directory;  ///< Relative, without `/` at the end; empty: the whole tree.
    std::string language;
    bool has_project = true;  ///< False: no project of the language was found here; only its globs are used.
};

/// What the settings say: `gates.language` and `gates.scopes`.
struct ScopeSettings {
    std::string language;                            ///< Of what is in no other scope; empty: found out.
    std::map<std::string, std::string> directories;  ///< Folder → language; not empty: no others are looked for.
};

class Scopes {
public:
    /// Sorted by folder; the first one is the whole tree.
    [[nodiscard]] const std::vector<Scope>& all() const noexcept { return scopes_; }
    /// The deepest one that a path is in.
    [[nodiscard]] const Scope& of(std::string_view path) const;
    /// A path as the scope's language sees it.
    [[nodiscard]] static std::string_view inside(const Scope& scope, std::string_view path);
    [[nodiscard]] static std::string outside(const Scope& scope, std::string_view path);

    /// A folder that holds one of a language's `roots` files is a scope of it, unless it lies in another scope of the same
    /// language (where `nested_roots` is not set), among a scope's tests, or in a folder of examples, fixtures or other people's
    /// code (`vendor`, `node_modules`, …). What is in none is the whole tree's scope: of the language that `detect` finds there,
    /// or, where it finds none, of the scope with most sources.
    /// Errors: AF-GATE-002 no language at all; AF-GATE-080 the settings name a folder that is not in the tree or no folder at
    /// all; AF-GATE-010.
    [[nodiscard]] static Result<Scopes> find(LanguageFiles& languages, const std::vector<std::string>& files,
                                             const ScopeSettings& settings);

    /// Adds those of `later` whose folder held none of the earlier files.
    void add_new(const Scopes& later, const std::vector<std::string>& earlier_files);

private:
    std::vector<Scope> scopes_;
};

/// The part of another checkout that one scope sees; a file that is moved across its border is added or deleted.
/// `whole` outlives it.
[[nodiscard]] std::unique_ptr<TreeCheckout> make_scope_checkout(TreeCheckout& whole, const Scopes& scopes, const Scope& scope);

}  // namespace agentforge::kernel
