// SPDX-License-Identifier: Apache-2.0
#include "nothing.hpp"

AGENTFORGE_PLUGIN("agentforge.bench.nothing", "0.1.0", "Apache-2.0",
                  agentforge::provides_tool<agentforge::bench::NoTool>("bench_nothing"),
                  agentforge::provides_stage<agentforge::bench::NoStage>("bench_nothing"))
