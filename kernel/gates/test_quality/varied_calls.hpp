// SPDX-License-Identifier: Apache-2.0
// Calls that tests make are made again with other arguments by code that is put into compiled functions of lists of numbers.
// Functions that do no work for other lists are found by what they gave. Plain functions over values; nothing is run here.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gates/language/globs.hpp"
#include "gates/language/source_text.hpp"

namespace agentforge::kernel {

/// How a language's functions of lists of numbers call themselves with other lists. Patterns are RE2 over code without comments.
struct VariedCallRules {
    struct List {
        std::string match;  ///< The whole parameter, with the groups `name` and `element`.
        std::string given;  ///< The argument in its place.
    };
    Globs files;           ///< Only in these; empty: in all.
    std::string result;    ///< Found in what stands before the `{`, the parameters left out: the function gives a number.
    std::string unless;    ///< Found there: the function is left out.
    std::string receiver;  ///< Found there, with one group: it is called on that.
    std::vector<List> lists;
    std::string count;  ///< The whole parameter behind the list is its length: with the groups `name` and `type`. Empty: lists
                        ///< know theirs.
    std::string count_given;  ///< The argument in its place. `{type}` is filled in.
    std::string other;     ///< Any other whole parameter, with the group `name`; where that is empty, nothing is passed for it.
    std::string inserted;  ///< Goes behind the `{`. `{function}`, `{call}`, `{list}`, `{element}` and `{count}` are filled in.
    std::string head;      ///< Goes before the text of such a file.
    std::string tail;      ///< Goes behind it.
    std::string
        beside;  ///< Name of a file that goes into the folder of such a file: `helper`, with what `package` found in front.
    std::string helper;   ///< Its content.
    std::string package;  ///< With one group.
};

/// A function that calls itself with other lists.
struct VariedFunction {
    std::string id;  ///< By which its calls are told.
    std::string name;
    std::string file;
    bool declared = false;      ///< By the specification.
    bool ignores_list = false;  ///< Its body mentions the list nowhere, or its length only.
};

/// The text with calls put into each function that gives a number for one list of numbers and has one of these lines.
/// `functions`: those are added. The same text if there is none.
[[nodiscard]] std::string with_varied_calls(const std::string& file, std::string_view text, const CodeRules& code,
                                            const VariedCallRules& rules, const std::set<std::uint64_t>& lines,
                                            const std::set<std::string>& declared, std::vector<VariedFunction>& functions);

/// One call, as it is told on a line: `id`, `own` or `near`, the list, and a number, `-` (an error, nothing) or anything else,
/// with tabs between.
struct ToldCall {
    enum class Gave : unsigned char { number = 1, nothing, other };
    std::string function;
    bool own = false;  ///< The tests' call.
    std::vector<double> list;
    Gave gave = Gave::other;
    double result = 0;
    [[nodiscard]] auto operator<=>(const ToldCall&) const = default;
};
/// Lines that are no calls are left out.
[[nodiscard]] std::vector<ToldCall> told_calls(std::string_view lines);

/// The numbers among a text's literals, and in its quoted texts, in their order and without signs.
[[nodiscard]] std::vector<double> numbers_in(std::string_view text, const CodeRules& code);

/// What is wrong with one of the functions, in words; empty: nothing is. At least 12 other lists must have been tried. A function
/// is found that gives
/// - one number for all other lists, and at least 3 different ones for the tests', or 2 of which none is that one;
/// - one number for all other lists and for the tests', if the specification declares it and its body does not look at the list;
/// - an error or nothing for all other lists, and at least 2 different numbers for the tests', if the sources hold at least 2 of
/// the tests' lists, each right before its result. `sources`: numbers_in of each changed file.
[[nodiscard]] std::string does_no_work(const std::vector<VariedFunction>& functions, const std::vector<ToldCall>& calls,
                                       const std::vector<std::vector<double>>& sources);

}  // namespace agentforge::kernel
