// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/code_vocabulary.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "gates/language/string_piece.hpp"
#include "gates/removal/removal_request.hpp"
#include "gates/removal/source_lines.hpp"

namespace agentforge::kernel {

bool is_text(const CodeLiteral& literal) { return literal.value.find_first_of("\"'`") != std::string::npos; }

std::vector<std::string> names_of_code(std::string_view code) {
    static const RE2 name(R"((?:^|[^\w])([A-Za-z_]\w*|\d\d+))");
    std::vector<std::string> names;
    auto rest = string_piece(code);
    std::string found;
    while (RE2::FindAndConsume(&rest, name, &found)) { names.push_back(found); }
    return names;
}

Vocabulary vocabulary_of(std::string_view code, const CodeRules& rules) {
    Vocabulary all;
    const auto read = read_code(code, rules);
    const auto add = [&](const std::string& name) {
        for (auto& part : parts_of_name(name)) { all.parts.insert(std::move(part)); }
    };
    // `read_code` blanks directives: `#define` names things, too.
    for (const auto line : lines_of(code)) {
        if (!rules.preprocessor || !bare_line(line).starts_with('#')) { continue; }
        for (const auto& name : names_of_code(line)) { all.names.insert(name), add(name); }
    }
    for (const auto& name : names_of_code(read.code)) { all.names.insert(name), add(name); }
    for (const auto& literal : read.literals) {
        if (!is_text(literal)) { continue; }
        if (literal.informative) { all.names.insert(literal.value); }
        const bool has_code = literal.value.find('{') != std::string::npos;  // `f"{total}"`.
        for (const auto& word : names_of_code(literal.value)) {
            add(word);
            if (has_code) { all.names.insert(word); }
        }
    }
    return all;
}

bool is_own_name(const std::string& name, const std::string& code) {
    const std::string word = RE2::QuoteMeta(name);
    const RE2 bound(
        "(?m)\\b(?:def|func|fn|function|class|struct|type|enum|trait|interface|const|let|var|val|static|define|for|as|mut|import)\\s+(?:mut\\s+)?" +
        word + "\\b|(?:^|[^\\w.])" + word + "\\s*(?:=[^=]|:=|[-+*/|&]=)|^\\s*[\\w:<>,*&\\s]+[\\s*&]" + word +
        "\\s*[;,\\[]|\\b(?:def|func|fn|function)\\b[^(\\n]*\\([^)\\n]*\\b" + word + "\\b|^\\s*[\\w:<>,*&\\s]+\\([^;\\n]*\\b" +
        word + "\\b[^;\\n]*\\)\\s*\\{|\\(?[^()\\n]*\\b" + word + "\\b[^()\\n]*\\)?\\s*=>|^\\s*" + word + "\\s*:|#\\s*define\\s+" +
        word + "\\b|(?:self|this)\\." + word + "\\s*=[^=]");
    return RE2::PartialMatch(code, bound);
}

bool declares_one_of(std::string_view blanked, const std::set<std::string>& names) {
    const auto line = bare_line(blanked);
    const auto head = line.substr(0, line.find_first_of("(={"));
    const auto found = names_of_code(head);
    if (std::ranges::any_of(found, [&](const std::string& name) { return names.contains(name); })) { return true; }
    static const RE2 prototype(R"(^[\w:<>,*&\s\[\]]+[\s*&](\w+)\s*\([^{}]*;?$)");
    std::string name;
    return RE2::PartialMatch(string_piece(line), prototype, &name) && names.contains(name);
}

std::string file_stem(const std::string& path) {
    const auto name = path.substr(path.rfind('/') + 1);
    return name.substr(0, name.find('.'));
}

}  // namespace agentforge::kernel
