// SPDX-License-Identifier: Apache-2.0
// What only Rust needs: `impl` blocks, traits, uses and modules.
#include "gates/stubs/plain/plain_writer.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "gates/language/source_text.hpp"
#include "gates/stubs/plain/plain_text.hpp"
#include "gates/stubs/plain/rust_code.hpp"

namespace agentforge::kernel {

std::string PlainWriter::declare_impl(const std::string& path, const std::string& signature) {
    const auto code = read_code(signature, bracket_rules()).code;
    const auto open = code.find('{');
    auto head = without_outer_blanks(std::string_view(signature).substr(0, std::min(open, signature.size())));
    static const RE2 parts_of(
        R"((?s)^(?:unsafe\s+)?impl\b\s*(?:<.*?>\s+|<[^<>]*>\s*)?(?:(?:\w+::)*(\w+)\s*(<.*>)?\s+for\s+)?&?.*$)");
    std::string trait;
    std::string argument;
    if (!RE2::FullMatch(head, parts_of, &trait, &argument)) { return "`" + signature + "` is not an `impl`"; }
    std::string body;
    if (open != std::string::npos) {
        const auto close = closing_bracket(code, open);
        if (close == std::string::npos) { return "the brackets in `" + signature + "` do not match"; }
        body = signature.substr(open + 1, close - open - 1);
    } else if (const auto* known = functions_of_trait(trait); known != nullptr) {
        body = *known;
        auto other = argument.size() > 2 ? argument.substr(1, argument.size() - 2) : std::string("Self");
        if (const auto at = body.find('%'); at != std::string::npos) { body.replace(at, 1, other); }
    } else {
        return "give the associated types and functions of `" + head + "`, the functions without bodies, such as `" + head +
               " { type Output = i32; fn name(&self) -> i32; }`";
    }
    auto& text = content(path);
    if (without_any_blanks(text).find(without_any_blanks(head) + "{") != std::string::npos) { return {}; }
    const auto lines = impl_lines(body, trait);
    if (!lines.starts_with("    ") && !lines.empty()) { return lines; }
    write(text, head + (lines.empty() ? " {}\n" : " {\n" + lines + "}\n"));
    import_what_is_named(content(path), head + body);
    use_types_of_others(path, head + body);
    return {};
}

std::string PlainWriter::impl_lines(const std::string& body, const std::string& trait) const {
    const auto code = read_code(body, bracket_rules()).code;
    std::string lines;
    for (std::size_t begin = 0; begin < body.size();) {
        auto end = begin;
        while (end < code.size() && code[end] != ';' && code[end] != '{') {
            end = code[end] == '(' || code[end] == '[' ? std::min(closing_bracket(code, end), code.size() - 1) + 1 : end + 1;
        }
        const auto item = without_outer_blanks(std::string_view(body).substr(begin, end - begin));
        const bool has_body = end < code.size() && code[end] == '{';
        begin = has_body ? std::min(closing_bracket(code, end), code.size() - 1) + 1 : end + 1;
        if (item.empty()) { continue; }
        std::string name;
        if (RE2::FullMatch(item, kind_.function, &name)) {
            // A destructor that panics ends the whole program.
            lines +=
                (lines.empty() ? "    " : "\n    ") + (trait == "Drop" ? item + " {}" : function_text(item, name, "    ")) + "\n";
        } else if (!has_body && RE2::PartialMatch(item, R"(^(?:#\[[^\]]*\]\s*)*(?:pub\s+)?(?:type|const)\s)")) {
            lines += "    " + item + ";\n";
        } else {
            return "`" + item + "` is neither a function nor a type nor a constant";
        }
    }
    return lines;
}

void PlainWriter::write_in_impl(const std::string& path, std::string& text, const std::string& owner, const std::string& lines) {
    const auto generics = generics_of(text, owner);
    const auto block = "impl" + generics.declared + " " + owner + generics.used +
                       (generics.bounds.empty() ? std::string() : " " + generics.bounds) + " {\n";
    const auto mark = text.rfind(block);
    if (!is_ours(path, block) || mark == std::string::npos) {
        ours_.insert(path + block);
        return write(text, block + lines + "}\n");
    }
    const auto end = closing_bracket(text, mark + block.size() - 2);
    text.insert(end, "\n" + lines);
}

bool PlainWriter::write_in_trait(std::string& text, const std::string& name, const std::string& owner,
                                 std::string signature) const {
    const auto code = read_code(text, bracket_rules()).code;
    const RE2 head(R"(\btrait\s+)" + owner + R"(\b[^{;]*\{)");
    re2::StringPiece found;
    if (!head.Match(code, 0, code.size(), RE2::UNANCHORED, &found, 1)) { return false; }
    const auto open = static_cast<std::size_t>(found.data() - code.data()) + found.size() - 1;
    const auto close = closing_bracket(code, open);
    if (close == std::string::npos) { return false; }
    const re2::StringPiece body(code.data() + open, close - open);
    if (RE2::PartialMatch(body, R"(\bfn\s+)" + name + R"(\b)")) { return true; }
    static const RE2 visible(R"(\bpub(?:\([a-z ]+\))?\s+)");
    RE2::Replace(&signature, visible, "");
    // An existing trait has other implementations.
    const auto before = contents_.find(path_of(text));
    const bool is_new = before == contents_.end() || !RE2::PartialMatch(before->second, head);
    auto place = close;
    while (place > open + 1 && (text[place - 1] == ' ' || text[place - 1] == '\t')) { --place; }
    text.insert(place, std::string(text[place - 1] == '\n' ? "" : "\n") + "    " +
                           (is_new ? signature + ";" : function_text(signature, name, "    ")) + "\n");
    return true;
}

void PlainWriter::import_rust(std::string& text, const std::string& signature) const {
    auto plain = signature;
    static const RE2 attribute(R"(#\[[^\]]*\])");
    RE2::GlobalReplace(&plain, attribute, "");
    for (const auto& [module, words] : standard_rust_modules()) {
        for (auto rest = words; !rest.empty();) {
            const auto end = std::min(rest.find(' '), rest.size());
            const std::string word(rest.substr(0, end));
            rest.remove_prefix(std::min(rest.size(), end + 1));
            const bool is_module = module == "std";
            if (!RE2::PartialMatch(plain, R"((?:^|[^\w:'.]))" + word + (is_module ? "::" : R"((?:[^\w:]|$))")) ||
                declared_types_.contains(word) || RE2::PartialMatch(text, with_name(kind_.named, word)) ||
                RE2::PartialMatch(text, R"((?m)^\s*(?:pub\s+)?use\b[^;]*\b)" + word + R"(\s*(?:[;,}]|\bas\b))") ||
                text.find("use " + std::string(module) + "::*") != std::string::npos) {
                continue;
            }
            insert_use(text, std::string(module) + "::" + word);
        }
    }
}

void PlainWriter::use_types_of_others(const std::string& path, const std::string& signature) {
    for (const auto& [name, file] : declared_types_) {
        auto& text = content(path);
        const bool named = RE2::PartialMatch(signature, R"((?:^|[^\w:]))" + name + R"(\b)");
        if (!named || file == path || crate_of(file) != crate_of(path) ||
            RE2::PartialMatch(text, R"((?m)^\s*(?:pub\s+)?use\b[^;]*\b)" + name + R"(\b)") || is_named(path, name)) {
            continue;
        }
        insert_use(text, "crate" + module_path(file) + "::" + name);
    }
}

void PlainWriter::declare_module(const std::string& path) {
    const auto folder = folder_path(path);
    const auto module = stem_of(path);
    if (module == "lib" || module == "main" || module == "mod") { return; }
    for (const auto* parent : {"lib.rs", "main.rs", "mod.rs"}) {
        const auto file = folder.empty() ? std::string(parent) : folder + "/" + parent;
        if (!files_.contains(file) && !contents_.contains(file)) { continue; }
        auto& text = content(file);
        if (!RE2::PartialMatch(text, R"((?m)^\s*(?:pub(?:\([a-z ]+\))?\s+)?mod\s+)" + module + R"(\b)")) {
            static const RE2 head(R"((?:(?:[ \t]*(?://(?:[^/\n][^\n]*)?|#!\[[^\n]*))?\n)*)");
            re2::StringPiece rest(text);
            RE2::Consume(&rest, head);  // Comments and attributes of the file itself stay at the top.
            const bool says = text.starts_with("//!") || text.starts_with("#![");
            text.insert(says ? static_cast<std::size_t>(rest.data() - text.data()) : 0, "pub mod " + module + ";\n");
        }
        return;
    }
}

}  // namespace agentforge::kernel
