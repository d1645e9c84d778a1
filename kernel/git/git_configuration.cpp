// SPDX-License-Identifier: Apache-2.0
#include "git/git_configuration.hpp"

#include "git/library.hpp"

namespace agentforge::kernel {

using namespace git;

GitConfiguration::GitConfiguration(const std::filesystem::path& repository) {
    const auto handle = open_repository(repository);
    git_config* raw = nullptr;
    if (handle.ok() && git_repository_config_snapshot(&raw, handle->get()) == 0) { snapshot_.reset(raw, git_config_free); }
}

std::string GitConfiguration::text(const std::string& key) const {
    const char* value = nullptr;
    return snapshot_ == nullptr || git_config_get_string(&value, snapshot_.get(), key.c_str()) < 0 || value == nullptr
               ? std::string()
               : std::string(value);
}

std::string GitConfiguration::users_text(const std::string& key) const {
    std::string found;
    git_config_iterator* each = nullptr;
    if (snapshot_ == nullptr || git_config_multivar_iterator_new(&each, snapshot_.get(), key.c_str(), nullptr) < 0) {
        return found;
    }
    for (git_config_entry* entry = nullptr; git_config_next(&entry, each) == 0;) {
        if (entry->level < GIT_CONFIG_LEVEL_LOCAL) { found = entry->value == nullptr ? "" : entry->value; }
    }
    git_config_iterator_free(each);
    return found;
}

bool GitConfiguration::flag(const std::string& key) const {
    int value = 0;
    return snapshot_ != nullptr && git_config_get_bool(&value, snapshot_.get(), key.c_str()) == 0 && value != 0;
}

}  // namespace agentforge::kernel
