// SPDX-License-Identifier: Apache-2.0
#include "program/project/task_seal.hpp"

#include "base/hash.hpp"
#include "secrets/secret_sources.hpp"

namespace agentforge::kernel {

Result<std::string> task_seal(const std::string& state_directory, IdSource& ids, const std::string& root,
                              const json::object& configuration) {
    AF_TRY(const std::string key, redaction_key(state_directory, ids));
    json::object sealed = configuration;
    sealed.erase("seal");
    return keyed_sha256(key, "task settings\n" + root + "\n" + hash_of(sealed));
}

Result<void> seal_settings(const std::string& state_directory, IdSource& ids, const std::string& root,
                           json::object& configuration) {
    AF_TRY(configuration["seal"], task_seal(state_directory, ids, root, configuration));
    return {};
}

Result<bool> are_sealed(const std::string& state_directory, IdSource& ids, const std::string& root,
                        const json::object& configuration) {
    const json::value* const seal = configuration.if_contains("seal");
    if (seal == nullptr || !seal->is_string()) { return false; }
    AF_TRY(const std::string expected, task_seal(state_directory, ids, root, configuration));
    return std::string_view(seal->get_string()) == expected;
}

}  // namespace agentforge::kernel
