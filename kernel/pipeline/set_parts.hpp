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
    json::object specification;           ///< Of the contract `specification` too: what is this repository's.
};

/// What is wrong with the parts of a specification for these repositories, a line each; empty: nothing.
[[nodiscard]] std::vector<std::string> faults_of_parts(const json::object& specification,
                                                       const std::vector<std::string>& repositories);

/// A part for each of `repositories`, so that each stands behind those that it depends on; otherwise in their order. A part has
/// the requirements that it names, their test cases, and the components, interfaces and files that it names. Errors: `invalid`
/// AF-SET-003 a repository without a part or with two, a part of another one, a requirement that there is not or that no part
/// has, parts that depend on one another in a circle.
[[nodiscard]] Result<std::vector<PartSpecification>> parts_of(const json::object& specification,
                                                              const std::vector<std::string>& repositories);

}  // namespace agentforge::kernel
