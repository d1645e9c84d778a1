#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test_install.sh <build folder> <source folder> <run_stage> <cmake> <compiler> <flags>
# Installs to a temporary prefix, moves it, builds a plugin project against it and runs the plugin.
set -eu
build=$1 source=$2 run_stage=$3 cmake=$4 compiler=$5 flags=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $1" >&2; exit 1; }

DESTDIR='' "$cmake" --install "$build" --prefix "$work/first" >"$work/install.log" 2>&1 || { cat "$work/install.log"; fail "cmake --install"; }
# A package may be unpacked anywhere: nothing in it may name the place it was installed to.
mv "$work/first" "$work/prefix"

abi=$(find "$work/prefix" -name libagentforge-abi.so)
[ -n "$abi" ] || fail "libagentforge-abi.so is not installed"
[ "$(readelf -d "$abi" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = libagentforge-abi.so ] || fail "the SONAME of libagentforge-abi.so is another"
for header in "$source"/sdk/include/agentforge/*.hpp; do
    [ -f "$work/prefix/include/agentforge/${header##*/}" ] || fail "${header##*/} is not installed"
done
if grep -rIl -e "$build" -e "$work/first" "$work/prefix" --include='*.cmake'; then fail "the package files above name a folder of the build"; fi
for page in man/man1/agentforge.1 man/man1/agentforge-start.1 man/man1/agentforge-config-set.1 bash-completion/completions/agentforge zsh/site-functions/_agentforge fish/vendor_completions.d/agentforge.fish; do
    [ -s "$work/prefix/share/$page" ] || fail "share/$page is not installed"
done
pages=$(grep -aoh 'docs/[a-z-]*\.md' "$work/prefix/bin/agentforge" | sort -u)
[ -n "$pages" ] || fail "no message names a page"
for page in $pages; do
    "$work/prefix/bin/agentforge" help "$page" | cmp -s - "$source/$page" || fail "a message names $page, which \`agentforge help\` does not show"
done
if [ -d "$source/config" ]; then [ -d "$work/prefix/share/agentforge/config" ] || fail "config is not installed"; fi
for library in $(find "$work/prefix" -path '*/agentforge/plugins/*' -name '*.so'); do
    [ -f "${library%/*}/plugin.json" ] || fail "$library has no plugin.json beside it"
    if ldd "$library" 2>/dev/null | grep 'libagentforge-abi.so => not found'; then fail "$library does not find libagentforge-abi.so"; fi
done

"$cmake" -S "$source/tests/packaging/outside/project" -B "$work/outside" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_FLAGS="$flags" >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; fail "find_package(AgentForge)"; }
"$cmake" --build "$work/outside" --parallel 2 >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail "building the plugin outside the tree"; }
for name in outside outside23; do
    library=$work/outside/plugins/stage/$name/$name.so
    symbols=$(nm -D --defined-only "$library" | awk '{print $3}')
    [ "$symbols" = agentforge_plugin ] || fail "$name.so exports: $symbols"
    answer=$("$run_stage" "$work/outside/plugins" $name) || fail "$name does not run"
    [ "$answer" = '{"greeting":"hello from outside"}' ] || fail "$name answered: $answer"
done
echo "installed, moved, found, built against and loaded"
