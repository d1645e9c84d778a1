// SPDX-License-Identifier: Apache-2.0
// The files of config/, parsed at build time.
#pragma once

#include <span>

#include "base/precompiled_yaml.hpp"

namespace agentforge::kernel {

[[nodiscard]] std::span<const PrecompiledYaml> precompiled_definitions() noexcept;

}  // namespace agentforge::kernel
