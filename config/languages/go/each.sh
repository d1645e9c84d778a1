#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `go test -exec` starts this for each package, in the package's folder, with the test program and its flags. A panic ends a whole
# program, so the tests that did not run because of it run again, each in a separate process.
set -u
program=$1
shift
echo "agentforge: folder $PWD"
said=$(mktemp "${TMPDIR:-/tmp}/go-test-XXXXXX") || exit 3
code=$(mktemp "${TMPDIR:-/tmp}/go-test-XXXXXX") || exit 3
{ "$program" "$@"; echo $? >"$code"; } 2>&1 | tee "$said"
status=$(cat "$code")
# A program that ended by itself has reported each test as passed, failed or skipped.
if [ "$status" != 0 ] && ! tail -n 1 "$said" | grep -qx 'FAIL'; then
    for name in $("$program" -test.list . 2>/dev/null | grep -E '^(Test|Fuzz|Example)'); do
        grep -q "^--- [A-Z]*: $name " "$said" && continue
        "$program" "$@" "-test.run=^$name\$" 2>&1
        status=1
    done
fi
rm -f "$said" "$code"
[ "$status" = 0 ] || exit 1
