// SPDX-License-Identifier: Apache-2.0
// Skeletons for Go, Rust and Java.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/stage.hpp>

#include "gates/stubs/skeleton_c.hpp"

namespace agentforge::kernel {

/// True for `go`, `rust` and `java`.
[[nodiscard]] bool is_plain_skeleton(std::string_view kind);

/// Declares each interface at the end of its file, and changes nothing else.
///   - A signature is one function without a body and without comments: `func Slugify(text string) string`,
///     `func (s *Slugger) Slugify(text string) string`, `pub fn slugify(text: &str) -> String`,
///     `public static String slugify(String text)`. `func`, `fn` and `public static` may be omitted. Types, constants,
///     variables and aliases are declared as written: `type Votes map[string]int`, `var ErrFull = errors.New("full")`,
///     `#[derive(Debug)] pub enum Error { Full }`, `public static final int ROOM = 2`.
///   - Rust: `impl FromStr for Size { type Err = E; fn from_str(text: &str) -> Result<Self, E>; }` gets bodies. Without braces
///   only
///     for well-known traits without associated types (Display, Error, From, Default, …). Imports what the signature names from
///     the standard library. A function or constant of a type goes into an `impl` with the type's bounds, that of a trait into
///     the trait.
///   - Go: a group `const (…)` is written once. Java: methods without bodies in a class, record or enum get one; `Shape.area` of
///   an
///     interface has none; `Cart.Item.total` goes into the nested type.
///   - The body panics, or throws UnsupportedOperationException, with `<marker> name`.
///   - Declarations that the file already has are skipped. If a function has other parameter types or another result, its
///     signature is changed. Its body stays if the result is the same and no parameter was removed. In Java, other parameter
///     types mean another method.
///   - `Queue::push` (Rust) goes into an `impl` of `Queue`. Imports the standard library packages that a declaration names (Go,
///     Java).
///   - Go: a new file gets the package of the folder's other files, else the folder's name. Rust: a new `src/a.rs` adds
///     `pub mod a;` to `src/lib.rs` or `src/main.rs`. Java: the class is named after the file, the package after the folders
///     below `java/`.
[[nodiscard]] Skeletons write_plain_skeletons(std::string_view kind, const std::vector<SkeletonInterface>& interfaces,
                                              const std::map<std::string, std::string>& contents,
                                              const std::vector<std::string>& existing, const std::string& marker);

/// Returns a file whose function bodies were removed, changed so that it compiles: Go refuses unused imports.
[[nodiscard]] std::string without_unused_code(std::string_view kind, const std::string& text);

}  // namespace agentforge::kernel
