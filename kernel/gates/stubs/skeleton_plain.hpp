// SPDX-License-Identifier: Apache-2.0
// Skeletons of languages in which a function can be free-standing or in a single class: Go, Rust, Java.
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
///     `func (s *Slugger) Slugify(text string) string`, `pub fn slugify(text: &str) -> String`,
///     `public static String slugify(String text)`. `func`, `fn` and `public static` may be omitted. Types, constants,
///     variables and aliases are declared as written: `type Votes map[string]int`, `var ErrFull = errors.New("full")`,
///     `#[derive(Debug)] pub enum Error { Full }`, `public static final int ROOM = 2`.
///   - The body panics, or throws UnsupportedOperationException, with `<marker> name`.
///   - Skips what the file already has. If a function has other parameter types or another result, changes its signature and
///     keeps its body if possible (the same result, no parameter removed). In Java other parameter types mean another method.
///   - `Queue::push` (Rust) goes into an `impl` of `Queue`. Imports the standard library packages that a declaration names (Go,
///     Java).
///   - Go: a new file's package is that of the folder's other files, else the folder's name. Rust: adds `pub mod a;` for a new
///     `src/a.rs` to `src/lib.rs` or `src/main.rs`. Java: the class has the file's name, its package the folders below `java/`.
[[nodiscard]] Skeletons write_plain_skeletons(std::string_view kind, const std::vector<SkeletonInterface>& interfaces,
                                              const std::map<std::string, std::string>& contents,
                                              const std::vector<std::string>& existing, const std::string& marker);

/// Fixes a file whose bodies were removed, so that its language accepts it: Go refuses unused imports.
[[nodiscard]] std::string without_unused_code(std::string_view kind, const std::string& text);

}  // namespace agentforge::kernel
