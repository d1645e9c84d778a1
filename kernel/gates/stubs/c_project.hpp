// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <agentforge/stage.hpp>

#include "gates/stubs/c_file.hpp"

namespace agentforge::kernel {

/// True if a declaration in this file must be C: in a `.c`, in a header that a `.c` of the project includes or that has an
/// `extern "C"` for C++, and in each header of a project without C++. `existing`: the paths of the tree.
[[nodiscard]] bool is_c_file(const std::string& path, const std::map<std::string, std::string>& contents,
                             const std::vector<std::string>& existing);

/// The files of a project, as far as declarations need them. Reads and changes them in memory.
class CProject {
public:
    /// Both must live as long as this.
    CProject(const std::map<std::string, std::string>& contents, const std::vector<std::string>& existing);

    /// Returns the file, which may be new.
    [[nodiscard]] CFile& file(const std::string& path);
    [[nodiscard]] bool exists(const std::string& path) const;
    /// Returns the files that have all of these words.
    [[nodiscard]] std::vector<CFile*> files_with(const std::vector<std::string>& words);
    /// Returns the header that alone defines this class. Null: there is none, or several.
    [[nodiscard]] CFile* header_of_class(const std::vector<std::string>& parts);

    /// Notes the types that the specification declares: their headers may not exist yet.
    void note_specified(const std::vector<SkeletonInterface>& interfaces);
    /// Includes the standard headers, and the project's, that a declaration needs. `types`: its text without names of parameters.
    void include_for(CFile& target, const std::string& types);
    /// Includes only the project's headers. Skips a type that several headers declare.
    void include_project_headers(CFile& target, const std::string& text);

    /// Returns the changed files, with their includes.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> written();

private:
    const std::map<std::string, std::string>& contents_;
    const std::vector<std::string>& existing_;
    std::map<std::string, CFile> files_;
    std::map<std::string, std::set<std::string>> specified_types_;  ///< Name → headers.
    std::vector<std::string> order_;
};

}  // namespace agentforge::kernel
