#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: run_plain.sh FOLDER JOBS   builds the working directory as its user would, without the recorder, and runs its tests in any order
set -u
build=$1/plain
rm -rf "$build" && mkdir -p "$build" || exit 3
if ! { cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Debug && cmake --build "$build" --parallel "$2"; } >"$build.log" 2>&1; then
    tail -n 3 "$build.log" >&2
    echo 'agentforge: not measured: the project does not build by itself'
    exit 77
fi
ctest --test-dir "$build" --schedule-random --parallel "$2" --output-on-failure || exit 1
