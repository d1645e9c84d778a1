// SPDX-License-Identifier: Apache-2.0
// The size of the objects of trees, each object counted once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Sums the sizes of objects that no earlier tree contained: each object counts once, uncompressed. One thread at a time.
class TreeBytes {
public:
    [[nodiscard]] static Result<TreeBytes> open(const std::filesystem::path& repository);
    TreeBytes(TreeBytes&&) noexcept;
    TreeBytes& operator=(TreeBytes&&) noexcept;
    ~TreeBytes();
    /// `id`: a tree or a commit. Missing objects do not count.
    std::uint64_t add(const std::string& id);

private:
    struct State;
    explicit TreeBytes(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
