// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "gates/engine/current_call.hpp"

namespace agentforge::kernel {

/// The trees that are known to build, so that gates of later phases need not build them again. A build in the folder that is kept
/// between runs says nothing about the isolated build that judges a stage, so the two count separately.
class BuiltTrees {
public:
    /// `current`: whether a stage is judged now. Must outlive the object.
    explicit BuiltTrees(const CurrentCall& current) : current_(current) {}

    void add(const std::string& tree) { built_.insert(key(tree)); }
    [[nodiscard]] bool contains(const std::string& tree) const { return built_.contains(key(tree)); }

private:
    [[nodiscard]] std::string key(const std::string& tree) const {
        return (current_.judges_a_stage() ? "judged " : "kept ") + tree;
    }

    const CurrentCall& current_;
    std::set<std::string> built_;
};

}  // namespace agentforge::kernel
