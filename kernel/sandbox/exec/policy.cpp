// SPDX-License-Identifier: Apache-2.0
#include "policy.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>

#include "report.hpp"

namespace agentforge::exec {
namespace {

constexpr const char* lists[] = {"system", "device", "read", "write", "hide", "accept"};

char* read_text(size_t& size) {
    struct stat about {};
    if (fstat(policy_descriptor, &about) != 0) { fail("no policy on descriptor 3"); }
    size = static_cast<size_t>(about.st_size);
    char* const text = static_cast<char*>(malloc(size + 1));
    if (text == nullptr) { fail("no memory for the policy"); }
    for (size_t done = 0; done < size;) {
        const ssize_t part = pread(policy_descriptor, text + done, size - done, static_cast<off_t>(done));
        if (part <= 0) { fail("the policy cannot be read"); }
        done += static_cast<size_t>(part);
    }
    text[size] = '\0';
    close(policy_descriptor);
    return text;
}

void set(Policy& policy, const char* key, const char* value) {
    const auto is = [key](const char* name) { return strcmp(key, name) == 0; };
    if (is("host")) {
        policy.host = static_cast<pid_t>(number(value));
    } else if (is("program")) {
        policy.program = value;
    } else if (is("directory")) {
        policy.directory = value;
    } else if (is("confine")) {
        policy.confine = number(value) != 0;
    } else if (is("network")) {
        policy.network = strcmp(value, "full") == 0;
    } else if (is("namespaces")) {
        policy.namespaces = number(value) != 0;
    } else if (is("landlock_at_most")) {
        policy.landlock_at_most = static_cast<int>(number(value));
    } else if (is("memory")) {
        policy.memory = number(value);
    } else if (is("processes")) {
        policy.processes = number(value);
    } else if (is("file_bytes")) {
        policy.file_bytes = number(value);
    } else if (is("shared_bytes")) {
        policy.shared_bytes = number(value);
    } else if (is("cpu_seconds")) {
        policy.cpu_seconds = number(value);
    } else if (is("open_files")) {
        policy.open_files = number(value);
    } else {
        refuse("the policy contains an unknown record");
    }
}

bool is_list(const char* key) {
    for (const char* name : lists) {
        if (strcmp(key, name) == 0) { return true; }
    }
    return false;
}

}  // namespace

Policy read_policy() {
    Policy policy;
    policy.text = read_text(policy.size);
    for (const char* at = policy.text; at < policy.text + policy.size; at += strlen(at) + 1) {
        const char* const blank = strchr(at, ' ');
        char key[32];
        if (blank == nullptr || blank - at >= static_cast<ssize_t>(sizeof key)) { refuse("a record of the policy has no value"); }
        memcpy(key, at, static_cast<size_t>(blank - at));
        key[blank - at] = '\0';
        if (!is_list(key)) { set(policy, key, blank + 1); }
    }
    if (policy.program == nullptr) { refuse("the policy names no program"); }
    return policy;
}

bool below(const char* path, const char* folder) {
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') { --length; }
    return strncmp(path, folder, length) == 0 && path[length] == '/' && path[length + 1] != '\0';
}

std::uint64_t number(const char* text) { return strtoull(text, nullptr, 10); }

}  // namespace agentforge::exec
