// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gates/stubs/c_changes.hpp"
#include "gates/stubs/c_declarations.hpp"

namespace agentforge::kernel {

/// True if one scope ends with the other: `billing::Line` and `Line`.
[[nodiscard]] bool is_c_scope(const std::vector<std::string>& one, const std::vector<std::string>& other);

/// One file that declarations are added to, and changed in.
class CFile {
public:
    /// `is_c`: what is written must be C. A new header gets `#pragma once`. Keeps the line ends of the file.
    CFile(std::string path, std::string text, bool is_c);

    [[nodiscard]] bool changed() const { return wrote_ && text_ != before_; }
    [[nodiscard]] std::string content() const;
    [[nodiscard]] bool is_c() const { return is_c_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] const std::string& text() const { return text_; }
    /// Valid until the next change.
    [[nodiscard]] const std::vector<CDeclaration>& declarations() const;

    /// Returns the class, struct or union with a body and of that name, in that scope. Null: there is none.
    [[nodiscard]] const CDeclaration* class_named(const std::vector<std::string>& parts) const;
    [[nodiscard]] bool has_class(const std::string& name) const { return class_named({name}) != nullptr; }
    /// True if a class, struct, enum or alias of that name is defined here, not only declared.
    [[nodiscard]] bool defines_type(const std::string& name) const;
    /// True if the name occurs in the file's code.
    [[nodiscard]] bool mentions(const std::string& name) const;
    [[nodiscard]] bool has_define(const std::string& name) const;

    [[nodiscard]] bool includes(const std::string& line) const;
    void include(const std::string& line);
    /// Includes what the body of a skeleton needs.
    void include_for_skeleton(bool aborts);
    /// Writes the required includes, and moves new types before their first use. Call it after all declarations.
    void finish();

    /// Adds a declaration at the end, in these namespaces.
    void append(const std::vector<std::string>& spaces, const std::string& declaration);
    /// The same for a type that the file lacked. `finish` moves it before the first declaration that uses it.
    void append_type(const std::vector<std::string>& spaces, const std::string& name, const std::string& declaration);
    /// Adds a member at the end of its class. It gets this access.
    void add_member(const CDeclaration& owner, const std::string& declaration, const std::string& access = "public");
    void replace(const CRange& range, const std::string& text);
    /// Removes a declaration, with its line if nothing else is there.
    void erase(const CRange& range);

private:
    struct NewType {
        std::vector<std::string> spaces;
        std::string name;
        std::string declaration;
        std::string block;  ///< The declaration in its namespaces, as appended.
    };
    void move_before_use(const NewType& type);
    /// Returns the declaration in the scope of the type that uses it, above this place. Null if there is none, or if the type
    /// itself needs one that comes after it.
    [[nodiscard]] const CDeclaration* user_above(const NewType& type, std::size_t place) const;
    /// Returns the line at which the comment above this place begins, or the place's own line.
    [[nodiscard]] std::size_t comment_begin(std::size_t at) const;
    [[nodiscard]] std::size_t line_end(std::size_t at) const;
    [[nodiscard]] std::size_t line_begin(std::size_t at) const;
    [[nodiscard]] std::size_t guard_end() const;
    [[nodiscard]] std::size_t end_of_declarations() const;
    void edit(std::size_t at, std::size_t length, const std::string& text);

    std::string path_;
    std::string text_;
    std::string before_;
    bool is_c_;
    bool crlf_ = false;
    bool wrote_ = false;
    std::set<std::string> includes_;
    std::vector<NewType> new_types_;
    mutable std::optional<std::vector<CDeclaration>> read_;
};

}  // namespace agentforge::kernel
