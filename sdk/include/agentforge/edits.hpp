// SPDX-License-Identifier: Apache-2.0
// Applies several changes to several files, all or none. A patch needs this in addition to Workspace.
//
// Threads: as the Workspace it belongs to.
#pragma once

#include <agentforge/host.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace agentforge {

/// A place in a text and its replacement.
struct Hunk {
    std::string search;  ///< The text to replace. Empty: inserts `replace` after the last anchor, or at the end of the text.
    std::string replace;
    /// Whole lines above the place, outermost first, compared without the white space around them. They choose among several
    /// matches: the one that is indented under these lines.
    std::vector<std::string> anchors;
    /// `search` and `replace` are whole lines, each with its `\n`. Otherwise they are any piece of text.
    bool whole_lines = false;
    bool at_end = false;  ///< The match must reach to the end of the text.
    std::string label;    ///< Prefix for messages about this hunk: `Hunk 2 (line 14 of the patch)`. May be empty.
};

enum class FileEditKind : unsigned char {
    create = 1,  ///< Creates a file with `content`.
    change,      ///< Applies `hunks` to an existing file. With `move_to` it also moves the file (`hunks` may be empty then).
    overwrite,   ///< Replaces an existing file with `content`. Keeps its line ends and byte order mark if `content` has neither.
    remove
};

struct FileEdit {
    FileEditKind kind = FileEditKind::change;
    std::string path;
    std::string move_to;  ///< Only with `change`. Must not exist.
    std::string content;
    std::vector<Hunk> hunks;
};

/// The lines of the new text that a hunk wrote. If the hunk only removed lines: last_line = first_line − 1.
struct LineRange {
    std::uint64_t first_line = 1;
    std::uint64_t last_line = 0;
};

/// The changes made to one file.
struct FileEdited {
    Change change;                   ///< `path` is the new path if the file was moved.
    std::string moved_from;          ///< Empty if the file was not moved.
    std::vector<LineRange> regions;  ///< One for each hunk of a `change`, in the order of the text.
    bool tolerant = false;           ///< True if a hunk did not match byte for byte.
};

class AtomicEdits {
public:
    /// Applies all edits or none. Before writing, checks every path against the role's path rules, every file against the hash
    /// that the agent last saw, and every hunk against the current text (not the text that another hunk leaves).
    /// A hunk must match exactly one place. These comparisons are tried in order, and the first with any match decides: byte for
    /// byte; ignoring white space at line ends; with a different indentation of the whole (the new lines are indented alike);
    /// with dashes, quotation marks and spaces of Unicode as their ASCII forms. Lines that `replace` keeps from `search` keep the
    /// file's own bytes.
    /// Errors leave every file unchanged: those of Workspace; `invalid` AF-TOOL-040 a hunk matches nowhere (with the nearest
    /// lines), 041 it matches several places, 042 it is empty, 043 a file would not change, 048 a path appears twice, 049 two
    /// hunks change the same lines; `conflict` AF-TOOL-046 a file is not as the agent last saw it.
    [[nodiscard]] virtual Result<std::vector<FileEdited>> apply(const std::vector<FileEdit>& edits) = 0;

protected:
    ~AtomicEdits() = default;
};

/// Returns the AtomicEdits of a tool's workspace, or null if the host does not offer it.
[[nodiscard]] inline AtomicEdits* atomic_edits(Workspace& workspace) noexcept { return dynamic_cast<AtomicEdits*>(&workspace); }

}  // namespace agentforge
