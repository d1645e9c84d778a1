// SPDX-License-Identifier: Apache-2.0
// The repository's objects, refs and notes, as an audit reads them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct RefTarget {
    std::string name;  ///< Whole: `refs/…`.
    std::string id;    ///< Of the object that it names.
};
/// Those that begin with `prefix`, by name. Errors: AF-GIT-001, AF-GIT-099.
[[nodiscard]] Result<std::vector<RefTarget>> refs_below(const std::filesystem::path& repository, const std::string& prefix);

/// Keeps a commit alive: a ref `refs/agentforge/<name>` to it, in place of one that is there. Errors: AF-GIT-001, AF-GIT-007,
/// AF-GIT-011, AF-GIT-099.
[[nodiscard]] Result<void> keep_commit(const std::filesystem::path& repository, const std::string& name, std::string_view commit);

/// The commit that `text` names (an id or its beginning, a branch, a tag); empty where it names none. Errors: AF-GIT-001.
[[nodiscard]] Result<std::optional<std::string>> named_commit(const std::filesystem::path& repository, const std::string& text);

/// Reads whole trees, each object of them once, however many trees are asked for. One thread at a time.
class ObjectCheck {
public:
    /// Errors: AF-GIT-001.
    [[nodiscard]] static Result<ObjectCheck> open(const std::filesystem::path& repository);
    ObjectCheck(ObjectCheck&&) noexcept;
    ObjectCheck& operator=(ObjectCheck&&) noexcept;
    ~ObjectCheck();

    /// Whether the repository has this object at all.
    [[nodiscard]] bool has(const std::string& id) const;
    /// What is missing or has not the bytes of its name, in the tree and below it. Submodules are left out.
    [[nodiscard]] std::vector<std::string> faults_of_tree(const std::string& tree);
    [[nodiscard]] std::uint64_t objects() const noexcept;

private:
    struct State;
    explicit ObjectCheck(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

struct CommitNote {
    std::string commit;
    std::string text;
    std::string name;  ///< Who wrote it.
    std::string email;
    std::chrono::system_clock::time_point time;
};
inline constexpr const char* statement_notes = "refs/notes/agentforge";
/// Puts the note under `refs/notes/agentforge`, in place of one that is there. Errors: AF-GIT-099, AF-GIT-011.
[[nodiscard]] Result<void> write_note(const std::filesystem::path& repository, const CommitNote& note);
/// Its text; empty where the commit has none. Errors: AF-GIT-099.
[[nodiscard]] Result<std::optional<std::string>> read_note(const std::filesystem::path& repository, const std::string& commit);

}  // namespace agentforge::kernel
