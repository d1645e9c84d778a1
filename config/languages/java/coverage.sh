#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: coverage.sh ROOT BUILD UNIQUE RESULTS LANGUAGE
# Builds a copy of ROOT, runs its tests with JaCoCo's agent, and writes RESULTS/lcov.info.
set -u
root=$1 build=$2 unique=$3 results=$4 language=$5
tree=$build/tree
jars=${JACOCO_JARS:-/usr/share/java}
if [ ! -f "$jars/org.jacoco.agent.jar" ] || [ ! -f "$jars/org.jacoco.core.jar" ]; then
    echo "agentforge: not measured: JaCoCo is not installed (Debian: libjacoco-java)" >&2
    exit 4
fi
sh "$language/maven_test.sh" build "$root" "$build" "$unique" || exit 1
find "$tree" -name "AgentForge${unique}Test*" -delete
(cd "$build" && jar xf "$jars/org.jacoco.agent.jar" jacocoagent.jar) || exit 1
# Counts only the project's own packages, because Maven's own process has the agent, too.
packages=$(find "$tree" -path '*/src/main/java/*.java' | sed 's|.*/src/main/java/||; s|/*[^/]*$||' | sort -u | tr '/\n' '.:' | sed 's/:/.*:/g; s/^\.\*:/*:/; s/:$//')
rm -f "$build/jacoco.exec"
JAVA_TOOL_OPTIONS="${JAVA_TOOL_OPTIONS:-} -javaagent:$build/jacocoagent.jar=destfile=$build/jacoco.exec,append=true,includes=${packages:-*}" \
    sh "$language/maven_test.sh" run "$root" "$build" "$unique" "$build" >"$build/said" 2>&1
if [ ! -s "$build/jacoco.exec" ]; then
    tail -n 5 "$build/said" >&2
    exit 1
fi
asm=
for name in asm asm-tree asm-commons asm-analysis; do asm=$asm:$jars/$name.jar; done
java -cp "$jars/org.jacoco.core.jar$asm" "$language/LineCoverage.java" "$build/jacoco.exec" "$tree" >"$results/lcov.info"
