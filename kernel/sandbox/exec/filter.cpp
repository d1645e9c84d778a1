// SPDX-License-Identifier: Apache-2.0
#include "filter.hpp"

#include <sys/syscall.h>
#include <unistd.h>
#include <filters.inc>  // Made in the build, by filter_rules.cpp.

#include "report.hpp"

namespace agentforge::exec {
namespace {

constexpr unsigned set_mode_filter = 1;
constexpr unsigned without_slow_branches = 1U << 2U;  // SECCOMP_FILTER_FLAG_SPEC_ALLOW

template <unsigned short size>
void load(const sock_filter (&filter)[size]) {
    const sock_fprog program{size, const_cast<sock_filter*>(filter)};
    if (syscall(SYS_seccomp, set_mode_filter, without_slow_branches, &program) != 0) {
        fail("the filter of system calls is not accepted");
    }
    report("seccomp 1");
}

}  // namespace

void filter_system_calls(Mode mode, bool network, bool abstract_sockets_kept_apart) {
    if (mode == Mode::landlock && !network) {
        load(filters::landlock);
    } else if (mode == Mode::landlock) {
        load(filters::landlock_internet);
    } else if (network && !abstract_sockets_kept_apart) {
        load(filters::full_internet);
    } else {
        load(filters::full);
    }
}

}  // namespace agentforge::exec
