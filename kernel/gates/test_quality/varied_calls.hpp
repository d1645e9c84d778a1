// SPDX-License-Identifier: Apache-2.0
// Inserts code into compiled functions that take a list of numbers, so that each call of the tests is repeated with other lists.
// Finds functions that return no computed result for these. Pure functions over values; runs nothing.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/globs.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// How a language's functions that take a list of numbers call themselves with other lists. Patterns are RE2 over code without
/// comments.
struct VariedCallRules {
    struct List {
        std::string match;  ///< The whole parameter, with the groups `name` and `element`.
        std::string given;  ///< The argument passed for it.
    };
    Globs files;           ///< Only in these files. Empty: in all.
    std::string result;    ///< If found before the `{`, without the parameters, the function returns a number.
    std::string unless;    ///< If found there, the function is skipped.
    std::string receiver;  ///< If found there, with one group: the object it is called on.
    std::vector<List> lists;
    /// Matches a whole parameter after the list that is the list's length, with the groups `name` and `type`. Empty: lists carry
    /// their length.
    std::string count;
    std::string count_given;  ///< The argument passed for it. `{type}` is filled in.
    std::string other;        ///< Any other whole parameter, with the group `name`. If that is empty, nothing is passed for it.
    std::string inserted;  ///< Inserted after the `{`. `{function}`, `{call}`, `{list}`, `{element}` and `{count}` are filled in.
    std::string head;      ///< Inserted at the beginning of such a file.
    std::string tail;      ///< Inserted at its end.
    std::string beside;    ///< Name of a file added to the folder of such a file: `helper`, after what `package` found.
    std::string helper;    ///< Its content.
    std::string package;   ///< With one group.
};

/// A function that calls itself with other lists.
struct VariedFunction {
    std::string id;  ///< Identifies its calls in the records.
    std::string name;
    std::string file;
    bool declared = false;      ///< True if the specification declares it.
    bool ignores_list = false;  ///< Its body uses no more of the list than its length.
};

/// Returns the text with calls inserted into each function that returns a number for one list of numbers and contains one of
/// these lines. Adds these functions to `functions`. Returns the same text if there is none.
[[nodiscard]] std::string with_varied_calls(const std::string& file, std::string_view text, const CodeRules& code,
                                            const VariedCallRules& rules, const std::set<std::uint64_t>& lines,
                                            const std::set<std::string>& declared, std::vector<VariedFunction>& functions);

/// One recorded call, written on a line with tabs: `id`, `own` or `near`, the list, and a number, `-` (an error, nothing) or
/// anything else.
struct ReportedCall {
    enum class Gave : unsigned char { number = 1, nothing, other };
    std::string function;
    bool own = false;  ///< The tests' call.
    std::vector<double> list;
    Gave gave = Gave::other;
    double result = 0;
    [[nodiscard]] auto operator<=>(const ReportedCall&) const = default;
};
/// Skips lines that are not calls.
[[nodiscard]] std::vector<ReportedCall> reported_calls(std::string_view lines);

/// Returns the numbers among a text's literals, and in its quoted texts, in order and without signs.
[[nodiscard]] std::vector<double> numbers_in(std::string_view text, const CodeRules& code);

/// Describes the first function that returns no computed result, or returns an empty text. Needs at least 12 other lists. Reports
/// a function that returns
///   - one number for all other lists, and for the tests' lists at least 3 different numbers, or 2 that both differ from it;
///   - one number for all lists, if the specification declares the function and its body does not use the list;
///   - the same result for lists of the same length, at least 3 different ones for the lengths of the tests' lists and one other
///     result for all other lengths, if the specification declares the function and its body does not use the list;
///   - an error or nothing for all other lists, and at least 2 different numbers for the tests' lists, if the sources contain
///     at least 2 of the tests' lists, each right before its result. `sources`: numbers_in of each changed file.
[[nodiscard]] std::string does_no_work(const std::vector<VariedFunction>& functions, const std::vector<ReportedCall>& calls,
                                       const std::vector<std::vector<double>>& sources);

}  // namespace agentforge::kernel
