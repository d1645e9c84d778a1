// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <agentforge/stage.hpp>
#include <agentforge/tool.hpp>

namespace agentforge::bench {

/// Make objects of this program, without plugin, boundary and guard.
[[nodiscard]] std::unique_ptr<Tool> plain_tool();
[[nodiscard]] std::unique_ptr<Stage> plain_stage();

}  // namespace agentforge::bench
