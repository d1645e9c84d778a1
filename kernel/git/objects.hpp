// SPDX-License-Identifier: Apache-2.0
// Reads the repository's commits, refs and notes for an audit; git/object_check.hpp verifies its objects.
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
    std::string name;  ///< Full name: `refs/…`.
    std::string id;    ///< Id of the object that it names.
};
/// Returns the refs that begin with `prefix`, by name. Errors: AF-GIT-001, AF-GIT-099.
[[nodiscard]] Result<std::vector<RefTarget>> refs_below(const std::filesystem::path& repository, const std::string& prefix);

/// Keeps a commit alive: sets a ref `refs/agentforge/<name>` to it and replaces an existing one. Errors: AF-GIT-001, AF-GIT-007,
/// AF-GIT-011, AF-GIT-099.
[[nodiscard]] Result<void> keep_commit(const std::filesystem::path& repository, const std::string& name, std::string_view commit);

/// True if the repository was cloned with a filter, so git fetches objects when it needs them. AgentForge does not.
[[nodiscard]] bool is_partial_clone(const std::filesystem::path& repository);

/// Returns the commit that `text` names (an id or its beginning, a branch, a tag). Empty if it names none. Errors: AF-GIT-001.
[[nodiscard]] Result<std::optional<std::string>> named_commit(const std::filesystem::path& repository, const std::string& text);

struct CommitNote {
    std::string commit;
    std::string text;
    std::string name;  ///< The author of the note.
    std::string email;
    std::chrono::system_clock::time_point time;
};
inline constexpr const char* statement_notes = "refs/notes/agentforge";
/// Writes the note under `refs/notes/agentforge` and replaces an existing one. Errors: AF-GIT-099, AF-GIT-011.
[[nodiscard]] Result<void> write_note(const std::filesystem::path& repository, const CommitNote& note);
/// Returns the text of the note. Empty if the commit has none. Errors: AF-GIT-099.
[[nodiscard]] Result<std::optional<std::string>> read_note(const std::filesystem::path& repository, const std::string& commit);

}  // namespace agentforge::kernel
