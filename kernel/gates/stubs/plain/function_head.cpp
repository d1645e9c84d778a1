// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/plain/function_head.hpp"

#include <algorithm>

#include <re2/re2.h>

#include "gates/stubs/plain/plain_text.hpp"

namespace agentforge::kernel {

namespace {

PlainParameters read_plain_parameters(std::string_view kind, std::string_view text) {
    PlainParameters result;
    const auto parts = split_list(text);
    const bool named =
        std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.find(' ') != std::string::npos; });
    std::string type;
    std::vector<std::string> types;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        if (kind == "go") {
            const auto blank = part->find(' ');
            const bool only_name = named && blank == std::string::npos;
            if (!only_name) { type = named ? part->substr(blank + 1) : *part; }
            if (named) { result.names.push_back(part->substr(0, blank)); }
        } else if (kind == "rust") {
            const auto colon = part->find(':');
            type = colon == std::string::npos ? *part : part->substr(colon + 1);
            auto name = colon == std::string::npos ? std::string("self") : part->substr(0, colon);
            if (name.starts_with("mut ")) { name.erase(0, 4); }
            result.names.push_back(name);
        } else {
            const auto blank = part->find_last_of(" \t");
            type = blank == std::string::npos ? *part : part->substr(0, blank);
            if (type.starts_with("final ")) { type.erase(0, 6); }
            if (blank != std::string::npos) { result.names.push_back(part->substr(blank + 1)); }
        }
        types.push_back(without_any_blanks(type));
    }
    for (auto each = types.rbegin(); each != types.rend(); ++each) { result.types += *each + ","; }
    return result;
}

}  // namespace

FunctionHead read_head(std::string_view kind, std::string_view text, std::size_t open) {
    FunctionHead head;
    // `java.nio.file.Path` and `Path` are the same type if it is imported.
    std::string unqualified(text);
    if (kind == "java") {
        const std::string before(unqualified.substr(0, open));
        static const RE2 qualifier(R"(\b(?:[a-z_]\w*\.)+([A-Z]))");
        std::string shorter = before;
        RE2::GlobalReplace(&shorter, qualifier, R"(\1)");
        RE2::GlobalReplace(&unqualified, qualifier, R"(\1)");
        open = shorter.size();
        text = unqualified;
    }
    const auto close = closing_bracket(text, open);
    if (close == std::string_view::npos) { return head; }
    head.parameters = read_plain_parameters(kind, text.substr(open + 1, close - open - 1));
    if (kind == "java") {
        RE2::PartialMatch(re2::StringPiece(text.data(), open), R"(([\w.<>\[\],?]+)\s+\w+\s*$)", &head.result);
        return head;
    }
    auto rest = std::string(text.substr(close + 1));
    const auto first = rest.find_first_not_of(" \t\n");
    rest = first == std::string::npos ? std::string{} : rest.substr(first);
    const bool several = kind == "go" && !rest.empty() && rest.front() == '(';
    head.result = several ? read_plain_parameters(kind, std::string_view(rest).substr(1, closing_bracket(rest, 0) - 1)).types
                          : without_any_blanks(rest);
    return head;
}

}  // namespace agentforge::kernel
