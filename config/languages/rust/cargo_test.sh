#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: cargo_test.sh build|run ROOT BUILD UNIQUE [NAME...]
# build: copies ROOT to BUILD/tree, appends a test that must fail to each program's main source file, and builds the tests.
#        Keeps the times of files, so that cargo rebuilds only changed files.
# run:   runs the built tests. With names: only those whose name contains one of them. Does not run documentation tests.
set -eu
what=$1 root=$2 build=$3 unique=$4
tree=$build/tree
export CARGO_TARGET_DIR="$build/target"
# Code that runs during the build (a build script) could change the sources. Then the tests would not test the given tree.
sums() { find . -name '*.rs' -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum; }
if [ "$what" = build ]; then
    rm -rf "$tree"
    mkdir -p "$tree"
    cp -a "$root/." "$tree/"
    rm -rf "$tree/.git"
    cd "$tree"
    chmod -R u+w .
    # Every program's main source file, according to cargo.
    cargo metadata --no-deps --offline --format-version 1 2>/dev/null | tr ',{' '\n\n' | sed -n 's/^"src_path":"\(.*\)"}*$/\1/p' | sort -u |
        while IFS= read -r file; do
            case $file in
                */build.rs) ;;
                "$tree"/*) printf '\n#[cfg(test)]\nmod agentforge_canary_%s {\n    #[test]\n    fn fails() {\n        assert!(false, "agentforge: canary");\n    }\n}\n' "$unique" >>"$file" ;;
            esac
        done
    given=$(sums)
    code=0
    cargo test --workspace --tests --no-run --offline --message-format short || code=$?
    if [ "$(sums)" != "$given" ]; then
        echo "Cargo.toml:1:1: error: the build changed tests or sources that it was given" >&2
        exit 3
    fi
    exit $code
fi
cd "$tree"
# Prints the source file of each program: cargo reports it only relative to the package.
cargo metadata --no-deps --offline --format-version 1 2>/dev/null | tr ',{' '\n\n' |
    sed -n "s/^\"name\":\"\(.*\)\"}*\$/N \1/p; s|^\"src_path\":\"$tree/\(.*\)\"}*\$|P \1|p" |
    while read -r kind text; do
        if [ "$kind" = N ]; then name=$text; else echo "agentforge: program $name $text" >&2; fi
    done
shift 4
[ $# = 0 ] || set -- "$@" "agentforge_canary_$unique"
exec cargo test --workspace --tests --no-fail-fast --offline -- "$@"
