// SPDX-License-Identifier: Apache-2.0
// Skeletons of languages in which a function can stand by itself or in one class: Go, Rust, Java.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/stage.hpp>

#include "gates/stubs/skeleton_c.hpp"

namespace agentforge::kernel {

/// `go`, `rust`, `java`.
[[nodiscard]] bool is_plain_skeleton(std::string_view kind);

/// Declares each interface at the end of its file and nothing else.
///   - A signature is one function without a body and without comments: `func Slugify(text string) string`,
///     `func (s *Slugger) Slugify(text string) string`, `pub fn slugify(text: &str) -> String`, `public static String
///     slugify(String text)`. `func`, `fn` and `public static` may be left out. Types, constants, variables and aliases are
///     declared as they are written: `type Votes map[string]int`, `var ErrFull = errors.New("full")`, `#[derive(Debug)] pub enum
///     Error { Full }`, `public static final int ROOM = 2`.
///   - The body panics, or throws UnsupportedOperationException, with `<marker> name`.
///   - What the file has already is left alone; in a function that has other types of parameters or another result the signature
///   is changed, and the
///     body stays where it can (the same result, no parameter gone). In Java other types of parameters are another method.
///   - `Queue::push` (Rust) stands in an `impl` of `Queue`. Packages of the standard library that a declaration names are
///   imported (Go, Java).
///   - Go: a new file's package is that of the folder's other files, else the folder's name. Rust: a new `src/a.rs` is made known
///   to
///     `src/lib.rs`, or `src/main.rs`, by `pub mod a;`. Java: the class is named as the file, its package as the folders below
///     `java/`.
[[nodiscard]] Skeletons write_plain_skeletons(std::string_view kind, const std::vector<SkeletonInterface>& interfaces,
                                              const std::map<std::string, std::string>& contents,
                                              const std::vector<std::string>& existing, const std::string& marker);

/// A file whose bodies were removed, changed so that its language accepts it: Go refuses unused imports.
[[nodiscard]] std::string without_what_is_unused(std::string_view kind, const std::string& text);

}  // namespace agentforge::kernel
