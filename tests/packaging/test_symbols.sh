#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_symbols.sh <folder of built plugins>: every shipped plugin exports its entry symbol and nothing else.
set -eu
found=0 wrong=0
for library in $(find "$1" -name '*.so' | sort); do
    found=$((found + 1))
    symbols=$(nm -D --defined-only "$library" | awk '{print $3}' | tr '\n' ' ')
    if [ "$symbols" != "agentforge_plugin " ]; then
        echo "$library exports: ${symbols:-nothing}" >&2
        wrong=$((wrong + 1))
    fi
    if [ ! -f "${library%/*}/plugin.json" ]; then
        echo "$library has no plugin.json beside it" >&2
        wrong=$((wrong + 1))
    fi
done
if [ $found = 0 ]; then echo "no plugin in $1: build them first" >&2; exit 1; fi
echo "$found plugins, $wrong wrong"
[ $wrong = 0 ]
