#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: coverage.sh PROFILE FOLDER...
# Runs the tests of these packages where statements are counted, those of the module's other packages included.
set -u
profile=$1
shift
[ ! -e vendor ] || export GOFLAGS=-mod=vendor
go test -count=1 -coverpkg=./... -coverprofile="$profile" "$@" 2>&1
code=$?
# 1: tests failed; what they ran was counted all the same. Without a profile nothing was.
[ -s "$profile" ] && exit 0
exit $code
