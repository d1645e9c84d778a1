// SPDX-License-Identifier: Apache-2.0
// Changes an existing function of C or C++ to another signature. Plain functions over values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gates/stubs/c_declarations.hpp"

namespace agentforge::kernel {

/// A function that a specification declares: its signature, and what was read from it.
struct WantedFunction {
    std::string text;  ///< What `read` was read from.
    CDeclaration read;
    bool is_c = false;  ///< Its file is C.
    std::string marker;
};

/// What the specification's function means for one of the file.
enum class CMatch : std::uint8_t {
    same = 1,  ///< Nothing has to change.
    changed,   ///< The function gets the wanted signature.
    another,   ///< An overload.
};

/// True if the types of the parameters are equal.
[[nodiscard]] bool has_same_parameters(const CDeclaration& one, const CDeclaration& other);

/// Compares a function of the file, of the same name and scope, with the wanted one. Functions of C, and those that some calls
/// could not tell from the wanted one, are changed.
[[nodiscard]] CMatch match_c_function(const CDeclaration& have, const WantedFunction& wanted);

/// True if the body has to go: the result has another type, a parameter is removed, or it is a stub already.
[[nodiscard]] bool loses_body(std::string_view text, const CDeclaration& have, const CDeclaration& wanted);

struct ChangedFunction {
    std::string text;          ///< Replaces `have.range`.
    bool is_skeleton = false;  ///< The body is the skeleton's,
    bool aborts = false;       ///< and it prints the marker and aborts.
};

/// Returns the function with the wanted signature. It keeps its specifiers, macros and attributes, its body if that may still
/// fit, and its old body as comments otherwise. `name`: the name in the marker. `all`: the declarations of its file.
/// `has_defaults`: this declaration has the default arguments.
[[nodiscard]] ChangedFunction change_c_function(std::string_view text, const CDeclaration& have, const WantedFunction& wanted,
                                                const std::string& name, const std::vector<CDeclaration>& all, bool has_defaults);

/// What the body of a skeleton needs.
struct SkeletonBody {
    std::vector<std::string> unused;  ///< Names of parameters, and of local functions and variables that only this body used.
    std::string name;
    std::string marker;
    bool is_c = false;
    bool aborts = false;  ///< It must not throw.
    std::string old;      ///< The old body, for comments.
    std::string indent;
};
/// Returns ` {`, the lines of the body, and `}`.
[[nodiscard]] std::string skeleton_body(const SkeletonBody& body);

/// Names of functions and variables of the file that only it can see, and that this body uses: without it, a compiler may warn.
[[nodiscard]] std::vector<std::string> local_names_in(std::string_view body, const CDeclaration& function,
                                                      const std::vector<CDeclaration>& all);

/// Returns the text with the body of each function at these lines replaced by the skeleton's, and the old body as comments.
/// Functions that already are skeletons stay unchanged. `aborts`: set if one of them aborts.
[[nodiscard]] std::string stub_c_functions_at(std::string_view text, const std::set<std::uint64_t>& lines,
                                              const std::string& marker, bool is_c, bool& aborts);

}  // namespace agentforge::kernel
