// SPDX-License-Identifier: Apache-2.0
// What a specification declares and the project has already, with another signature or with fewer members.
#pragma once

#include <string>
#include <vector>

#include <agentforge/stage.hpp>

#include "gates/stubs/c_changes.hpp"
#include "gates/stubs/c_project.hpp"

namespace agentforge::kernel {

/// Changes existing functions, values and types of a project to what a specification declares. All functions may throw
/// CannotDeclare.
class ExistingDeclarations {
public:
    /// `project` must live as long as this.
    ExistingDeclarations(CProject& project, std::string marker) : project_(project), marker_(std::move(marker)) {}

    /// Functions that the specification also declares are no older versions of each other.
    void note_wanted(const std::vector<SkeletonInterface>& interfaces);

    /// Reads a signature. `owner`: the class of a method, or empty.
    [[nodiscard]] WantedFunction read_wanted(const std::string& signature, const std::string& owner, bool is_c) const;

    /// Returns true if the file has the function, and gives it the wanted signature everywhere: in its declarations, its
    /// definition, and the functions that override it. `scope`: of the function. False: it is new.
    bool change_function(CFile& target, const WantedFunction& wanted, const std::vector<std::string>& scope, bool is_member,
                         const std::string& name);

    /// Returns true if the file has a variable, constant or field of that name. Gives it the wanted type, if that differs.
    bool change_value(CFile& target, const std::string& text, const std::vector<std::string>& parts);

    /// Adds enumerators to the enum, each after the one before it in the specification.
    void add_enumerators(CFile& target, const CDeclaration& existing, const std::vector<CEnumerator>& wanted);

    /// Changes an alias to another type.
    void change_alias(CFile& target, const CDeclaration& existing, const std::string& text);

    /// Adds base classes that a class lacks.
    void add_bases(CFile& target, const std::vector<std::string>& parts, const CDeclaration& wanted, const std::string& text);

private:
    struct Found {
        CFile* file = nullptr;
        CDeclaration declaration;
    };
    [[nodiscard]] bool is_wanted_elsewhere(const CDeclaration& have, const CDeclaration& wanted) const;
    [[nodiscard]] const CDeclaration* older(const CFile& target, const WantedFunction& wanted,
                                            const std::vector<std::string>& scope, bool is_member, bool& is_same) const;
    [[nodiscard]] std::vector<Found> all_of(CFile& target, const CDeclaration& model, const std::vector<std::string>& scope,
                                            bool is_member);
    void add_overrides(const CDeclaration& model, const std::string& owner, std::vector<Found>& found, int depth);
    void rewrite(std::vector<Found> found, const WantedFunction& wanted, const std::string& name, const std::string& owner);

    CProject& project_;
    std::string marker_;
    std::vector<CDeclaration> wanted_;
};

}  // namespace agentforge::kernel
