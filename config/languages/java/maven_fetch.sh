#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: maven_fetch.sh FOLDER, in a folder that holds the project's pom.xml files and nothing else of it
# Has Maven compile and test nothing, then one test in each module, so that all it fetches for that is in FOLDER/repository.
set -u
folder=$1
maven() { mvn -B -q -Dstyle.color=never -Dmaven.repo.local="$folder/repository" "$@"; }
maven test-compile surefire:test || exit
# What runs tests is resolved only once there is one.
if grep -rqs --include=pom.xml 'junit-jupiter' .; then test=org.junit.jupiter.api.Test; else test=org.junit.Test; fi
find . -name pom.xml -not -path './repository/*' | while IFS= read -r pom; do
    grep -qs '<packaging>pom</packaging>' "$pom" && continue
    mkdir -p "${pom%pom.xml}src/test/java"
    printf 'public class AgentForgeSetupTest {\n    @%s public void passes() {}\n}\n' "$test" >"${pom%pom.xml}src/test/java/AgentForgeSetupTest.java"
done
# A module without JUnit does not compile here, and needs no more.
maven --fail-never test-compile surefire:test >"$folder/probe.log" 2>&1
find . -name pom.xml -not -path './repository/*' | while IFS= read -r pom; do rm -rf "${pom%pom.xml}target" "${pom%pom.xml}src"; done
exit 0
