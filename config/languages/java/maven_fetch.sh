#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: maven_fetch.sh FOLDER, in a folder that contains only the project's pom.xml files
# Lets Maven compile and run one empty test in each module, so that FOLDER/repository has everything that this needs.
set -u
folder=$1
maven() { mvn -B -q -Dstyle.color=never -Dmaven.repo.local="$folder/repository" "$@"; }
# Maven fetches the test runner only if a module has a test.
if grep -rqs --include=pom.xml 'junit-jupiter' .; then test=org.junit.jupiter.api.Test
elif grep -rqs --include=pom.xml '<artifactId>testng<' .; then test=org.testng.annotations.Test
else test=org.junit.Test
fi
poms() { find . -name pom.xml -not -path './repository/*'; }
poms | while IFS= read -r pom; do
    grep -qs '<packaging>pom</packaging>' "$pom" && continue
    mkdir -p "${pom%pom.xml}src/test/java"
    printf 'public class AgentForgeSetupTest {\n    @%s public void passes() {}\n}\n' "$test" >"${pom%pom.xml}src/test/java/AgentForgeSetupTest.java"
done
maven test-compile surefire:test >"$folder/with-a-test.log" 2>&1
code=$?
poms | while IFS= read -r pom; do rm -rf "${pom%pom.xml}target" "${pom%pom.xml}src"; done
# A module without JUnit cannot compile a test. It needs only what Maven fetches for a module without tests.
[ $code = 0 ] || maven test-compile surefire:test
