// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/varied_calls.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>

#include <re2/re2.h>

#include "base/text.hpp"

namespace agentforge::kernel {
namespace {

constexpr std::size_t fewest_others = 12;
constexpr std::size_t fewest_results = 3;

re2::StringPiece view_of(std::string_view text) { return {text.data(), text.size()}; }

/// Splits at commas outside brackets.
std::vector<std::string> parameters_of(std::string_view list) {
    std::vector<std::string> result;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= list.size(); ++at) {
        const char c = at < list.size() ? list[at] : ',';
        if (c == '(' || c == '[' || c == '<' || c == '{') { ++depth; }
        const bool arrow = c == '>' && at > 0 && list[at - 1] == '-';
        if (c == ')' || c == ']' || (c == '>' && !arrow) || c == '}') { --depth; }
        if (c != ',' || (depth > 0 && at < list.size())) { continue; }
        if (const auto each = without_margins(list.substr(begin, at - begin)); !each.empty()) { result.emplace_back(each); }
        begin = at + 1;
    }
    return result;
}

/// Returns the groups of a pattern in the requested order. Nothing if the whole text does not match.
std::optional<std::vector<std::string>> groups(const std::string& text, const std::string& pattern,
                                               const std::vector<std::string>& names) {
    const RE2 expression(pattern, RE2::Quiet);
    std::vector<re2::StringPiece> found(static_cast<std::size_t>(std::max(0, expression.NumberOfCapturingGroups())) + 1);
    if (pattern.empty() ||
        !expression.Match(text, 0, text.size(), RE2::ANCHOR_BOTH, found.data(), static_cast<int>(found.size()))) {
        return std::nullopt;
    }
    std::vector<std::string> result;
    for (const auto& name : names) {
        const auto group = expression.NamedCapturingGroups().find(name);
        result.push_back(group == expression.NamedCapturingGroups().end()
                             ? std::string()
                             : std::string(found[static_cast<std::size_t>(group->second)]));
    }
    return result;
}

void fill(std::string& text, const std::string& key, const std::string& value) {
    for (auto at = text.find(key); at != std::string::npos; at = text.find(key, at + value.size())) {
        text.replace(at, key.size(), value);
    }
}

/// True if a body only reads the list's length or discards the list explicitly.
bool ignores(std::string body, const std::string& list) {
    const auto name = RE2::QuoteMeta(list);
    RE2::GlobalReplace(&body,
                       R"(\(\s*void\s*\)\s*)" + name + R"(\b|static_cast<void>\(\s*)" + name + R"(\s*\)|(?:let\s+)?_\s*=\s*)" +
                           name + R"(\b|\blen\(\s*)" + name + R"(\s*\)|\b)" + name +
                           R"(\s*\.\s*(?:len|size|length|isEmpty|is_empty|empty)\b)",
                       " ");
    return !RE2::PartialMatch(body, R"(\b)" + name + R"(\b)");
}

struct Insertion {
    std::size_t at = 0;
    std::string text;
};

/// Where the parameters are in a header.
struct ParameterList {
    std::size_t open = 0;   ///< After the `(`.
    std::size_t close = 0;  ///< The place of the `)`.
};

std::optional<ParameterList> parameter_list(std::string_view header, const std::string& name) {
    const RE2 called(R"(\b)" + RE2::QuoteMeta(name) + R"(\s*(?:<[^>()]*>|\[[^\]()]*\])?\s*\()", RE2::Quiet);
    auto rest = view_of(header);
    if (!RE2::FindAndConsume(&rest, called)) { return std::nullopt; }
    const auto open = header.size() - rest.size();
    auto close = open;
    for (int depth = 1; close < header.size(); ++close) {
        if (header[close] == '(') { ++depth; }
        if (header[close] == ')') { --depth; }
        if (depth == 0) { return ParameterList{open, close}; }
    }
    return std::nullopt;
}

/// `without`: the header without its parameters.
bool returns_number(const std::string& without, const VariedCallRules& rules) {
    return RE2::PartialMatch(without, rules.result) && (rules.unless.empty() || !RE2::PartialMatch(without, rules.unless));
}

/// The arguments of a call with another list, and the names of the parameters that they stand for.
struct VariedArguments {
    std::string text;
    std::string list;
    std::string element;  ///< Type of the list's elements.
    std::string count;    ///< Empty if the list knows its length.
};

/// Returns nothing for a function without a list, or with a parameter that no rule matches.
std::optional<VariedArguments> varied_arguments(const std::vector<std::string>& parameters, const VariedCallRules& rules) {
    VariedArguments result;
    bool counted = rules.count.empty();
    for (const auto& parameter : parameters) {
        std::string argument;
        if (!result.list.empty() && !counted) {
            const auto found = groups(parameter, rules.count, {"name", "type"});
            if (!found) { return std::nullopt; }
            result.count = (*found)[0];
            argument = rules.count_given;
            fill(argument, "{type}", (*found)[1]);
            counted = true;
        } else {
            for (const auto& each : rules.lists) {
                const auto found = result.list.empty() ? groups(parameter, each.match, {"name", "element"}) : std::nullopt;
                if (!found) { continue; }
                result.list = (*found)[0];
                result.element = (*found)[1];
                argument = each.given;
                fill(argument, "{element}", result.element);
                break;
            }
            if (argument.empty()) {
                const auto found = groups(parameter, rules.other, {"name"});
                if (!found) { return std::nullopt; }
                argument = found->front();
                if (argument.empty()) { continue; }
            }
        }
        result.text += (result.text.empty() ? "" : ", ") + argument;
    }
    if (result.list.empty() || !counted) { return std::nullopt; }
    return result;
}

std::optional<Insertion> insertion(const CodeFunction& function, const CodeText& read, const VariedCallRules& rules,
                                   VariedFunction& varied) {
    const auto header = std::string_view(read.code).substr(function.begin, function.open - function.begin);
    varied.name = function.name.substr(function.name.rfind(':') + 1);
    const auto place = parameter_list(header, varied.name);
    if (!place) { return std::nullopt; }
    const auto [open, close] = *place;
    const std::string without = std::string(header.substr(0, open)) + std::string(header.substr(close));
    if (!returns_number(std::string(without_margins(without)), rules)) { return std::nullopt; }
    std::string receiver;
    if (!rules.receiver.empty() && RE2::PartialMatch(std::string(header), rules.receiver, &receiver)) { receiver += "."; }
    const auto arguments = varied_arguments(parameters_of(header.substr(open, close - open)), rules);
    if (!arguments) { return std::nullopt; }
    varied.ignores_list = ignores(read.code.substr(function.open + 1, function.close - function.open - 1), arguments->list);
    auto text = rules.inserted;
    fill(text, "{function}", varied.id);
    fill(text, "{call}", receiver + varied.name + "(" + arguments->text + ")");
    fill(text, "{list}", arguments->list);
    fill(text, "{element}", arguments->element);
    fill(text, "{count}", arguments->count);
    return Insertion{function.open + 1, std::move(text)};
}

std::string number_text(double value) {
    return RE2::FullMatch(std::to_string(value), R"(-?\d+\.0+)") ? std::to_string(static_cast<std::int64_t>(value))
                                                                 : std::to_string(value);
}

std::string describe(const VariedFunction& function, const ReportedCall& call) {
    std::string list;
    for (const auto each : call.list) { list += (list.empty() ? "" : ", ") + number_text(each); }
    return "`" + function.name + "` of [" + ellipsis(list, 100) + "]";
}

/// True if the sources contain the list, right before its result.
bool is_written(const ReportedCall& call, const std::vector<std::vector<double>>& sources) {
    std::vector<double> both;
    for (const auto each : call.list) { both.push_back(std::abs(each)); }
    both.push_back(std::abs(call.result));
    return std::any_of(sources.begin(), sources.end(), [&](const auto& numbers) {
        return std::search(numbers.begin(), numbers.end(), both.begin(), both.end()) != numbers.end();
    });
}

/// What a table may look its results up by, in place of the whole list.
using Key = double (*)(const std::vector<double>&);
double count_of(const std::vector<double>& list) { return static_cast<double>(list.size()); }

/// True if a function looks its results up: lists with a key of the tests' lists give their results, whatever else is in them,
/// and all other lists give one other number, or nothing.
bool is_table_of(const std::string& function, Key key, const std::vector<ReportedCall>& calls) {
    constexpr std::size_t several = 3;
    const auto result = [](const ReportedCall& call) {
        return call.gave == ReportedCall::Gave::number ? std::optional<double>(call.result) : std::nullopt;
    };
    std::map<double, std::optional<double>> known;
    std::set<std::vector<double>> lists;
    for (const auto& call : calls) {
        if (call.function != function || !call.own || call.gave != ReportedCall::Gave::number) { continue; }
        const auto [place, added] = known.emplace(key(call.list), result(call));
        if (place->second != result(call)) { return false; }
        lists.insert(call.list);
    }
    std::set<std::vector<double>> alike;
    std::set<double> other_keys;
    std::set<std::optional<double>> others;
    for (const auto& call : calls) {
        if (call.function != function || call.own || lists.contains(call.list)) { continue; }
        if (call.gave == ReportedCall::Gave::other) { return false; }
        const auto own = known.find(key(call.list));
        if (own == known.end()) {
            other_keys.insert(key(call.list));
            others.insert(result(call));
        } else if (own->second == result(call)) {
            alike.insert(call.list);
        } else {
            return false;
        }
    }
    std::set<std::optional<double>> given;
    for (const auto& [ignored, each] : known) { given.insert(each); }
    return given.size() >= several && alike.size() >= several && other_keys.size() >= several && others.size() == 1 &&
           !given.contains(*others.begin());
}

std::string finding(const VariedFunction& function, const std::vector<ReportedCall>& calls,
                    const std::vector<std::vector<double>>& sources) {
    std::set<std::vector<double>> known;
    for (const auto& call : calls) {
        if (call.function == function.id && call.own) { known.insert(call.list); }
    }
    std::set<double> given;
    std::set<double> other;
    std::set<std::vector<double>> written;
    std::vector<ReportedCall> near;
    std::set<ReportedCall> seen;
    for (const auto& call : calls) {
        if (call.function != function.id || !seen.insert(call).second) { continue; }
        if (call.gave == ReportedCall::Gave::other) { return {}; }
        const bool is_number = call.gave == ReportedCall::Gave::number;
        if (call.own) {
            if (!is_number || call.list.size() < 2) { continue; }
            given.insert(call.result);
            if (is_written(call, sources)) { written.insert(call.list); }
        } else if (!known.contains(call.list)) {
            near.push_back(call);
            if (is_number) { other.insert(call.result); }
        }
    }
    const auto numbers = static_cast<std::size_t>(std::count_if(
        near.begin(), near.end(), [](const ReportedCall& call) { return call.gave == ReportedCall::Gave::number; }));
    if (near.size() < fewest_others || given.empty()) { return {}; }
    const auto all = "for all " + std::to_string(numbers == 0 ? near.size() : numbers) +
                     " similar lists that were tried, such as " + describe(function, near.front()) +
                     ": it must compute its result for every argument";
    const auto results = std::to_string(given.size()) + " different results for the tests' lists";
    if (other.empty()) {
        if (given.size() < 2 || written.size() < 2) { return {}; }
        return "`" + function.name + "` of " + function.file + " gives " + results +
               ", which the sources list right before these results, and an error or nothing " + all;
    }
    if (other.size() != 1 || numbers < fewest_others) { return {}; }
    const auto same = number_text(*other.begin());
    if (given.size() >= fewest_results || (given.size() == 2 && !given.contains(*other.begin()))) {
        return "`" + function.name + "` of " + function.file + " gives " + results + " and " + same + " " + all;
    }
    if (function.declared && function.ignores_list && given == other) {
        return "`" + function.name + "` of " + function.file + " ignores its list and gives " + same +
               " for the tests' lists and " + all;
    }
    return {};
}

}  // namespace

