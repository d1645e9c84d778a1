// SPDX-License-Identifier: Apache-2.0
// The task's checkout with the rights of one role. Every path is walked from a held directory descriptor with
// openat2(RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS): no link leads out, no race changes that.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <agentforge/edits.hpp>

#include "base/files.hpp"
#include "secrets/redactor.hpp"
#include "tools/path_rules.hpp"

namespace agentforge::kernel {

/// What holds beyond `Workspace`:
/// - A symbolic link is never followed, neither inside nor out: reading, writing, moving or deleting one is refused with
/// AF-TOOL-032.
///   `list` shows it as `path -> target`, and a pipe, device or socket as `path (pipe)` and so on; these texts are no paths.
/// - A write makes a temporary sibling and renames it over the old file, so a hard link to another file is never written
///   through, and a reader sees the old bytes or the new. The mode is kept. Nothing is synced: the snapshot that follows is.
/// - All is relative to the folder as it was opened, even if its name is given to another one meanwhile.
/// - Bytes stay bytes: no line end, encoding or missing last newline is changed by an edit elsewhere in the file.
/// - Only files are moved and deleted, never folders.
/// - `create` replaces a file that this task created (`@created`), so that a draft can be written anew by whoever may write
/// there; any other that exists stays.
/// - Secrets are shown as placeholders, searched and edited as such, and put back where a placeholder is written
/// (secrets/restore.hpp). So neither a search
///   nor an edit tells what a secret begins with. Hashes and sizes are the file's own.
///
/// Errors, beside those of path_rules.hpp: AF-TOOL-014 writing is not allowed now; 021 malformed search pattern; 031 not found;
/// 032 symbolic link; 033 pipe, device or socket; 034 a folder where a file is needed or the other way round; 035 exists already;
/// 036 binary; 037 too large; 038 the operating system refused; 039 no room or read-only; 040 the text to replace is not
/// there; 041 it stands more than once; 042 it is empty; 043 nothing would change; 044 the file changed while it was written; 045
/// line range; 060 it lies in a submodule; 046 the file is not as the agent last saw it; 047 the agent has not seen the file that
/// it would overwrite.
///
/// Threads: one at a time.
class RoleWorkspace final : public Workspace, public AtomicEdits {
public:
    static constexpr std::uint64_t max_whole_read_bytes = 2ULL << 20U;  ///< More is read only by a line range.
    static constexpr std::uint64_t max_file_bytes = 64ULL << 20U;       ///< Larger files are not touched at all.
    static constexpr std::uint64_t search_file_budget = 20'000;         ///< A search ends, `truncated`, after so many files
    static constexpr std::uint64_t search_byte_budget =
        128ULL << 20U;                             ///< or so many bytes. Files beyond max_whole_read_bytes are skipped.
    static constexpr std::size_t max_depth = 100;  ///< `list` goes no deeper, and says `truncated`.

    /// Errors: AF-TOOL-030 the folder cannot be opened, or is a link. `redactor` outlives it.
    [[nodiscard]] static Result<std::unique_ptr<RoleWorkspace>> open(const std::string& root, RolePaths rules,
                                                                     const Redactor& redactor = nothing_hidden());
    ~RoleWorkspace();

    [[nodiscard]] Result<FileView> read(std::string_view path, const ReadOptions& options = {}) override;
    /// Sorted by path; `.git` and `.agentforge` are left out.
    [[nodiscard]] Result<Listing> list(std::string_view directory, const ListOptions& options = {}) override;
    /// Line by line, files in the order of `list`. Links, binary files and large ones are skipped. When `truncated` and fewer
    /// hits than the limit, the budget ended it.
    [[nodiscard]] Result<SearchHits> search(const SearchQuery& query) override;
    [[nodiscard]] bool exists(std::string_view path) override;
    [[nodiscard]] Result<Change> create(std::string_view path, std::string_view content, bool overwrite = false) override;
    /// `search` must stand exactly once; see AtomicEdits::apply for what is compared alike where it stands nowhere as it is. The
    /// replacement takes the file's line ends.
    [[nodiscard]] Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) override;
    /// Records two changes: the old path goes, the new one comes (returned).
    [[nodiscard]] Result<Change> move(std::string_view from, std::string_view to) override;
    [[nodiscard]] Result<Change> remove(std::string_view path) override;

    /// All new contents are written beside the files first; then each file is exchanged for its new one, and where one cannot be,
    /// those before it are put back. A process that dies in between leaves some exchanged: the task's tree is restored when it
    /// resumes. Also AF-TOOL-044, and 048 one path twice, 049 two hunks in the same lines.
    [[nodiscard]] Result<std::vector<FileEdited>> apply(const std::vector<FileEdit>& edits) override;

    /// What the agent last saw: path → SHA-256 of the whole file. A write to one of them that is not so any more is refused with
    /// AF-TOOL-046, and from the first call on `apply` overwrites no file that is not among them. Own writes are followed.
    void expect(std::map<std::string, std::string, std::less<>> seen);
    /// Writes since the last call, oldest first: what the journal and the snapshot need to know.
    [[nodiscard]] std::vector<Change> take_changes();
    /// Submodules: nothing at or below one of these folders is written (AF-TOOL-060), whatever the role's rules say.
    void pin(std::vector<std::string> submodules);
    /// false: every write is refused with AF-TOOL-014 (a tool that did not declare the effect).
    void allow_writes(bool allowed) noexcept;
    /// Whether the role may write there, by path text alone. Errors: those of `normalize_path` and `RolePaths::check_write`,
    /// AF-TOOL-060.
    [[nodiscard]] Result<void> check_write(std::string_view path) const;
    /// What `@tests` and `@sources` mean here; null where nobody said.
    [[nodiscard]] std::shared_ptr<const PathSymbols> symbols() const;

private:
    struct State;
    explicit RoleWorkspace(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
