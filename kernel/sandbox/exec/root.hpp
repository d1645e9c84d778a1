// SPDX-License-Identifier: Apache-2.0
// A file system for one program: a new root that holds what was granted and nothing else.
//
// Built by the first process of new user, mount, PID, IPC, UTS and (without network) network namespaces:
//
//   /                an empty tmpfs, read-only at the end
//   granted paths    bound with what is mounted below them: read-only, or writable where the policy says `write`; none with set-uid
//                    programs or devices. Where a granted path leads over links it is a link to the folder it leads to.
//   hidden paths     covered by an empty, read-only folder, files by /dev/null
//   /proc            of the new PID namespace; what root could change of the system is read-only
//   /dev             null, zero, full, random, urandom, terminals of its own, and shm
//   /tmp, /dev/shm   private, of `shared_bytes` each
//
// A read-only mount also holds chmod, chown, utime and setxattr; a path that is not there cannot be connected to.
#pragma once

#include "policy.hpp"

namespace agentforge::exec {

constexpr int namespaces_of_full_mode = 0x10000000 /* user */ | 0x00020000 /* mounts */ | 0x20000000 /* PID */ | 0x08000000 /* IPC */ | 0x04000000 /* UTS */;
constexpr int namespace_of_network = 0x40000000;

/// Raises loopback, builds the root and enters it; the working folder is then the policy's. Without a path the
/// kernel refuses, returns what could not be done, errno says why, and nothing was changed outside the namespaces.
/// A writable path over a link ends the process with `refused`.
const char* enter_new_root(const Policy& policy);

}  // namespace agentforge::exec
