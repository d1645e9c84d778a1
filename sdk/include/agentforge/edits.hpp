// SPDX-License-Identifier: Apache-2.0
// Several changes to several files, all of them or none: what a patch needs beyond Workspace.
//
// Threads: as the Workspace it belongs to.
#pragma once

#include <agentforge/host.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace agentforge {

/// One place of a text and what takes its place.
struct Hunk {
    std::string search;  ///< What stands there. Empty: `replace` is put in after the last anchor, or at the end of the text.
    std::string replace;
    /// Whole lines that stand above the place, outermost first, white space around them aside: of several places
    /// the one is meant that lies in what they head (by indentation).
    std::vector<std::string> anchors;
    bool whole_lines = false;  ///< `search` and `replace` are whole lines, each with its `\n`; otherwise any piece of text.
    bool at_end = false;       ///< The place must reach to the end of the text.
    std::string label;         ///< Begins messages about it: `Hunk 2 (line 14 of the patch)`. May be empty.
};

enum class FileEditKind : unsigned char {
    create = 1,  ///< A new file with `content`.
    change,      ///< `hunks` of a file that is there; with `move_to` it gets a new path, too (`hunks` may be empty then).
    overwrite,  ///< A file that is there gets `content`; its line ends and its byte order mark stay, where `content` has neither.
    remove
};

struct FileEdit {
    FileEditKind kind = FileEditKind::change;
    std::string path;
    std::string move_to;  ///< Only with `change`. Nothing may be there.
    std::string content;
    std::vector<Hunk> hunks;
};

/// Lines of the new text that a hunk wrote. Where it only took lines away: last_line = first_line − 1.
struct LineRange {
    std::uint64_t first_line = 1;
    std::uint64_t last_line = 0;
};

/// What was done to one file.
struct FileEdited {
    Change change;                   ///< `path` is the new one where the file was moved.
    std::string moved_from;          ///< Empty where it was not.
    std::vector<LineRange> regions;  ///< Of `change` hunks, in the order of the text.
    bool tolerant = false;           ///< A hunk did not stand there byte by byte.
};

class AtomicEdits {
public:
    /// Does all of the edits or none. Before anything is written every path is checked against the role's path rules, every
    /// file against the hash that the agent last saw of it, and every hunk against the text as it is (not as another hunk left
    /// it). A hunk must fit exactly one place. Tried in this order, the first that fits anywhere decides: as it is; white space
    /// at line ends aside; indented deeper or less deep as a whole (the new lines are indented likewise); dashes, quotation marks
    /// and spaces of Unicode as their ASCII forms. Lines that `replace` keeps from `search` keep the file's own bytes. Errors,
    /// all of which leave every file as it was: those of Workspace; `invalid` AF-TOOL-040 a hunk fits nowhere (with the nearest
    /// lines), 041 it fits several places, 042 it says nothing, 043 a file would not change, 048 one path is named twice, 049 two
    /// hunks change the same lines; `conflict` AF-TOOL-046 a file is not as the agent last saw it.
    [[nodiscard]] virtual Result<std::vector<FileEdited>> apply(const std::vector<FileEdit>& edits) = 0;

protected:
    ~AtomicEdits() = default;
};

/// Of the workspace that a tool is given; null where the host does not offer it.
[[nodiscard]] inline AtomicEdits* atomic_edits(Workspace& workspace) noexcept { return dynamic_cast<AtomicEdits*>(&workspace); }

}  // namespace agentforge
