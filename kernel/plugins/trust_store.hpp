// SPDX-License-Identifier: Apache-2.0
// Whether the user has agreed to run what a project's own files name.
//
// A repository made by others may name plugins, servers and programs. AgentForge uses none of them before the user has looked at
// it and run `agentforge trust`. The agreement is stored by hash, outside the repository, so any later change (a `git pull`, a
// merge, an edit) asks again. The model is direnv's. The user's own choices need no trust: ~/.agentforge/config.yaml, the
// environment, the command line. For reasons and scope see docs/adr/0010-a-project-is-trusted-by-content.md and docs/security.md.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "plugins/files.hpp"

namespace agentforge::kernel {

struct YamlDocument;

/// Everything in one project that needs the user's trust, by content.
struct TrustSubject {
    std::string root;  ///< Canonical path of the project.
    /// `setting llm.command`, `file .mcp.json`, `plugin tools/word_count` → SHA-256 of its value or bytes.
    std::map<std::string, std::string, std::less<>> items;
    /// Folder of each plugin that no plugins.lock pins → the hashes computed for its item. Files loaded later are compared with
    /// them.
    std::map<std::string, FileHashes, std::less<>> pinned;

    [[nodiscard]] bool empty() const noexcept { return items.empty(); }
    /// Returns one SHA-256 over all items. The same for the same content, whatever the order of keys.
    [[nodiscard]] std::string fingerprint() const;
};

/// Path of a project's lock file, below its root.
inline constexpr std::string_view lock_file = ".agentforge/config/plugins.lock";
/// Path of a project's file, below its root, that names programs to run.
inline constexpr std::string_view server_file = ".mcp.json";

/// Collects what needs trust. `settings`: the values of the project's own settings that need trust, by dotted key.
/// `plugin_folders`: absolute, those that these settings name. Files of the project that a command names (`llm.command`, servers,
/// gates' programs) are also items. If there is a lock file, its bytes represent the plugins, because it pins them; otherwise the
/// plugins' own files do. Errors: AF-PLUG-037 an item cannot be read.
[[nodiscard]] Result<TrustSubject> trust_subject(const std::string& root, const json::object& settings,
                                                 const std::vector<std::string>& plugin_folders);

enum class TrustVerdict : unsigned char {
    nothing_to_trust = 1,  ///< The project names nothing to run.
    trusted,
    unknown,  ///< Never trusted, or revoked.
    changed   ///< Trusted before, but the content has changed.
};
[[nodiscard]] std::string_view to_string(TrustVerdict verdict) noexcept;

/// One user's trusted projects, in `<state folder>/trusted.yaml`, mode 0600. Or, in `declined.yaml` of the same form, the
/// projects that the user does not want to be asked about again. Single-threaded; processes exclude each other while they write.
class TrustStore {
public:
    /// Reads the store; a missing file is an empty one. `project`: the folder whose own files must not influence it. Errors:
    /// `corrupt` AF-PLUG-041 wrong form (file, line); `denied` AF-PLUG-042 the file belongs to another user, others may write it,
    /// or it is inside the project; `io` AF-PLUG-041. The file stays unchanged.
    [[nodiscard]] static Result<TrustStore> open(const std::string& state_folder, const std::string& project,
                                                 std::string_view name = "trusted.yaml");

    /// `trusted` also for a subject that was announced.
    [[nodiscard]] TrustVerdict verdict(const TrustSubject& subject) const;
    /// Returns the items that differ from those trusted: new, changed or gone. Empty if the project was never trusted.
    [[nodiscard]] std::vector<std::string> differences(const TrustSubject& subject) const;
    /// Stores the subject and replaces what was stored for its project. On disk when it returns. Errors: as `open` (it reads the
    /// file again first, so two processes lose nothing), AF-BASE-013.
    [[nodiscard]] Result<void> trust(const TrustSubject& subject, std::chrono::system_clock::time_point now);
    /// Call when the user trusts the project and is about to change it to `subject`. Trusts both until the next `trust` or
    /// `revoke` of the project, so the project stays trusted if the process dies between the change and `trust`. Does nothing if
    /// the project is not stored. Errors: as `trust`.
    [[nodiscard]] Result<void> announce(const TrustSubject& subject);
    /// Removes the project. Returns false if it was not stored. Errors: as `trust`.
    [[nodiscard]] Result<bool> revoke(const std::string& root);
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

private:
    struct Project {
        std::string time;
        std::map<std::string, std::string, std::less<>> items;
        std::map<std::string, std::string, std::less<>> announced;
    };
    using Projects = std::map<std::string, Project, std::less<>>;

    [[nodiscard]] static Result<Projects> read(const std::string& file);
    /// Returns the root and the project. `pointer`: where the entry is in the document.
    [[nodiscard]] static Result<std::pair<std::string, Project>> read_project(const json::value& entry,
                                                                              const YamlDocument& document,
                                                                              const std::string& pointer);
    template <class Change>
    Result<void> rewrite(Change change);

    std::string file_;
    Projects projects_;  ///< By root.
};

}  // namespace agentforge::kernel
