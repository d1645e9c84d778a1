// SPDX-License-Identifier: Apache-2.0
// The languages of all language files that are in force.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/language.hpp"

namespace agentforge::kernel {

/// The language files of several folders: the product's, then those of the user or project. A later file replaces an earlier one
/// with the same name.
class LanguageFiles {
public:
    explicit LanguageFiles(std::vector<std::string> directories) : directories_(std::move(directories)) {}
    /// Returns all languages by name. Reads the files once. Folders other than the first may be missing. Errors: AF-GATE-010.
    [[nodiscard]] Result<const std::map<std::string, Language, std::less<>>*> all();
    /// Errors: AF-GATE-002 with the known languages.
    [[nodiscard]] Result<const Language*> get(std::string_view name);
    /// Returns the folder of this language's file; the language must be in `all()`.
    [[nodiscard]] const std::string& directory(std::string_view name) const { return found_in_.find(name)->second; }

private:
    std::vector<std::string> directories_;
    bool read_ = false;
    std::map<std::string, Language, std::less<>> languages_;
    std::map<std::string, std::string, std::less<>> found_in_;
};

}  // namespace agentforge::kernel
