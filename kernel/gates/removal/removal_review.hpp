// SPDX-License-Identifier: Apache-2.0
// Decides which lines that a change removed have to do with the request, and which need a test that fails when they are put back.
// Only compares sources; runs nothing.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/removal/changed_text.hpp"
#include "gates/removal/removal_reader.hpp"
#include "gates/removal/removal_request.hpp"
#include "gates/removal/removed_piece.hpp"

namespace agentforge::kernel {

/// What to measure next.
struct PutBack {
    RemovedLines lines;
    /// Path → text of the changed tree's files with these lines put back, and with whatever else was removed that they need: a
    /// constant, a function, an import.
    std::map<std::string, std::string> files;
};

/// Whether each removed line is accounted for. A removed line needs no test if it is a comment, an import or an export, or part
/// of a whole definition, or if it shares a vanished name with the request, with removed lines that a test notices, or with a
/// removed definition that has to do with the request. A name has vanished if no code has it any more. A line that stays and
/// differs is judged by its differences, one by one.
///
/// If the request asks for something else than to remove, only lost checks need a test: a branch or an error that left a function
/// to which the change adds nothing, and `replaced_checks`.
///
/// If something removed has to do with the request, functions and types that have nothing to do with it need a test, too. So does
/// everything that the request says to keep.
class RemovalReview {
public:
    /// `others`: the texts of the sources that did not change. Copies what it needs.
    RemovalReview(const RemovalRequest& request, const CodeRules& rules, const std::vector<ChangedText>& files,
                  const std::vector<std::string>& others);

    /// The next lines to put back, or nothing if the rest is accounted for.
    [[nodiscard]] std::optional<PutBack> next() const;
    /// How the tests reacted to `next`.
    using Reaction = RemovedPiece::Reaction;
    void record(Reaction reaction);

    /// The lines that no test noticed and that nothing accounts for.
    [[nodiscard]] std::vector<RemovedLines> unaccounted() const;
    /// True if a test noticed removed lines, if some removed line has to do with the request, or if a definition was removed
    /// together with its calls.
    [[nodiscard]] bool shows_what_was_asked() const;
    /// True if nothing that the request asks to remove is gone or replaced, although the code had it.
    [[nodiscard]] bool leaves_what_was_asked() const;
    /// True if the request names definitions or files that are gone, and all other removed definitions belong to these: they
    /// share a name that no code has any more.
    [[nodiscard]] bool removed_by_name(const RemovalRequest& request) const;
    /// True if a removed name has this word: then "create" in a request is the name of something, not a verb.
    [[nodiscard]] bool removes_name_with(const std::string& word) const;

private:
    using Piece = RemovedPiece;
    void link();
    [[nodiscard]] bool is_accounted_for(const Piece& piece) const;
    /// The piece to try next, or the number of pieces.
    [[nodiscard]] std::size_t next_piece() const;
    /// Returns a piece and all others that it cannot do without.
    [[nodiscard]] std::set<std::size_t> with_what_it_needs(std::size_t piece) const;

    RemovedPieces change_;
    bool removes_ = false;      ///< The request asks to remove something. Otherwise only lost checks need a test.
    bool asked_found_ = false;  ///< A removed line or definition has to do with the request.
};

}  // namespace agentforge::kernel
