// SPDX-License-Identifier: Apache-2.0
// One specification over several repositories, and the part of each (`parts` of the contract `specification`).
#pragma once

#include <string>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct PartSpecification {
    std::string repo;
    std::vector<std::string> depends_on;  ///< Other repositories of the same specification.
    json::object specification;           ///< This repository's part, also of the contract `specification`.
};

/// Returns the faults in the parts of a specification for these repositories, one line each. Empty if there are none.
[[nodiscard]] std::vector<std::string> faults_of_parts(const json::object& specification,
                                                       const std::vector<std::string>& repositories);

/// Returns a part for each of `repositories`, each after the parts that it depends on, otherwise in the given order. A part has
/// the requirements that it names, their test cases, and the components, interfaces and files that it names. Errors: `invalid`
/// AF-SET-003 a repository without a part or with two, a part for another repository, a requirement that does not exist or
/// that no part has, a cycle of dependencies between parts.
[[nodiscard]] Result<std::vector<PartSpecification>> parts_of(const json::object& specification,
                                                              const std::vector<std::string>& repositories);

}  // namespace agentforge::kernel
