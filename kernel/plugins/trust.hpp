// SPDX-License-Identifier: Apache-2.0
// Whether the user has agreed to what a project's own files would run.
//
// A repository that somebody else made may name plugins, servers and programs. Nothing of that is used before the user has
// looked at it and said `agentforge trust`. What was agreed to is remembered with its hash, outside the repository, so that
// whatever changes it afterwards (a `git pull`, a merge, an edit) is asked about again. The model is direnv's.
// What the user chose himself needs no trust: ~/.agentforge/config.yaml, the environment, the command line.
// Why so, and what is covered: docs/adr/0010-a-project-is-trusted-by-content.md, docs/security.md.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "plugins/files.hpp"

namespace agentforge::kernel {

/// All that needs the user's trust in one project, by content.
struct TrustSubject {
    std::string root;  ///< The project's canonical folder.
    /// `setting llm.command`, `file .mcp.json`, `plugin tools/word_count` → SHA-256 of its value or bytes.
    std::map<std::string, std::string, std::less<>> items;
    /// Folder of each plugin that no plugins.lock pins → the hashes that were made for its item. What is loaded later is held
    /// against them.
    std::map<std::string, FileHashes, std::less<>> pinned;

    [[nodiscard]] bool empty() const noexcept { return items.empty(); }
    /// One SHA-256 over all items. The same for the same content, whatever the order of keys.
    [[nodiscard]] std::string fingerprint() const;
};

/// The lock file of a project, below its root.
inline constexpr std::string_view lock_file = ".agentforge/config/plugins.lock";
/// Files of a project, below its root, that name programs to run.
inline constexpr std::string_view server_file = ".mcp.json";

/// `settings`: the values of the project's own settings that need trust, by dotted key. `plugin_folders`: absolute, those that
/// these settings name. Files of the project that a command names (`llm.command`, servers, gates' programs) are items, too. If
/// there is a lock file, its bytes stand for the plugins (it pins them); otherwise the plugins' own files do. Errors: AF-PLUG-037
/// what is to be trusted cannot be read.
[[nodiscard]] Result<TrustSubject> trust_subject(const std::string& root, const json::object& settings,
                                                 const std::vector<std::string>& plugin_folders);

enum class TrustVerdict : unsigned char {
    nothing_to_trust = 1,  ///< The project asks for nothing.
    trusted,
    unknown,  ///< Never trusted, or revoked.
    changed   ///< Trusted once, and what it asks for is another thing now.
};
[[nodiscard]] std::string_view to_string(TrustVerdict verdict) noexcept;

/// What one user has trusted: `<state folder>/trusted.yaml`, mode 0600; or, in `declined.yaml` of the same form, what he does not
/// want to be asked about again. One thread; processes exclude each other while they write.
class TrustStore {
public:
    /// Reads the store; a missing file is an empty one. `project`: the folder whose files have no say in it.
    /// Errors: `corrupt` AF-PLUG-041 not in its form (file, line); `denied` AF-PLUG-042 the file belongs to somebody else,
    /// others may write it, or it lies inside the project; `io` AF-PLUG-041. The file stays as it is.
    [[nodiscard]] static Result<TrustStore> open(const std::string& state_folder, const std::string& project,
                                                 std::string_view name = "trusted.yaml");

    [[nodiscard]] TrustVerdict verdict(const TrustSubject& subject) const;
    /// The items that differ from those that were trusted: new, changed or gone. Empty where the project was never trusted.
    [[nodiscard]] std::vector<std::string> differences(const TrustSubject& subject) const;
    /// Remembers the subject; what was remembered of its project before is replaced. On disk when it returns.
    /// Errors: as `open` (the file is read again first, so that two processes lose nothing), AF-BASE-013.
    [[nodiscard]] Result<void> trust(const TrustSubject& subject, std::chrono::system_clock::time_point now);
    /// Forgets the project; false where it was not known. Errors: as `trust`.
    [[nodiscard]] Result<bool> revoke(const std::string& root);
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

private:
    struct Project {
        std::string time;
        std::map<std::string, std::string, std::less<>> items;
    };
    using Projects = std::map<std::string, Project, std::less<>>;

    [[nodiscard]] static Result<Projects> read(const std::string& file);
    template <class Change>
    Result<void> rewrite(Change change);

    std::string file_;
    Projects projects_;  ///< By root.
};

}  // namespace agentforge::kernel
