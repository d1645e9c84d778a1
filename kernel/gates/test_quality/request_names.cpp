// SPDX-License-Identifier: Apache-2.0
#include "gates/test_quality/request_names.hpp"

#include <algorithm>
#include <array>

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"

namespace agentforge::kernel {

std::vector<std::string> exact_names(std::string_view request) {
    static const RE2 name(R"re((?:^|[\s("'`,;:=])()re"
                          R"re([\w./-]*\w\.(?:py|js|mjs|cjs|ts|go|rs|java|c|cc|cpp|h|hpp|json|toml|ya?ml|csv|ini|sh))re"
                          R"re(|--[A-Za-z][\w-]*)re"
                          R"re(|\d+(?:\.\d+)?)re"
                          R"re(|[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*))re"
                          R"re((?:$|[\s)"'`,;:(=]|\.(?:\s|$)))re");
    static const RE2 quoted(R"(`([\w.-]+)`)");
    std::vector<std::string> names;
    const auto add = [&](const std::string& found) {
        if (std::ranges::find(names, found) == names.end()) { names.push_back(found); }
    };
    for (std::size_t from = 0; from < request.size();) {
        std::array<re2::StringPiece, 2> found;
        if (!name.Match(string_piece(request), from, request.size(), RE2::UNANCHORED, found.data(), found.size())) { break; }
        add(std::string(found[1]));
        from = static_cast<std::size_t>(found[1].data() - request.data()) + found[1].size();  // The next may begin with its end.
    }
    auto rest = string_piece(request);
    std::string found;
    while (RE2::FindAndConsume(&rest, quoted, &found)) { add(found); }
    return names;
}

bool has_name(std::string_view text, const std::string& name) {
    return RE2::PartialMatch(string_piece(text), "(?:^|\\W)" + RE2::QuoteMeta(name) + "(?:\\W|$)");
}

}  // namespace agentforge::kernel
