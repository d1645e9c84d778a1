// SPDX-License-Identifier: Apache-2.0
// Judges the lines that a change takes out of the code when the request asks to remove something: which of them have to do with
// the request, and which need a test that notices when they are put back. Plain functions over texts; runs nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/source_text.hpp"
#include "gates/test_quality/removal_request.hpp"

namespace agentforge::kernel {

/// A file that a change touches. Tests within the file are emptied in `before` and `now`, with their lines kept.
struct ChangedText {
    std::string path;
    std::string before;  ///< Empty: the file is new.
    std::string now;     ///< Empty: the file is gone.
    std::string whole;   ///< `now` with its tests.
    bool is_source = true;
};

/// Lines of the user's commit that a change took out of code that stays.
struct RemovedLines {
    std::string file;
    std::uint64_t line = 0;  ///< The first one, in the user's commit.
    std::string text;        ///< The first one, trimmed.
    std::string now = {};    ///< What it became, trimmed. Empty: it is gone.
};

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
/// If something removed has to do with the request, functions and types that have nothing to do with it need a test, too. So does
/// everything that the request says to keep.
class RemovalReview {
public:
    /// `others`: the texts of the sources that did not change. Must outlive nothing: everything is copied.
    RemovalReview(const RemovalRequest& request, const CodeRules& rules, const std::vector<ChangedText>& files,
                  const std::vector<std::string>& others);

    /// The next lines to put back, or nothing if the rest is accounted for.
    [[nodiscard]] std::optional<PutBack> next() const;
    /// How the tests reacted to `next`.
    enum class Reaction : unsigned char { noticed = 1, unnoticed, unknown };
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
    struct Piece {
        enum class Kind : unsigned char { lines = 1, definition, import };
        Kind kind = Kind::lines;
        RemovedLines lines;
        std::set<std::string> vanished;  ///< Names of the project, and texts, that no code has any more.
        std::set<std::string> lacking;   ///< All its names that no code has any more.
        std::set<std::string> given;     ///< Those of them that it may define or import for others.
        std::size_t place = 0;           ///< The line of the changed file before which it stood.
        std::set<std::size_t> replaced;  ///< Lines of the changed file that stand there now.
        std::string written;             ///< With its comments. Of a difference, the new line without it.
        std::string whole_line;          ///< Of a difference: the former line.
        std::set<std::string> parts;     ///< Parts of all its names, and words of its texts.
        std::string code;
        bool decides = false;    ///< It branches, returns or raises an error.
        bool is_body = false;    ///< A function, or a type with its members.
        bool is_asked = false;   ///< It has to do with the request.
        bool is_kept = false;    ///< The request says that it stays.
        bool is_linked = false;  ///< It shares a vanished name with something that has.
        bool is_tried = false;
        bool is_excused = false;  ///< Only by an unrelated definition.
        Reaction reaction = Reaction::unknown;
    };
    void add_file(const RemovalRequest& request, const CodeRules& rules, const ChangedText& file);
    struct Versions;  ///< A file before the change and now.
    /// Adds these lines, or a part of their code.
    Piece& add_piece(Piece::Kind kind, const Versions& versions, const std::vector<std::size_t>& numbers,
                     std::optional<std::string> part = {});
    /// Returns the names of those that have nothing to do with the request.
    std::set<std::string> add_definitions(const RemovalRequest& request, const Versions& versions, std::vector<bool>& skipped);
    void add_imports(const RemovalRequest& request, const Versions& versions, std::vector<bool>& skipped);
    void add_lines(const RemovalRequest& request, const Versions& versions, const std::vector<std::size_t>& removed,
                   const std::vector<std::size_t>& added, std::size_t place);
    /// Adds what differs in lines that other words replaced.
    void add_changed_lines(const RemovalRequest& request, const Versions& versions, const std::vector<std::size_t>& removed,
                           const std::vector<std::size_t>& added);
    /// Adds the differences of a line that stays. `adds`: it has new words.
    void add_differences(const RemovalRequest& request, const Versions& versions, std::size_t before, std::size_t now, bool adds);
    /// Finds out whether the request asks to remove these lines, or says that they stay.
    void judge(const RemovalRequest& request, const Versions& versions, Piece& piece);
    [[nodiscard]] std::set<std::string> parts_left_around(const Versions& versions, std::size_t line) const;
    /// True if one of these names has to do with the request.
    [[nodiscard]] bool is_about(const RemovalRequest& request, const std::vector<std::string>& names) const;
    /// Only the project's own names connect lines.
    void forget_foreign_names(const std::string& before);
    void link();
    [[nodiscard]] bool is_accounted_for(const Piece& piece) const;
    /// The piece to try next, or the number of pieces.
    [[nodiscard]] std::size_t next_piece() const;
    /// Returns a piece and all others that it cannot do without.
    [[nodiscard]] std::set<std::size_t> with_what_it_needs(std::size_t piece) const;

    std::vector<Piece> pieces_;
    std::map<std::string, std::string> whole_;  ///< The changed files, with their tests.
    bool restores_includes_ = false;            ///< An included file does not tell its names.
    std::set<std::string> names_now_;           ///< Names and texts that the code still has,
    std::set<std::string> parts_now_;           ///< and their parts, in lower case.
    bool other_file_asked_ = false;             ///< A file that is no source has to do with the request.
    bool asked_found_ = false;                  ///< A removed line or definition has to do with the request.
    bool replaced_asked_ = false;               ///< Other words stand where something was that has to do with it.
    bool replaced_other_ = false;               ///< The same for something else.
    bool had_object_ = false;                   ///< The code had a word of what the request asks to remove.
};

/// What is known of a change whose request asks to remove something.
struct RemovalEvidence {
    bool only_removes = false;            ///< It adds nothing to the code, and the request asks for nothing new.
    bool changes_no_code = false;         ///< Only tests, documentation and comments changed, and the request is about code.
    std::string made_nothing;             ///< What the request asks to make as well, if the change adds nothing of it.
    std::string left_out;                 ///< The function of function_left_out.
    bool removed_nothing = false;         ///< The request also asks to make something, and the change only does that.
    bool shows_what_was_asked = true;     ///< Something that has to do with the request, or that a test notices, was removed.
    std::vector<RemovedLines> unnoticed;  ///< Lines that nothing accounts for, and that no test notices when they are put back.
    bool removed_by_name = false;         ///< RemovalReview::removed_by_name
    std::int64_t tried = 0;               ///< How often lines were put back.
};

/// Returns the text without comments and docstrings, with its lines kept.
[[nodiscard]] std::string without_comments(std::string_view text, const CodeRules& rules);

/// Returns a function that the request names exactly, and that the change left as it was with what it removed from another one
/// that the request names ("Remove the limit from Label and Title"). Empty: there is none. `others`: the sources that did not
/// change.
[[nodiscard]] std::string function_left_out(const RemovalRequest& request, const std::vector<ChangedText>& files,
                                            const std::vector<std::string>& others, const CodeRules& rules);

/// True if the change adds nothing that the request asks to make: a call's name that no code has, or no new word of it, no new
/// definition, no new branch and no new text. `others`: the sources that did not change.
[[nodiscard]] bool makes_nothing_of(const Making& making, const std::vector<ChangedText>& files,
                                    const std::vector<std::string>& others, const CodeRules& rules);

/// True if the change adds no name, number or mark to the code of these files. Comments do not count.
[[nodiscard]] bool adds_no_code(const std::vector<ChangedText>& files, const CodeRules& rules);

}  // namespace agentforge::kernel
