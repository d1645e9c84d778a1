// SPDX-License-Identifier: Apache-2.0
#include "landlock_rules.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "landlock.hpp"
#include "links.hpp"
#include "report.hpp"

namespace agentforge::exec {
namespace {

struct Rules {
    const Policy& policy;
    int ruleset;
    std::uint64_t handled;
};

/// Adds one rule. Reports a missing path if `named` says that it was requested.
void allow(const Rules& rules, const char* path, std::uint64_t rights, bool named, int flags) {
    const int place = open(path, O_PATH | O_CLOEXEC | flags);
    if (place < 0) {
        if (named) { report("absent %s", path); }
        return;
    }
    struct stat about {};
    if (fstat(place, &about) != 0) { fail("a granted path cannot be examined"); }
    // Only if links are not followed.
    if (S_ISLNK(about.st_mode)) {
        close(place);
        return;
    }
    landlock::PathBeneath rule{rights & rules.handled, place};
    if (!S_ISDIR(about.st_mode)) { rule.allowed_access &= landlock::of_files; }
    if (rule.allowed_access != 0 && syscall(landlock::add_rule, rules.ruleset, 1, &rule, 0) != 0) {
        fail("the kernel rejected a Landlock rule");
    }
    close(place);
}

/// Grants a folder. Landlock can add rights but not remove them. So a folder that contains a hidden path may only be listed, and
/// its children are granted one by one. The cost: names below the hidden path can still be listed, and nothing new can be created
/// directly in the folders on the way to it.
void grant(const Rules& rules, const char* path, std::uint64_t rights, bool named, int flags) {
    bool whole = true;
    bool hidden = false;
    for_each(rules.policy, "hide", [&](const char* secret) {
        hidden = hidden || strcmp(secret, path) == 0 || below(path, secret);
        whole = whole && !below(secret, path);
        return hidden ? Step::stop : Step::next;
    });
    if (hidden) { return; }
    if (whole) {
        allow(rules, path, rights, named, flags);
        return;
    }
    DIR* const folder = opendir(path);
    if (folder == nullptr) {
        if (named) { report("absent %s", path); }
        return;
    }
    allow(rules, path, landlock::read_dir, named, flags);
    while (const dirent* const item = readdir(folder)) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0) { continue; }
        char child[PATH_MAX];
        const int size = snprintf(child, sizeof child, "%s/%s", strcmp(path, "/") == 0 ? "" : path, item->d_name);
        if (size > 0 && size < static_cast<int>(sizeof child)) { grant(rules, child, rights, false, O_NOFOLLOW); }
    }
    closedir(folder);
}

/// Returns how much of the attributes the kernel knows.
size_t attributes_size(int abi) {
    if (abi >= 6) { return sizeof(landlock::RulesetAttributes); }
    return abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

}  // namespace

int landlock_abi(const Policy& policy) {
    const int abi = landlock::abi();
    return abi < policy.landlock_at_most ? abi : policy.landlock_at_most;
}

void restrict_files(const Policy& policy, int abi) {
    landlock::RulesetAttributes attributes{landlock::handled(abi), 0, 0};
    if (abi >= 4 && !policy.network) { attributes.handled_access_net = landlock::bind_tcp | landlock::connect_tcp; }
    if (abi >= 6) { attributes.scoped = landlock::scope_abstract_sockets | landlock::scope_signals; }
    const long ruleset = syscall(landlock::create_ruleset, &attributes, attributes_size(abi), 0);
    if (ruleset < 0) { fail("Landlock is not available"); }
    const Rules rules{policy, static_cast<int>(ruleset), attributes.handled_access_fs};
    for_each(policy, "system", [&](const char* path) {
        grant(rules, path, landlock::reading, false, 0);
        return Step::next;
    });
    for_each(policy, "device", [&](const char* path) {
        allow(rules, path, landlock::read_file | landlock::write_file | landlock::truncate | landlock::ioctl_dev, false, 0);
        return Step::next;
    });
    for_each(policy, "read", [&](const char* path) {
        grant(rules, path, landlock::reading, true, 0);
        return Step::next;
    });
    for_each(policy, "write", [&](const char* path) {
        if (leads_over_a_link(path)) { refuse("the writable path %s leads through a symbolic link", path); }
        grant(rules, path, landlock::writing, true, O_NOFOLLOW);
        return Step::next;
    });
    if (syscall(landlock::restrict_self, ruleset, 0) != 0) { fail("cannot enforce the Landlock rules"); }
    close(static_cast<int>(ruleset));
    report("landlock_abi %d", abi);
}

bool restrict_abstract_sockets(int abi) {
    if (abi < 6) { return false; }
    const landlock::RulesetAttributes attributes{0, 0, landlock::scope_abstract_sockets};
    const long ruleset = syscall(landlock::create_ruleset, &attributes, sizeof attributes, 0);
    const bool done = ruleset >= 0 && syscall(landlock::restrict_self, ruleset, 0) == 0;
    if (ruleset >= 0) { close(static_cast<int>(ruleset)); }
    return done;
}

}  // namespace agentforge::exec
