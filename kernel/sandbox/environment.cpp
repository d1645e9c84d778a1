// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process_runner.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::array<std::string_view, 10> allowed{"PATH", "HOME",    "LANG",  "TZ",   "TMPDIR",
                                                   "USER", "LOGNAME", "SHELL", "TERM", "LANGUAGE"};
constexpr std::array<std::string_view, 4> secret_words{"KEY", "TOKEN", "SECRET", "PASSWORD"};

bool sounds_secret(std::string_view name) {
    const std::string upper = upper_case(name);
    return std::any_of(secret_words.begin(), secret_words.end(),
                       [&upper](std::string_view word) { return upper.find(word) != std::string::npos; });
}

}  // namespace

std::map<std::string, std::string> base_environment(const std::map<std::string, std::string>& environment) {
    std::map<std::string, std::string> kept;
    for (const auto& [name, value] : environment) {
        const bool known = name.starts_with("LC_") || std::find(allowed.begin(), allowed.end(), name) != allowed.end();
        if (known && !sounds_secret(name)) { kept.emplace(name, value); }
    }
    return kept;
}

std::map<std::string, std::string> current_environment() {
    std::map<std::string, std::string> found;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::size_t equals = text.find('=');
        if (equals == std::string_view::npos || equals == 0) { continue; }
        found.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return found;
}

bool is_on_path(const std::map<std::string, std::string>& environment, const std::string& program) {
    const auto path = environment.find("PATH");
    std::string_view rest = path == environment.end() ? std::string_view() : std::string_view(path->second);
    while (!rest.empty()) {
        const std::string folder(rest.substr(0, rest.find(':')));
        if (!folder.empty() && ::access((folder + "/" + program).c_str(), X_OK) == 0) { return true; }
        rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    }
    return false;
}

}  // namespace agentforge::kernel
