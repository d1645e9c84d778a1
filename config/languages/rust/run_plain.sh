#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: run_plain.sh BUILD    runs the tests of the working directory as cargo does, with two differences that no user of the code would notice:
#        debug assertions are off, as in a release build (except for tests that expect a panic and fail without them), and each program runs outside
#        cargo's folder of test programs (see run_moved.sh).
set -eu
build=$1 here=$(cd "$(dirname "$0")" && pwd)
export CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=false
# Without this, the same switch would also turn off overflow checks.
grep -qs '^[[:space:]]*overflow-checks' Cargo.toml || export CARGO_PROFILE_DEV_OVERFLOW_CHECKS=true
host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
# cargo splits the runner's command at blanks.
case $here in
    *[[:space:]]*) ;;
    *) moved=yes; export "CARGO_TARGET_${host}_RUNNER=sh $here/run_moved.sh" ;;
esac
# cargo exits with a test program's exit code.
tests() { cargo test --workspace --tests --offline --quiet --target-dir "$build" -- --test-threads=1 "$@" || return 1; }
tests && exit 0
# The panic that a test expects may be a debug assertion, so only such tests run with them. run_moved.sh lets a stable compiler exclude these tests.
[ -n "${moved:-}" ] || exit 1
tests -Z unstable-options --exclude-should-panic || exit 1
export CARGO_PROFILE_DEV_DEBUG_ASSERTIONS=true
tests || exit 1
