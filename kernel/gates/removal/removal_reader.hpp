// SPDX-License-Identifier: Apache-2.0
// Divides what a change removed into pieces, and relates each to the request. Only compares sources; runs nothing.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/removal/changed_text.hpp"
#include "gates/removal/definitions.hpp"
#include "gates/removal/hunk_finder.hpp"
#include "gates/removal/removal_request.hpp"
#include "gates/removal/removed_piece.hpp"

namespace agentforge::kernel {

/// The parts of what a change removed.
struct RemovedPieces {
    std::vector<RemovedPiece> pieces;
    std::map<std::string, std::string> whole;  ///< The changed files, with their tests.
    bool restores_includes = false;            ///< It removed an `#include`, which does not say what names it brings.
    bool other_file_asked = false;             ///< A changed file that is no source has to do with the request.
    bool replaced_asked = false;               ///< Something that has to do with the request was replaced by other words.
    bool replaced_other = false;               ///< Something else was replaced by other words.
    bool had_object = false;                   ///< The code had a word of what the request asks to remove.
};

/// Reads one change. Call it once.
class RemovalReader {
public:
    /// `others`: the texts of the sources that did not change. The request and the rules must outlive the reader.
    RemovalReader(const RemovalRequest& request, const CodeRules& rules, const std::vector<ChangedText>& files,
                  const std::vector<std::string>& others);

    [[nodiscard]] RemovedPieces take() { return std::move(found_); }

private:
    using Piece = RemovedPiece;
    struct Versions;  ///< A file before the change and now.
    void read_other_file(const ChangedText& file);
    void add_file(const ChangedText& file);
    void add_whole_file(const Versions& versions);
    /// Adds these lines, or a part of their code.
    Piece& add_piece(Piece::Kind kind, const Versions& versions, const std::vector<std::size_t>& numbers,
                     std::optional<std::string> part = {});
    /// Returns the names of those that have nothing to do with the request.
    std::set<std::string> add_definitions(const Versions& versions, std::vector<bool>& skipped);
    void add_definition(const Versions& versions, const Definition& definition, const std::vector<std::size_t>& numbers,
                        std::vector<bool>& skipped);
    void add_imports(const Versions& versions, std::vector<bool>& skipped);
    /// Adds the imported names that were removed, and marks their lines.
    void add_import_items(const Versions& versions, std::vector<bool>& skipped);
    /// Finds out where the definitions and imports of a file stood: its pieces from `begun` on.
    void place_pieces(const Versions& versions, const HunkFinder& finder, std::size_t begun);
    /// `unrelated`: removed functions that have nothing to do with the request.
    void add_hunk(const Versions& versions, const HunkFinder& finder, const Hunk& hunk, const std::set<std::string>& unrelated);
    void add_lines(const Versions& versions, const std::vector<std::size_t>& removed, const std::vector<std::size_t>& added,
                   std::size_t place);
    /// Adds what differs in lines that other words replaced.
    void add_changed_lines(const Versions& versions, const std::vector<std::size_t>& removed,
                           const std::vector<std::size_t>& added);
    /// Adds the differences of a line that stays. `adds`: it has new words.
    void add_differences(const Versions& versions, std::size_t before, std::size_t now, bool adds);
    /// Adds the checks that other lines replaced (`replaced_checks`), if the request does not ask to remove. Returns false if
    /// there are none.
    bool add_replaced_checks(const Versions& versions, const Hunk& hunk);
    /// True if a function to which the change adds nothing loses a branch or an error with these lines.
    [[nodiscard]] static bool loses_check(const Versions& versions, const std::vector<std::size_t>& removed,
                                          const std::vector<std::size_t>& added);
    /// Finds out whether the request asks to remove these lines, or says that they stay.
    void judge(const Versions& versions, Piece& piece);
    [[nodiscard]] std::set<std::string> parts_left_around(const Versions& versions, std::size_t line) const;
    /// True if one of these names has to do with the request.
    [[nodiscard]] bool is_about(const std::vector<std::string>& names) const;
    /// Numbers the arguments that left a list, in the pieces from `begun` on.
    void name_slots(std::size_t begun);
    /// Forgets the arguments of functions whose parameters stay.
    void forget_foreign_slots();
    /// Only the project's own names relate lines to each other.
    void forget_foreign_names(const std::string& before);

    const RemovalRequest& request_;
    const CodeRules& rules_;
    RemovedPieces found_;
    std::set<std::string> names_now_;  ///< Names and texts that the code still has,
    std::set<std::string> parts_now_;  ///< and their parts, in lower case.
};

}  // namespace agentforge::kernel
