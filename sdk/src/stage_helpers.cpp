// SPDX-License-Identifier: Apache-2.0
#include <agentforge/stage_helpers.hpp>
