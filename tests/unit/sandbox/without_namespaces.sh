#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the given test program where no further namespace can be made, as on machines that forbid
# them: what mounts and network namespaces do otherwise must then hold by Landlock alone. Where
# this machine forbids the outer namespace too, the program runs as it is, which is the same case.
if unshare -Ur true 2>/dev/null; then
  exec unshare -Ur sh -c 'for kind in user mnt net; do echo 0 > /proc/sys/user/max_${kind}_namespaces || exit 1; done; exec "$@"' sh "$@"
fi
exec "$@"
