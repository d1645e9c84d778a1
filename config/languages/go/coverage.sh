#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: coverage.sh PROFILE FOLDER...
# Runs the tests of these packages and counts the statements that run, also in the module's other packages.
set -u
profile=$1
shift
[ ! -e vendor ] || export GOFLAGS=-mod=vendor
go test -count=1 -coverpkg=./... -coverprofile="$profile" "$@" 2>&1
code=$?
# 1: tests failed, but their statements were counted. Without a profile, nothing was counted.
[ -s "$profile" ] && exit 0
exit $code
