// SPDX-License-Identifier: Apache-2.0
// Writes declarations of Go, Rust and Java into files.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "gates/stubs/plain/function_head.hpp"
#include "gates/stubs/plain/plain_kind.hpp"
#include "gates/stubs/skeleton_plain.hpp"

namespace agentforge::kernel {

/// Writes the skeletons of one call. Declares one interface after another; `take` returns the files.
class PlainWriter {
public:
    PlainWriter(const PlainKind& kind, const std::map<std::string, std::string>& contents,
                const std::vector<std::string>& existing, const std::string& marker)
        : kind_(kind), contents_(contents), existing_(existing), marker_(marker) {}

    void declare(const SkeletonInterface& interface);

    /// Registers the types to be declared, because a declaration may name a type of another file.
    void register_types(const std::vector<SkeletonInterface>& interfaces);

    Skeletons take();

private:
    enum class Known : unsigned char { no = 1, as_wanted, changed };

    static std::string with_name(const char* pattern, const std::string& name);

    /// In Go, also searches the other files of the package.
    [[nodiscard]] bool is_named(const std::string& path, const std::string& name) const;

    void add_problem(const SkeletonInterface& interface, const std::string& what);

    /// Braces in a signature must be those of a body.
    [[nodiscard]] std::string without_empty_types(std::string signature) const;

    void declare_type_or_value(const SkeletonInterface& interface, const std::string& name, const std::string& signature,
                               bool type);

    /// `plain`: the signature without empty types.
    void declare_function(const SkeletonInterface& interface, std::string signature, const std::string& plain);

    void declare_type(const std::string& path, const std::string& name, std::string signature);

    void declare_value(const SkeletonInterface& interface, const std::string& signature);

    /// Returns the path of one of the written files.
    [[nodiscard]] std::string path_of(const std::string& text) const;

    /// Returns the type that a method belongs to, or empty.
    [[nodiscard]] std::string owner_of(const std::string& name, const std::string& signature) const;

    /// Finds the function. If callers would notice a difference in its signature, changes it to the requested one.
    Known change(std::string& text, const std::string& name, const std::string& owner, const std::string& signature) const;

    /// Keeps the body if the result type is the same and the body uses no removed parameter.
    void replace(std::string& text, const std::string& code, std::size_t begin, std::size_t open, std::size_t end,
                 const FunctionHead& have, const FunctionHead& wanted, const std::string& name, std::string signature) const;

    /// The first line has no indentation, and the last has no line end.
    [[nodiscard]] std::string function_text(const std::string& signature, const std::string& name,
                                            const std::string& indent) const;

    void write_function(const SkeletonInterface& interface, std::string& text, const std::string& name, const std::string& owner,
                        const std::string& signature);

    /// True if this writer started the block, so further methods can be added to it.
    [[nodiscard]] bool is_ours(const std::string& path, const std::string& block) const { return ours_.contains(path + block); }

    /// Imports the standard library packages that a declaration names and its file does not import.
    void import_what_is_named(std::string& text, const std::string& signature) const;

    void write(std::string& text, const std::string& declaration) const;

    std::string& content(const std::string& path);

    // Go.
    /// Declares a group of constants or variables; one of them has the interface's name.
    void declare_group(const SkeletonInterface& interface, const std::string& signature);

    /// Declares the type of a method if nothing does: `type Cache[K any, V any] struct{}` for `(c *Cache[K, V])`.
    void declare_receiver(const std::string& path, const std::string& owner, const std::string& signature);

    void import_go(std::string& text, const std::string& word) const;

    /// Returns the import path of the module's package with this folder name, else of the standard library's. Empty: neither.
    [[nodiscard]] std::string go_path(const std::string& word) const;

    [[nodiscard]] std::string go_package(const std::string& path) const;

    // Rust.
    /// Writes an `impl` with the skeleton's body for each function. Returns why it cannot.
    std::string declare_impl(const std::string& path, const std::string& signature);

    /// Returns the items of an `impl`, indented. If one cannot be read, returns the problem instead, not indented.
    [[nodiscard]] std::string impl_lines(const std::string& body, const std::string& trait) const;

    /// Writes into an `impl` of the type that this writer began, or into the trait of that name.
    void write_in_impl(const std::string& path, std::string& text, const std::string& owner, const std::string& lines);

    /// Adds a function to a trait of the file. Returns false if the file has no such trait.
    bool write_in_trait(std::string& text, const std::string& name, const std::string& owner, std::string signature) const;

    /// Adds `use std::time::Duration;` if a signature names it and nothing declares it.
    void import_rust(std::string& text, const std::string& signature) const;

    /// Adds `use crate::account::NotEnough;` if another file of the crate declares what a signature names.
    void use_types_of_others(const std::string& path, const std::string& signature);

    /// Declares the file's module in its parent, so that it belongs to the crate.
    void declare_module(const std::string& path);

    // Java.
    /// Writes a method into the type that its name gives, else into that of the file.
    void write_java_method(const SkeletonInterface& interface, std::string& text, const std::string& name, std::string signature);

    /// True if the main type of a file is an interface: its methods are neither static nor have bodies.
    [[nodiscard]] bool is_interface(const std::string& path);

    const PlainKind& kind_;
    const std::map<std::string, std::string>& contents_;
    const std::vector<std::string>& existing_;
    const std::string& marker_;
    std::map<std::string, std::string> files_;
    std::set<std::string> ours_;
    std::map<std::string, std::string> declared_types_;  ///< Name → file.
    Skeletons result_;
};

}  // namespace agentforge::kernel
