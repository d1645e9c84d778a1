// SPDX-License-Identifier: Apache-2.0
// The languages that AgentForge ships.
#pragma once

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "gates/language/language.hpp"

namespace agentforge::kernel {

/// A failure to load it fails the test.
inline Language shipped_language(const std::string& name) {
    auto language = load_language(std::string(AGENTFORGE_SOURCE_DIR) + "/config/languages", name);
    EXPECT_TRUE(language.ok()) << language.error().to_string();
    return language.ok() ? std::move(language).value() : Language();
}

/// How to read its text.
inline CodeRules rules_of_language(const std::string& name) { return shipped_language(name).code; }

}  // namespace agentforge::kernel
