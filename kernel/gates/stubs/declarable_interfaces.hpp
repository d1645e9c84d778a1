// SPDX-License-Identifier: Apache-2.0
// Which interfaces of a specification the kernel can declare. Pure functions over the artifact.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <agentforge/stage.hpp>

namespace agentforge::kernel {

/// Returns the interfaces of a specification that can be declared: those with a file and a signature.
[[nodiscard]] std::vector<SkeletonInterface> declarable_interfaces(const json::object& specification);

/// Returns the names of the functions that a specification declares, by file. Excludes constructors, because their objects may
/// have to exist first.
[[nodiscard]] std::map<std::string, std::set<std::string>> declared_functions(const json::object& specification);

}  // namespace agentforge::kernel
