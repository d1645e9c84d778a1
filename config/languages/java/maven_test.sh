#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: maven_test.sh build|run ROOT BUILD UNIQUE [RESULTS [NAME+NAME...]]
# build: copies ROOT to BUILD/tree, adds a test that must fail to each module that has tests, and compiles.
# run:   runs the tests, or those methods, and copies surefire's reports to RESULTS.
# plain: runs the tests in ROOT itself, a writable copy, as a user would.
# There is no network: dependencies come from the repository folder $MAVEN_REPOSITORY, or else Debian's.
set -u
what=$1 root=$2 build=$3 unique=$4
tree=$build/tree
settings=$build/settings.xml
repository=${MAVEN_REPOSITORY:-/usr/share/maven-repo}
sums() { find . -path '*/target' -prune -o -path '*/src/*' -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum; }
# Maven's own process is short, so fast compilation and a single-threaded garbage collector save time. Tests run in another process.
MAVEN_OPTS="${MAVEN_OPTS:-} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
export MAVEN_OPTS
maven() { mvn -B -q -Dstyle.color=never -s "$settings" "$@"; }
# Debian's surefire waits ten seconds after each run; WakeSurefire.java ends the wait.
wake_surefire() {
    [ -z "${MAVEN_REPOSITORY:-}" ] || return 0
    if [ ! -f "$build/wake.jar" ]; then
        classes=$build/wake
        printf 'Premain-Class: WakeSurefire\n' >"$build/wake.txt"
        javac -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -d "$classes" "$(dirname "$0")/WakeSurefire.java" &&
            jar cfm "$build/wake.jar" "$build/wake.txt" -C "$classes" . || return 0
    fi
    MAVEN_OPTS="$MAVEN_OPTS -javaagent:$build/wake.jar"
}
# Prints the framework of the tests below FOLDER: the one that they import, or else the one in the project's pom.xml files.
framework_of() {
    if grep -rqs 'org\.junit\.jupiter' "$1"; then echo jupiter
    elif grep -rqs 'org\.testng' "$1"; then echo testng
    elif grep -rqsE 'org\.junit\.|junit\.framework' "$1"; then echo junit4
    elif grep -rqs --include=pom.xml 'junit-jupiter' "$tree"; then echo jupiter
    elif grep -rqs --include=pom.xml '<artifactId>testng<' "$tree"; then echo testng
    else echo junit4
    fi
}
write_settings() {
    printf '<settings><localRepository>%s/m2</localRepository><mirrors><mirror><id>local</id><mirrorOf>*</mirrorOf><url>file://%s</url></mirror></mirrors></settings>\n' \
        "$build" "$repository" >"$settings"
}
if [ "$what" = plain ]; then
    write_settings
    wake_surefire
    cd "$root" || exit 3
    maven test || exit 1
    exit 0
fi
if [ "$what" = build ]; then
    # Keeps the compiled classes, and the times of the files.
    mkdir -p "$build/targets" || exit 3
    rm -rf "$tree"
    mkdir -p "$tree" && cp -a "$root/." "$tree/" && rm -rf "$tree/.git" && chmod -R u+w "$tree" || exit 3
    write_settings
    find "$tree" -type d -path '*/src/test/java' -not -path '*/target/*' | while IFS= read -r folder; do
        case $(framework_of "$folder") in
            jupiter) test=org.junit.jupiter.api.Test fail=org.junit.jupiter.api.Assertions.fail ;;
            testng) test=org.testng.annotations.Test fail=org.testng.Assert.fail ;;
            *) test=org.junit.Test fail=org.junit.Assert.fail ;;
        esac
        printf 'public class AgentForge%sTest {\n    @%s public void fails() { %s("agentforge: canary"); }\n}\n' "$unique" "$test" "$fail" >"$folder/AgentForge${unique}Test.java"
    done
    cd "$tree" || exit 3
    # Code that runs during the build (a plugin, a processor) could change the sources.
    given=$(sums)
    said=$(maven test-compile 2>&1)
    code=$?
    [ "$(sums)" = "$given" ] || { echo "[ERROR] pom.xml: the build changed tests or sources that it was given"; exit 3; }
    printf '%s\n' "$said" | sed "s|$tree/||g"
    exit $code
fi
wake_surefire
cd "$tree" || exit 3
if [ -n "${6:-}" ]; then
    maven --fail-at-end "-Dtest=*#$6,AgentForge${unique}Test" -DfailIfNoTests=false surefire:test 2>&1
else
    maven --fail-at-end surefire:test 2>&1
fi
code=$?
find "$tree" -type f -path '*/target/surefire-reports/TEST-*.xml' | while IFS= read -r report; do
    module=${report#"$tree"/}
    cp "$report" "$5/$(printf '%s' "${module%%target/*}" | tr / -)${report##*/}"
done
exit $code
