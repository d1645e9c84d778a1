// SPDX-License-Identifier: Apache-2.0
// Verifies the repository's objects for an audit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// Verifies whole trees. Reads each object once, however many trees are checked. One thread at a time.
class ObjectCheck {
public:
    /// Errors: AF-GIT-001.
    [[nodiscard]] static Result<ObjectCheck> open(const std::filesystem::path& repository);
    ObjectCheck(ObjectCheck&&) noexcept;
    ObjectCheck& operator=(ObjectCheck&&) noexcept;
    ~ObjectCheck();

    /// True if the repository has this object.
    [[nodiscard]] bool has(const std::string& id) const;
    /// Returns the objects of the tree and below that are missing or whose bytes do not match their id. Skips submodules.
    [[nodiscard]] std::vector<std::string> faults_of_tree(const std::string& tree);
    [[nodiscard]] std::uint64_t objects() const noexcept;
    /// True if `faults_of_tree` found this object whole.
    [[nodiscard]] bool is_whole(const std::string& id) const;

private:
    struct State;
    explicit ObjectCheck(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
