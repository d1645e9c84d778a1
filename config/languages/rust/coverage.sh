#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: coverage.sh ROOT BUILD RESULTS
# Builds a copy of ROOT with LLVM's counters, runs its tests, and writes RESULTS/lcov.info. Needs llvm-profdata and llvm-cov in the version
# of the compiler's LLVM, and the library of the counters: the compiler's own (rustup), or else that of clang in the same version (Debian).
set -u
root=$1 build=$2 results=$3
tree=$build/tree
not_measured() { echo "agentforge: not measured: $1" >&2; exit 4; }
major=$(rustc -vV 2>/dev/null | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
libraries=$(rustc --print target-libdir 2>/dev/null)
for folder in "$libraries/../bin" "/usr/lib/llvm-$major/bin"; do
    [ -x "$folder/llvm-cov" ] && [ -x "$folder/llvm-profdata" ] && tools=$folder && break
done
[ -n "${tools:-}" ] || not_measured "llvm-cov of LLVM $major, with which this Rust was built, is not installed"
if ls "$libraries"/libprofiler_builtins-*.rlib >/dev/null 2>&1; then
    flags="-Cinstrument-coverage"
else
    runtime=$(ls "/usr/lib/llvm-$major"/lib/clang/*/lib/linux/libclang_rt.profile-"$(uname -m)".a 2>/dev/null | head -n 1)
    [ -n "$runtime" ] || not_measured "neither this Rust nor clang $major has the library that counts (profiler_builtins, libclang-rt-$major-dev)"
    # Only a compiler with unstable features accepts another library.
    export RUSTC_BOOTSTRAP=1
    flags="-Cinstrument-coverage -Zno-profiler-runtime -Clink-arg=$runtime -Clink-arg=-lc"
fi
rm -rf "$tree" "$build/profiles"
mkdir -p "$tree" "$build/profiles" || exit 3
cp -a "$root/." "$tree/" && rm -rf "$tree/.git" && chmod -R u+w "$tree" || exit 3
cd "$tree" || exit 3
export CARGO_TARGET_DIR="$build/target" RUSTFLAGS="$flags" LLVM_PROFILE_FILE="$build/profiles/%p-%m.profraw"
programs=$(cargo test --workspace --tests --no-run --offline --message-format json 2>"$build/said" | tr ',' '\n' | sed -n 's/^"executable":"\(.*\)"}*$/\1/p' | sort -u)
if [ -z "$programs" ]; then
    cat "$build/said" >&2
    exit 1
fi
cargo test --workspace --tests --no-fail-fast --offline >/dev/null 2>&1      # Failing tests count, too.
find "$build/profiles" -name '*.profraw' >"$build/list"
"$tools/llvm-profdata" merge -sparse -f "$build/list" -o "$build/all.profdata" || exit 1
set --
first=
while IFS= read -r program; do
    if [ -z "$first" ]; then first=$program; else set -- "$@" -object "$program"; fi
done <<TEXT
$programs
TEXT
"$tools/llvm-cov" export -format=lcov -instr-profile="$build/all.profdata" "$first" "$@" -ignore-filename-regex='/\.cargo/|/rustc/' >"$results/lcov.info"
