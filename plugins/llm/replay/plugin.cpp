// SPDX-License-Identifier: Apache-2.0
#include <agentforge/plugin.hpp>

#include "replay.hpp"

AGENTFORGE_PLUGIN("org.agentforge.llm.replay", "1.0.0", "Apache-2.0", agentforge::provides_llm<replay::ReplayBackend>("replay"))
