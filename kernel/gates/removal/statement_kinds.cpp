// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/statement_kinds.hpp"

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"

namespace agentforge::kernel {

bool closes_a_block(std::string_view line) {
    static const RE2 closer(R"(^\s*(?:[)\]}]|(?:else|elif|except|finally|catch|rescue|ensure|end)\b))");
    return RE2::PartialMatch(string_piece(line), closer);
}

bool decides(std::string_view blanked) {
    static const RE2 deciding(
        R"(\b(?:if|elif|else|unless|while|for|switch|case|match|try|except|catch|return|raise|throw|panic|assert\w*|break|continue|goto|exit|abort|reject|Err)\b|\?[^.:])");
    return RE2::PartialMatch(string_piece(blanked), deciding);
}

bool decides_between(std::string_view blanked) {
    static const RE2 condition(R"(\b(?:if|elif|unless|while|until|for|switch|case|match|when|assert\w*)\b|&&|\|\||\?[^.:])");
    return RE2::PartialMatch(string_piece(blanked), condition);
}

bool is_one_word(std::string_view code) {
    static const RE2 word(R"(\s*\w+(?:\.\d+)?\s*)");
    return RE2::FullMatch(string_piece(code), word);
}

bool raises(std::string_view blanked) {
    static const RE2 raising(R"(\b(?:raise|throw|panic|assert\w*|exit|abort|reject|Err|errors?|Errorf|[eE]rr[A-Z]\w*)\b)");
    return RE2::PartialMatch(string_piece(blanked), raising);
}

std::string without_errors(std::string_view code) {
    static const RE2 error(R"(\b(?:raise|throw|panic|Err|errors|fmt\.Errorf|exit|abort)\b.*)");
    std::string text(code);
    RE2::GlobalReplace(&text, error, "");
    return text;
}

}  // namespace agentforge::kernel
