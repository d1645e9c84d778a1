// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/plain/plain_kind.hpp"

#include <algorithm>
#include <iterator>

namespace agentforge::kernel {

namespace {

// PlainParameters contain no braces, semicolons or comments. `interface{}` and `struct{}` are removed before a signature is
// matched.
constexpr PlainKind plain_kinds[] = {
    {"go", R"(func\s+(?:\([^(){};]*\)\s*)?(\w+)(?:\[(?:[^\[\]{};]|\[[^\[\]{};]*\])*\])?\s*\([^{};]*)", R"((\w+)\s*\([^{};]*)",
     "func ", R"((?s)type\s+(\w+)(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s+(?:=\s*)?[^\s(].*)", R"((?:const|var)\s+(\w+)\b[^\n;]*)",
     R"((?m)^(?:type|const|var)\s+%\b|^\t%(?:\s+[\w.\[\]]+)?\s*=[^=])",
     R"((?m)^func\s+(\([^)]*\)\s*)?%\s*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*)?\()"},
    {"rust",
     R"((?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z ]+\))?\s+)?(?:const\s+|async\s+|unsafe\s+|extern\s+"[^"]*"\s+)*fn\s+(\w+)\s*(?:<[^{};]*>)?\s*\([^{};]*)",
     R"((\w+)\s*\([^{};]*)", "pub fn ",
     R"((?s)(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z ]+\))?\s+)?(?:struct|enum|union|trait)\s+(\w+)\s*(?:<[^{};]*>)?(?:\s*:[^{};]*)?(?:\s*where\b[^{};]*)?\s*(?:\([^{}]*\)\s*(?:where\b[^{};]*)?;?|;|\{.*\})?)",
     R"((?:pub(?:\([a-z ]+\))?\s+)?(?:const|static|type)\s+(\w+)\s*[:=<][^{}]*)",
     R"((?m)^\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([a-z ]+\))?\s+)?(?:struct|enum|union|trait|const|static|type)\s+%\b)",
     R"((?m)^[ \t]*(?:pub(?:\([a-z ]+\))?\s+)?(?:const\s+|async\s+|unsafe\s+)*fn\s+()%\s*(?:<[^{};()]*>)?\s*\()"},
    {"java",
     R"((?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|static|final|abstract|synchronized|default)\s+)+(?:<[^{};]*>\s*)?(?:[\w.<>\[\], ?]+\s+)?(\w+)\s*\([^{};]*)",
     R"((?:<[^{};]*>\s*)?[\w.<>\[\], ?]+\s+(\w+)\s*\([^{};]*)", "public static ",
     R"((?s)(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp)\s+)*(?:class|interface|enum|record|@interface)\s+(\w+)\b.*)",
     R"((?:(?:public|protected|private|static|final)\s+)+[\w.<>\[\], ?]+\s+(\w+)\s*(?:=[^{}]*)?)",
     R"((?m)^[^/*\n(]*\b(?:class|interface|enum|record|[\w.<>\[\]?]+)\s+%\s*(?:[={;<]|extends|implements|$))",
     R"((?m)^[ \t]*()(?:(?:public|protected|private|static|final|abstract|synchronized)\s+)*(?:<[^{};()]*>\s*)?(?:[\w.<>\[\], ?]+\s+)?%\s*\()"},
};

}  // namespace

const PlainKind* find_plain(std::string_view kind) {
    const auto found =
        std::find_if(std::begin(plain_kinds), std::end(plain_kinds), [&](const PlainKind& each) { return each.name == kind; });
    return found == std::end(plain_kinds) ? nullptr : found;
}

}  // namespace agentforge::kernel
