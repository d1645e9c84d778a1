#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_header_alone.sh <folder of headers> <compiler> <flag>…
# Compiles every SDK header as the only thing in its translation unit.
set -eu
folder=$1
shift
checked=0
for header in "$folder"/agentforge/*.hpp; do
    [ -f "$header" ] || { echo "no header in $folder/agentforge" >&2; exit 1; }
    printf '#include <agentforge/%s>\n#include <agentforge/%s>\n' "${header##*/}" "${header##*/}" |
        "$@" -I "$folder" -fsyntax-only -x c++ - || { echo "${header##*/} does not compile alone" >&2; exit 1; }
    checked=$((checked + 1))
done
echo "$checked headers compile alone"
