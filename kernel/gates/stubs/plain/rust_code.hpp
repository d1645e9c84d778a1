// SPDX-License-Identifier: Apache-2.0
// Texts of Rust.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace agentforge::kernel {

/// Rust infers the type of an `impl Trait` from the value that the body ends with; a panic has none. Returns such a value. Empty
/// if the function returns another type, or a trait without a known value.
[[nodiscard]] std::string value_of_opaque_type(const std::string& signature);

/// What an `impl` of a type repeats: `<T: Ord>`, `<T>` and `where T: Clone`.
struct Generics {
    std::string declared;
    std::string used;
    std::string bounds;
};

/// Returns what the file declares of the type.
[[nodiscard]] Generics generics_of(const std::string& text, const std::string& owner);

/// Returns the functions of well-known traits that need no associated type. `%` is the trait's argument. Nothing for another
/// trait.
[[nodiscard]] const std::string* functions_of_trait(const std::string& name);

/// Returns a member that uses all type parameters, as Rust demands: `(std::marker::PhantomData<(K, V)>)`. Empty if there are
/// none.
[[nodiscard]] std::string unused_parameters(const std::string& signature);

/// Returns the type that has a method of that name, else the only type of the file.
[[nodiscard]] std::string likely_owner(const std::string& text, const std::string& name);

/// True if a position is inside an `impl` of the type.
[[nodiscard]] bool in_impl(const std::string& code, std::size_t place, const std::string& owner);

/// Adds a `use` below the comments and attributes of the file itself.
void insert_use(std::string& text, const std::string& path);

/// Returns the folder of a crate's sources: `crates/a/src`.
[[nodiscard]] std::string crate_of(const std::string& path);

/// Returns `::bank::account` for `src/bank/account.rs`. Empty for the crate's root.
[[nodiscard]] std::string module_path(const std::string& path);

/// Modules of the standard library, and the names in each that a declaration may use without their path.
[[nodiscard]] std::span<const std::pair<std::string_view, std::string_view>> standard_rust_modules();

}  // namespace agentforge::kernel
