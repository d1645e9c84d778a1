// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs.hpp"

#include <utility>

#include <re2/re2.h>

#include "gates/language.hpp"

namespace agentforge::kernel {

std::string mark_stubs(std::string_view text, const CodeRules& code, const StubRules& stubs, const std::string& marker) {
    std::string result(text);
    const RE2 body("(?s)\\s*(?:" + stubs.body + ")\\s*", RE2::Quiet);
    const RE2 unless(stubs.unless, RE2::Quiet);
    if (stubs.body.empty() || !body.ok()) { return result; }
    const auto read = read_code(text, code);
    const auto functions = functions_of(read, code);
    bool any = false;
    for (auto function = functions.rbegin(); function != functions.rend(); ++function) {
        const re2::StringPiece inside(read.code.data() + function->open + 1, function->close - function->open - 1);
        const re2::StringPiece before(read.code.data() + function->begin, function->open - function->begin);
        if (!RE2::FullMatch(inside, body) || (!stubs.unless.empty() && RE2::PartialMatch(before, unless))) { continue; }
        auto mark = stubs.marked;
        for (const auto& [key, value] : {std::pair<std::string, std::string>{"{marker}", marker}, {"{name}", function->name}}) {
            for (auto at = mark.find(key); at != std::string::npos; at = mark.find(key, at + value.size())) { mark.replace(at, key.size(), value); }
        }
        result.insert(function->open + 1, mark);
        any = true;
    }
    return any ? stubs.head + result : result;
}

}  // namespace agentforge::kernel
