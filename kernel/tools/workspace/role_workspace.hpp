// SPDX-License-Identifier: Apache-2.0
// The task's checkout with the rights of one role. Every path is walked from an open directory descriptor with
// openat2(RESOLVE_BENEATH | NO_SYMLINKS | NO_MAGICLINKS), so no link leads out, and no race can change that.
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

/// Guarantees beyond `Workspace`:
///   - Symbolic links are never followed, inside or out: reading, writing, moving or deleting one is refused with AF-TOOL-032.
///     `list` shows one as `path -> target`, and a pipe, device or socket as `path (pipe)` and so on; these texts are not paths.
///   - A write makes a temporary sibling and renames it over the old file. So it never writes through a hard link to another
///     file, and a reader sees either the old or the new bytes. Keeps the mode. Syncs nothing: the snapshot that follows does.
///   - Everything is relative to the folder as it was opened, even if another folder gets its name in the meantime.
///   - Bytes stay bytes: an edit changes no line end, encoding or missing last newline elsewhere in the file.
///   - Only files are moved and deleted, never folders.
///   - `create` replaces a file that this task created (`@created`), so a role that may write there can rewrite a draft. Any
///     other existing file stays.
///   - Secrets are shown, searched and edited as placeholders, and restored where a placeholder is written
///     (secrets/restore.hpp). So neither a search nor an edit reveals how a secret begins. Hashes and sizes are the file's own.
///
/// Errors, in addition to those of path_rules.hpp: AF-TOOL-014 writing is not allowed now; 021 malformed search pattern; 031 not
/// found; 032 symbolic link; 033 pipe, device or socket; 034 a folder where a file is needed, or the reverse; 035 already exists;
/// 036 binary; 037 too large; 038 the operating system refused; 039 no space or read-only; 040 the text to replace was not found;
/// 041 it occurs more than once; 042 it is empty; 043 nothing would change; 044 the file changed while it was written; 045 line
/// range; 046 the file is not as the agent last saw it; 047 the agent has not seen the file that it would overwrite; 060 it is in
/// a submodule.
///
/// Threads: one at a time.
class RoleWorkspace final : public Workspace, public AtomicEdits {
public:
    static constexpr std::uint64_t max_whole_read_bytes = 2ULL << 20U;  ///< Larger files can only be read by line range.
    static constexpr std::uint64_t max_file_bytes = 64ULL << 20U;       ///< Larger files are refused.
    static constexpr std::uint64_t search_file_budget = 20'000;         ///< A search stops, `truncated`, after this many files
    static constexpr std::uint64_t search_byte_budget =
        128ULL << 20U;                             ///< or this many bytes. Skips files larger than max_whole_read_bytes.
    static constexpr std::size_t max_depth = 100;  ///< `list` stops at this depth and sets `truncated`.

    /// Errors: AF-TOOL-030 the folder cannot be opened, or is a link. `redactor` must outlive it.
    [[nodiscard]] static Result<std::unique_ptr<RoleWorkspace>> open(const std::string& root, RolePaths rules,
                                                                     const Redactor& redactor = nothing_hidden());
    ~RoleWorkspace();

    [[nodiscard]] Result<FileView> read(std::string_view path, const ReadOptions& options = {}) override;
    /// Returns the entries sorted by path, without `.git` and `.agentforge`.
    [[nodiscard]] Result<Listing> list(std::string_view directory, const ListOptions& options = {}) override;
    /// Searches line by line, files in the order of `list`. Skips links, binary files and large ones. If `truncated` with fewer
    /// hits than the limit, the budget ended it.
    [[nodiscard]] Result<SearchHits> search(const SearchQuery& query) override;
    [[nodiscard]] bool exists(std::string_view path) override;
    [[nodiscard]] Result<Change> create(std::string_view path, std::string_view content, bool overwrite = false) override;
    /// `search` must occur exactly once; see AtomicEdits::apply for the comparisons tried if it does not match byte for byte. The
    /// replacement takes the file's line ends.
    [[nodiscard]] Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) override;
    /// Records two changes: the old path is removed and the new one created. Returns the second.
    [[nodiscard]] Result<Change> move(std::string_view from, std::string_view to) override;
    [[nodiscard]] Result<Change> remove(std::string_view path) override;

    /// Writes all new contents beside the files first. Then exchanges each file for its new one; if one exchange fails, undoes
    /// the earlier ones. If the process dies in between, some files are exchanged; the task's tree is restored when it resumes.
    /// Also AF-TOOL-044, and 048 a duplicate path, 049 two hunks in the same lines.
    [[nodiscard]] Result<std::vector<FileEdited>> apply(const std::vector<FileEdit>& edits) override;

    /// Sets what the agent last saw: path → SHA-256 of the whole file. Refuses a write to one that has changed since
    /// (AF-TOOL-046). From the first call on, `apply` overwrites no file that is not listed. Own writes update the list.
    void expect(std::map<std::string, std::string, std::less<>> seen);
    /// Returns the writes since the last call, oldest first, for journal and snapshot.
    [[nodiscard]] std::vector<Change> take_changes();
    /// Sets the submodules: nothing in these folders is written (AF-TOOL-060), whatever the role's rules say.
    void pin(std::vector<std::string> submodules);
    /// False: refuses every write with AF-TOOL-014 (the tool did not declare the effect).
    void allow_writes(bool allowed) noexcept;
    /// Checks whether the role may write there, by path text alone. Errors: those of `normalize_path` and
    /// `RolePaths::check_write`, AF-TOOL-060.
    [[nodiscard]] Result<void> check_write(std::string_view path) const;
    /// Returns the meaning of `@tests` and `@sources` here. Null if unknown.
    [[nodiscard]] std::shared_ptr<const PathSymbols> symbols() const;

private:
    struct State;
    class TextSearch;
    class EditBatch;
    explicit RoleWorkspace(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace agentforge::kernel
