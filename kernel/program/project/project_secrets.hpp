// SPDX-License-Identifier: Apache-2.0
// The secrets of one project: from the environment, its settings and the files that they name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "config/settings.hpp"
#include "program/program.hpp"
#include "program/project/project_trust.hpp"
#include "secrets/redactor.hpp"

namespace agentforge::kernel {

struct ProjectSecrets {
    std::unique_ptr<Redactor> redactor;
    std::size_t known = 0;  ///< Number of secret values.
    std::size_t rules = 0;
    std::vector<std::string> too_weak;  ///< Name and reason of values that are too weak to search for.
    std::vector<std::string> missing;   ///< Missing files of `secrets.files`.
};

/// Finds the secrets: variables with a telling name, `secrets.variables`, the variables of `llm` keys for all roles, the
/// variables passed on by `llm.settings.environment`, values of `llm.settings.headers` and of servers' `env`, passwords in
/// addresses, and the contents of `secrets.files`. Errors: AF-SEC-001, AF-SEC-002, AF-SEC-006.
[[nodiscard]] Result<ProjectSecrets> project_secrets(const Program& program, const ProjectPlace& place,
                                                     const ProductPaths& product, const Settings& settings,
                                                     const std::string& state_directory, IdSource& ids);

}  // namespace agentforge::kernel
