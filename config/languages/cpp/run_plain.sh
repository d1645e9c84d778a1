#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: run_plain.sh FOLDER JOBS   builds the working directory as a user would, without the recorder, and runs its tests in random order: as an optimised
#        Release build with assertions, or as a Debug build if the former does not build.
set -u
build=$1/plain jobs=$2
builds() {
    rm -rf "$build" && mkdir -p "$build" || exit 3
    { cmake -S . -B "$build" "$@" && cmake --build "$build" --parallel "$jobs"; } >"$build.log" 2>&1
}
tests() { ctest --test-dir "$build" --schedule-random --parallel "$jobs" --output-on-failure; }

released=
if builds -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1; then
    tests && exit 0
    released=failed
fi
if ! builds -DCMAKE_BUILD_TYPE=Debug; then
    tail -n 3 "$build.log" >&2
    echo 'agentforge: not measured: the project does not build by itself'
    exit 77
fi
tests || exit 1
[ -z "$released" ] || { echo 'the tests pass in a Debug build and fail in an optimised Release build (-O1, with assertions)' >&2; exit 1; }