std::string with_varied_calls(const std::string& file, std::string_view text, const CodeRules& code, const VariedCallRules& rules,
                              const std::set<std::uint64_t>& lines, const std::set<std::string>& declared,
                              std::vector<VariedFunction>& functions) {
    std::string result(text);
    const auto read = read_code(text, code);
    std::vector<Insertion> insertions;
    for (const auto& function : functions_of(read, code)) {
        const auto changed = lines.lower_bound(function.first_line);
        if (changed == lines.end() || *changed > function.last_line) { continue; }
        VariedFunction varied{"f" + std::to_string(functions.size()), "", file};
        auto found = insertion(function, read, rules, varied);
        if (!found) { continue; }
        varied.declared = declared.contains(varied.name);
        functions.push_back(std::move(varied));
        insertions.push_back(std::move(*found));
    }
    std::sort(insertions.begin(), insertions.end(), [](const auto& left, const auto& right) { return left.at > right.at; });
    for (const auto& each : insertions) { result.insert(each.at, each.text); }
    return insertions.empty() ? result : rules.head + result + rules.tail;
}

std::vector<ReportedCall> reported_calls(std::string_view lines) {
    std::vector<ReportedCall> result;
    static const RE2 line(R"((f\d+)\t(own|near)\t([-+.,\deE]*)\t(.+))");
    for (const auto each : lines_of(lines)) {
        ReportedCall call;
        std::string kind;
        std::string list;
        std::string gave;
        if (!RE2::FullMatch(view_of(each), line, &call.function, &kind, &list, &gave)) { continue; }
        call.own = kind == "own";
        for (std::size_t at = 0; at < list.size();) {
            const auto end = std::min(list.find(',', at), list.size());
            call.list.push_back(std::strtod(list.substr(at, end - at).c_str(), nullptr));
            at = end + 1;
        }
        char* end = nullptr;
        const double number = std::strtod(gave.c_str(), &end);
        if (gave == "-") {
            call.gave = ReportedCall::Gave::nothing;
        } else if (*end == '\0' && std::isfinite(number)) {
            call.gave = ReportedCall::Gave::number;
            call.result = number;
        }
        result.push_back(std::move(call));
    }
    return result;
}

std::vector<double> numbers_in(std::string_view text, const CodeRules& code) {
    std::vector<double> result;
    static const RE2 number(R"((\d+(?:\.\d+)?(?:[eE][-+]?\d+)?))");
    for (const auto& literal : read_code(text, code).literals) {
        auto rest = view_of(literal.value);
        double value = 0;
        while (RE2::FindAndConsume(&rest, number, &value)) { result.push_back(value); }
    }
    return result;
}

std::string does_no_work(const std::vector<VariedFunction>& functions, const std::vector<ReportedCall>& calls,
                         const std::vector<std::vector<double>>& sources) {
    for (const auto& function : functions) {
        if (function.declared && function.ignores_list && is_table_of(function.id, count_of, calls)) {
            return "`" + function.name + "` of " + function.file +
                   " looks at nothing but the number of values: lists as long as those of the tests give the tests' results, and all "
                   "others one other result: it must compute its result from the values";
        }
        if (auto found = finding(function, calls, sources); !found.empty()) { return found; }
    }
    return {};
}

}  // namespace agentforge::kernel
