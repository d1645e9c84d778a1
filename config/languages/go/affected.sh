#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: affected.sh FILE...
# Prints the test files of every package that is in the folder of one of these files, or that imports such a package, itself or in
# its tests.
set -u
[ ! -e vendor ] || export GOFLAGS=-mod=vendor
root=$(pwd)
changed=$(for file in "$@"; do case $file in */*) echo "$root/${file%/*}" ;; *) echo "$root" ;; esac; done | sort -u)
packages=$(go list -e -f '{{.ImportPath}}|{{.Dir}}|{{join .Deps " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}|{{join .TestGoFiles " "}} {{join .XTestGoFiles " "}}' ./... 2>/dev/null) || exit 3
printf '%s\n%s\n' "$changed" "$packages" | awk -F'|' -v root="$root/" '
    NF == 1 { dirs[$1] = 1; next }
    { path[++n] = $1; dir[n] = $2; deps[$1] = $3; tests[n] = $4; files[n] = $5; if ($2 in dirs) hit[$1] = 1 }
    function reaches(name,   list, count, i) {
        if (name in hit) return 1
        count = split(deps[name], list, " ")
        for (i = 1; i <= count; ++i) if (list[i] in hit) return 1
        return 0
    }
    END {
        for (p = 1; p <= n; ++p) {
            yes = reaches(path[p])
            count = split(tests[p], list, " ")
            for (i = 1; i <= count && !yes; ++i) yes = reaches(list[i])
            if (!yes) continue
            folder = dir[p] "/"
            prefix = ""
            if (index(folder, root) == 1) prefix = substr(folder, length(root) + 1)
            count = split(files[p], list, " ")
            for (i = 1; i <= count; ++i) print prefix list[i]
        }
    }'
