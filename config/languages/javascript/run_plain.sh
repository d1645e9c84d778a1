#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: run_plain.sh FILE...   node's own test runner by itself, in the working directory
[ ! -e tsconfig.json ] || { echo 'agentforge: not measured: TypeScript needs the loader of the gates'; exit 3; }
for file in "$@"; do
    case $file in *.ts | *.tsx | *.mts | *.cts) echo 'agentforge: not measured: TypeScript needs the loader of the gates'; exit 3 ;; esac
done
exec node --no-warnings --test "$@"
