// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/stubs.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <re2/re2.h>

#include "gates/language/language.hpp"

namespace agentforge::kernel {
namespace {

std::string filled(std::string mark, const std::string& marker, const std::string& name) {
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"{marker}", marker}, {"{name}", name}}) {
        for (auto at = mark.find(key); at != std::string::npos; at = mark.find(key, at + value.size())) {
            mark.replace(at, key.size(), value);
        }
    }
    return mark;
}

/// C++: returns the mark of a constexpr function, which may also be evaluated while it is compiled. It ends a call at run time.
/// Empty if the mark throws nothing. Before C++14 such a body is one `return`, so no mark is possible.
std::string at_run_time(const std::string& statement) {
    return "\n#if __cpp_constexpr >= 201304L\nif (!__builtin_is_constant_evaluated()) " + statement + "\n#endif\n";
}

std::string mark_at_run_time(const std::string& mark) {
    const auto begin = mark.find("throw ");
    const auto end = begin == std::string::npos ? begin : mark.find('\n', begin);
    return begin == std::string::npos ? std::string() : at_run_time(mark.substr(begin, end - begin));
}

/// Returns the mark that fails the running test and lets the function go on.
std::string failing_mark(const StubRules& stubs, const std::string& marker, const std::string& name, bool is_constexpr) {
    const auto statement = filled(stubs.failed, marker, name);
    return is_constexpr ? at_run_time(statement) : "\n#ifdef __cplusplus\n" + statement + "\n#endif\n";
}

/// Turns each line into a comment at its own indentation.
std::string commented(std::string_view body, const std::string& comment) {
    std::string result;
    for (std::size_t at = 0; at < body.size();) {
        const auto end = std::min(body.find('\n', at), body.size());
        const auto line = body.substr(at, end - at);
        const auto text = line.find_first_not_of(" \t\r");
        if (text != std::string_view::npos) {
            result += std::string(line.substr(0, text)) + comment + " " + std::string(line.substr(text)) + "\n";
        }
        at = end + 1;
    }
    return result;
}

/// Returns the innermost functions around these lines, sorted by where they begin.
std::vector<CodeFunction> functions_around(const std::vector<CodeFunction>& functions, const std::set<std::uint64_t>& lines) {
    std::map<std::size_t, const CodeFunction*> chosen;
    for (const auto line : lines) {
        const CodeFunction* innermost = nullptr;
        for (const auto& each : functions) {
            // Sorted, so an inner function comes after the one that contains it.
            if (each.first_line <= line && line <= each.last_line) { innermost = &each; }
        }
        if (innermost != nullptr) { chosen[innermost->begin] = innermost; }
    }
    std::vector<CodeFunction> result;
    for (const auto& [begin, function] : chosen) { result.push_back(*function); }
    return result;
}

/// Returns the text with these functions marked, except those that cannot end a test.
std::string marked(std::string_view text, const CodeText& read, const std::vector<CodeFunction>& functions,
                   const StubRules& stubs, const std::string& marker, bool go_on = false) {
    std::string result(text);
    const RE2 unless(stubs.unless, RE2::Quiet);
    const RE2 no_throw(stubs.no_throw, RE2::Quiet);
    bool any = false;
    for (auto each = functions.rbegin(); each != functions.rend(); ++each) {
        const re2::StringPiece before(read.code.data() + each->begin, each->open - each->begin);
        if (!stubs.unless.empty() && RE2::PartialMatch(before, unless)) { continue; }
        const bool is_constexpr = RE2::PartialMatch(before, R"(\bconstexpr\b)");
        const bool may_throw = !go_on && (stubs.no_throw.empty() || !RE2::PartialMatch(before, no_throw));
        const std::string mark = filled(stubs.marked, marker, each->name);
        if (!may_throw && !stubs.failed.empty()) {
            result.insert(each->open + 1, failing_mark(stubs, marker, each->name, is_constexpr));
        } else {
            result.insert(each->open + 1, is_constexpr ? mark_at_run_time(mark) : mark);
        }
        any = true;
    }
    return any ? stubs.head + result : result;
}

}  // namespace

std::string mark_functions_at(std::string_view text, const CodeRules& code, const StubRules& stubs,
                              const std::set<std::uint64_t>& lines, const std::string& marker, bool go_on) {
    if (stubs.marked.empty()) { return std::string(text); }
    const auto read = read_code(text, code);
    return marked(text, read, functions_around(functions_of(read, code), lines), stubs, marker, go_on);
}

std::string mark_stubs(std::string_view text, const CodeRules& code, const StubRules& stubs, const std::string& marker,
                       const std::set<std::string>& named) {
    const RE2 body("(?s)\\s*(?:" + stubs.body + ")\\s*", RE2::Quiet);
    if (stubs.body.empty() || !body.ok()) { return std::string(text); }
    const auto read = read_code(text, code);
    auto functions = functions_of(read, code);
    std::erase_if(functions, [&](const CodeFunction& function) {
        const re2::StringPiece inside(read.code.data() + function.open + 1, function.close - function.open - 1);
        const bool ends_there = text.substr(function.open, function.close - function.open).find(marker) != std::string_view::npos;
        return !RE2::FullMatch(inside, body) && (!named.contains(function.name) || ends_there);
    });
    return marked(text, read, functions, stubs, marker);
}

std::string stub_functions_at(std::string_view text, const CodeRules& code, const StubRules& stubs,
                              const std::set<std::uint64_t>& lines, const std::string& marker) {
    std::string result(text);
    if (stubs.marked.empty() || code.line_comments.empty()) { return result; }
    const auto chosen = functions_around(functions_of(read_code(text, code), code), lines);
    bool any = false;
    std::size_t changed_from = result.size();
    for (auto each = chosen.rbegin(); each != chosen.rend(); ++each) {
        const auto& function = *each;
        const auto body = text.substr(function.open + 1, function.close - function.open - 1);
        if (function.close >= changed_from || body.find(marker) != std::string_view::npos) { continue; }
        const auto line_begin = text.rfind('\n', function.begin) + 1;
        const auto indent = text.substr(line_begin, text.find_first_not_of(" \t", line_begin) - line_begin);
        result.replace(function.open + 1, body.size(),
                       filled(stubs.marked, marker, function.name) + "\n" + commented(body, code.line_comments.front()) +
                           std::string(indent));
        changed_from = function.begin;
        any = true;
    }
    return any && !result.starts_with(stubs.head) ? stubs.head + result : result;
}

}  // namespace agentforge::kernel
