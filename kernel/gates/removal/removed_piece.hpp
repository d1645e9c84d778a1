// SPDX-License-Identifier: Apache-2.0
// A part of what a change removed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace agentforge::kernel {

/// Lines of the user's commit that a change removed from code that stays.
struct RemovedLines {
    std::string file;
    std::uint64_t line = 0;  ///< The first one, in the user's commit.
    std::string text;        ///< The first one, trimmed.
    std::string now = {};    ///< What it became, trimmed. Empty: it is gone.
};

/// Removed lines that are put back together, and what is known of them.
struct RemovedPiece {
    enum class Kind : unsigned char { lines = 1, definition, import };
    /// How the tests reacted when it was put back.
    enum class Reaction : unsigned char { noticed = 1, unnoticed, unknown };
    Kind kind = Kind::lines;
    RemovedLines lines;
    std::set<std::string> vanished;  ///< Names of the project, and texts, that no code has any more.
    std::set<std::string> lacking;   ///< All its names that no code has any more.
    std::set<std::string> uses;      ///< All names of its code.
    std::set<std::string> given;     ///< Those of them that it may define or import for others.
    std::size_t place = 0;           ///< The line of the changed file before which it stood.
    std::set<std::size_t> replaced;  ///< The lines of the changed file that took their place.
    std::string written;             ///< With its comments. Of a difference, the new line without it.
    std::string whole_line;          ///< Of a difference: the former line.
    std::set<std::string> parts;     ///< Parts of all its names, and words of its texts.
    std::string code;
    std::string imported;  ///< Of an import: the name by which the file's code uses it. Empty: unknown.
    std::string slot;      ///< Of a removed parameter, or of its argument in a call: the function, and which one. Else empty.
    bool decides = false;  ///< It branches, returns or raises an error.
    bool is_lost_check = false;  ///< It branches or raises an error, in a function to which the change adds nothing.
    bool is_body = false;        ///< A function, or a type with its members.
    bool is_asked = false;       ///< It has to do with the request.
    bool is_kept = false;        ///< The request says that it stays.
    bool is_linked = false;      ///< It shares a vanished name with a piece that has to do with the request.
    bool is_tried = false;
    bool is_excused = false;  ///< Only by an unrelated definition.
    Reaction reaction = Reaction::unknown;
};

}  // namespace agentforge::kernel
