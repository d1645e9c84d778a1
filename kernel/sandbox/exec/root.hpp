// SPDX-License-Identifier: Apache-2.0
// A file system for one program: a new root with only what was granted.
//
// Built by the first process of new user, mount, PID, IPC, UTS and (without network) network namespaces:
//
//   /                an empty tmpfs, read-only at the end
//   granted paths    bound with everything mounted below them: read-only, or writable if the policy says `write`; always without
//                    set-uid programs and devices. A granted path that contains links becomes a link to its target.
//   sockets          in granted folders, of programs outside, are covered by /dev/null: nothing can be sent to them
//   hidden paths     folders are covered by an empty, read-only folder, files by /dev/null
//   /proc            of the new PID namespace; entries through which root could change the system are read-only, those that
//                    show keys are empty
//   /dev             null, zero, full, random, urandom, its own terminals, and shm
//   /tmp, /dev/shm   private, of `shared_bytes` each
//
// A read-only mount also prevents chmod, chown, utime and setxattr. A socket without a visible path cannot be connected to.
#pragma once

#include "policy.hpp"
#include "sockets.hpp"

namespace agentforge::exec {

constexpr int namespaces_of_full_mode =
    0x10000000 /* user */ | 0x00020000 /* mounts */ | 0x20000000 /* PID */ | 0x08000000 /* IPC */ | 0x04000000 /* UTS */;
constexpr int namespace_of_network = 0x40000000;

/// Enables the loopback of a new network namespace, which has no way out, for tests that serve themselves. Needs no mapped ids.
void raise_loopback();

/// Builds the root, enters it and changes to the policy's working folder. If the kernel refuses a step, returns what failed, with
/// the reason in errno; nothing has changed outside the namespaces. A writable path that contains a link ends the process with
/// `refused`. `outside`: the sockets to cover, read before the namespaces were made.
const char* enter_new_root(const Policy& policy, Sockets& outside);

}  // namespace agentforge::exec
