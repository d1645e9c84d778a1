#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: run_moved.sh PROGRAM [ARGUMENT...]    cargo's runner of a test program: runs it in the parent folder, which has the programs that are not tests, and without
#        the variables with which run_plain.sh selects this runner.
set -eu
program=$1
shift
moved=$(dirname "$(dirname "$program")")/$(basename "$program")
ln -f "$program" "$moved" 2>/dev/null || cp -p "$program" "$moved"
# shellcheck disable=SC2046  # Names of variables.
unset $(env | sed -n 's/^\(CARGO_PROFILE_DEV_[A-Z_]*\|CARGO_TARGET_[A-Z0-9_]*_RUNNER\)=.*/\1/p')
case " $* " in *" --exclude-should-panic "*) export RUSTC_BOOTSTRAP=1 ;; esac
exec "$moved" "$@"
