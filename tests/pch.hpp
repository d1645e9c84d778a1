// SPDX-License-Identifier: Apache-2.0
// The tests' one precompiled header. Tests of plugins see the SDK only, so it names nothing of the kernel.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <agentforge/json.hpp>
#include <agentforge/result.hpp>
