// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/c_file.hpp"
#include "gates/stubs/c_types.hpp"

#include <algorithm>
#include <utility>

#include "gates/stubs/c_signature.hpp"
#include "gates/stubs/c_text.hpp"

namespace agentforge::kernel {

bool is_c_scope(const std::vector<std::string>& one, const std::vector<std::string>& other) {
    const auto& longer = one.size() < other.size() ? other : one;
    const auto& shorter = one.size() < other.size() ? one : other;
    return std::equal(shorter.rbegin(), shorter.rend(), longer.rbegin());
}

CFile::CFile(std::string path, std::string text, bool is_c) : path_(std::move(path)), text_(std::move(text)), is_c_(is_c) {
    crlf_ = text_.find("\r\n") != std::string::npos;
    if (crlf_) { std::erase(text_, '\r'); }
    before_ = text_;
    if (text_.empty() && c_text::is_header(path_)) { text_ = "#pragma once\n"; }
}

std::string CFile::content() const {
    if (!crlf_) { return text_; }
    std::string result;
    for (const auto each : text_) { result += each == '\n' ? "\r\n" : std::string(1, each); }
    return result;
}

const std::vector<CDeclaration>& CFile::declarations() const {
    if (!read_) { read_ = read_c_declarations(text_); }
    return *read_;
}

void CFile::edit(std::size_t at, std::size_t length, const std::string& text) {
    text_.replace(at, length, text);
    read_.reset();
    wrote_ = true;
}

const CDeclaration* CFile::class_named(const std::vector<std::string>& parts) const {
    auto scope = parts;
    const auto name = scope.back();
    scope.pop_back();
    const CDeclaration* typedefed = nullptr;
    for (const auto& each : declarations()) {
        if (each.name != name || !is_c_scope(each.scope, scope) || each.body.empty()) { continue; }
        if (each.kind == CDeclaration::Kind::type) { return &each; }
        // `typedef struct node { … } node_t;`
        if (each.kind == CDeclaration::Kind::alias && each.type != name) { typedefed = class_named({each.type}); }
    }
    return typedefed;
}

bool CFile::defines_type(const std::string& name) const {
    return std::any_of(declarations().begin(), declarations().end(), [&](const CDeclaration& each) {
        const bool type = each.kind == CDeclaration::Kind::type || each.kind == CDeclaration::Kind::enumeration;
        return each.name == name && (each.kind == CDeclaration::Kind::alias || (type && !each.body.empty()));
    });
}

bool CFile::mentions(const std::string& name) const {
    return c_text::find_word(c_text::code_only(text_), name) != std::string::npos;
}
bool CFile::has_define(const std::string& name) const { return c_text::find_word(text_, "#define " + name) != std::string::npos; }

bool CFile::includes(const std::string& line) const {
    return includes_.contains(line) || text_.find("#include " + line) != std::string::npos;
}
void CFile::include(const std::string& line) {
    if (text_.find("#include " + line) == std::string::npos) { includes_.insert(line); }
}
void CFile::include_for_skeleton(bool aborts) {
    if (!aborts) { return include("<stdexcept>"); }
    include(is_c_ ? "<stdio.h>" : "<cstdio>");
    include(is_c_ ? "<stdlib.h>" : "<cstdlib>");
}

void CFile::finish() {
    for (const auto& type : new_types_) { move_before_use(type); }
    if (includes_.empty()) { return; }
    const auto code = c_text::code_only(text_);
    // After the last include that is always read; else after `#pragma once` or the guard; else at the top.
    auto place = std::size_t{0};
    int depth = guard_end() > 0 ? -1 : 0;
    for (std::size_t at = 0; at < code.size(); at = line_end(at)) {
        const auto line = c_text::squeezed(std::string_view(code).substr(at, line_end(at) - at));
        if (line.starts_with("#if")) { ++depth; }
        if (line.starts_with("#endif")) { --depth; }
        if ((line.starts_with("#include") || line.starts_with("# include")) && depth <= 0) { place = line_end(at); }
    }
    if (place == 0) {
        if (const auto pragma = code.find("#pragma once"); pragma != std::string::npos) {
            place = line_end(pragma);
            text_.insert(place, "\n");
            ++place;
        } else if (const auto guard = guard_end(); guard > 0) {
            place = guard;
            text_.insert(place, "\n");
            ++place;
        }
    }
    std::string lines;
    for (const auto& each : includes_) {
        if (each.front() == '<') { lines += "#include " + each + "\n"; }
    }
    const bool both = !lines.empty() && includes_.begin()->front() == '"';
    if (both) { lines += "\n"; }
    for (const auto& each : includes_) {
        if (each.front() == '"') { lines += "#include " + each + "\n"; }
    }
    if (place == 0 && !text_.empty()) { lines += "\n"; }
    edit(place, 0, lines);
}

/// The place before `#endif` of the guard, and before the end of an `extern "C"` that is only for C++.
std::size_t CFile::end_of_declarations() const {
    const auto code = c_text::code_only(text_, '0');
    auto place = text_.size();
    if (guard_end() > 0 && code.find("#endif") != std::string::npos) { place = line_begin(code.rfind("#endif")); }
    const auto open = c_text::find_word(code, "extern 000 {");
    const auto end = open == std::string::npos ? open : c_text::closing(code, code.find('{', open));
    if (!is_c_ || end == std::string::npos || end > place) { return place; }
    const auto before = code.rfind("#if", end);
    return before != std::string::npos && before > open ? line_begin(before) : line_begin(end);
}

namespace {

std::string in_namespaces(const std::vector<std::string>& spaces, const std::string& declaration) {
    if (spaces.empty()) { return declaration; }
    // Nested one by one: C++11 and 14 lack a::b.
    std::string head;
    std::string tail;
    for (const auto& each : spaces) {
        head += (head.empty() ? "namespace " : " namespace ") + each + " {";
        tail += "}";
    }
    return head + "\n\n" + declaration + "\n" + tail + "  // namespace " + qualified_c_name(spaces) + "\n";
}

bool is_type(const CDeclaration& each) {
    return each.kind == CDeclaration::Kind::type || each.kind == CDeclaration::Kind::enumeration ||
           each.kind == CDeclaration::Kind::alias;
}

}  // namespace

void CFile::append_type(const std::vector<std::string>& spaces, const std::string& name, const std::string& declaration) {
    append(spaces, declaration);
    new_types_.push_back({spaces, name, declaration, in_namespaces(spaces, declaration)});
}

const CDeclaration* CFile::user_above(const NewType& type, std::size_t place) const {
    const auto needed = c_words(type.declaration);
    const CDeclaration* user = nullptr;
    for (const auto& each : declarations()) {
        if (each.range.begin >= place) { break; }
        if (user != nullptr && is_type(each) && each.name != type.name && needed.contains(each.name)) { return nullptr; }
        const bool here = user == nullptr && !each.in_class && each.scope == type.spaces && each.name != type.name;
        if (here && c_words(text_.substr(each.range.begin, each.range.end - each.range.begin)).contains(type.name)) {
            user = &each;
        }
        if (user == &each && is_type(each) && needed.contains(each.name)) { return nullptr; }
    }
    return user;
}

void CFile::move_before_use(const NewType& type) {
    const auto place = text_.rfind(type.block);
    const auto* const user = place == std::string::npos ? nullptr : user_above(type, place);
    if (user == nullptr) { return; }
    const auto before = comment_begin(user->range.begin);
    const bool blank_above = place > 0 && text_[place - 1] == '\n' && place > 1 && text_[place - 2] == '\n';
    edit(place - (blank_above ? 1 : 0), type.block.size() + (blank_above ? 1 : 0), "");
    edit(before, 0, type.declaration + "\n");
}

std::size_t CFile::comment_begin(std::size_t at) const {
    auto begin = line_begin(at);
    while (begin > 0) {
        const auto above = line_begin(begin - 1);
        const auto line = c_text::squeezed(std::string_view(text_).substr(above, begin - above));
        const auto first = line.find_first_not_of(' ');
        if (first == std::string::npos || (line.compare(first, 2, "//") != 0 && line.find("*/") == std::string::npos)) { break; }
        const auto open = line.find("*/") == std::string::npos ? above : text_.rfind("/*", begin);
        begin = line_begin(open == std::string::npos ? above : open);
    }
    return begin;
}

void CFile::append(const std::vector<std::string>& spaces, const std::string& declaration) {
    const std::string block = in_namespaces(spaces, declaration);
    const auto place = end_of_declarations();
    std::string lead;
    if (place > 0 && text_[place - 1] != '\n') { lead = "\n"; }
    if (place > 0) { lead += "\n"; }
    edit(place, 0, lead + block + (place < text_.size() ? "\n" : ""));
}

void CFile::add_member(const CDeclaration& owner, const std::string& declaration, const std::string& access) {
    auto place = owner.body.end - 1;
    while (place > owner.body.begin + 1 && (text_[place - 1] == ' ' || text_[place - 1] == '\t')) { --place; }
    const bool fresh_line = text_[place - 1] == '\n';
    const bool accessible = owner.access == access || (is_c_ && owner.keyword != "class");
    edit(place, 0, std::string(fresh_line ? "" : "\n") + (accessible ? "" : "\n" + access + ":\n") + declaration);
}

void CFile::replace(const CRange& range, const std::string& text) { edit(range.begin, range.end - range.begin, text); }

void CFile::erase(const CRange& range) {
    const auto begin = line_begin(range.begin);
    const auto end = line_end(range.end - 1);
    const bool alone = c_text::squeezed(text_.substr(begin, range.begin - begin)).size() < 2 &&
                       c_text::squeezed(text_.substr(range.end, end - range.end)).empty();
    if (alone) { return edit(begin, end - begin, ""); }
    edit(range.begin, range.end - range.begin, "");
}

std::size_t CFile::line_end(std::size_t at) const {
    const auto end = text_.find('\n', at);
    return end == std::string::npos ? text_.size() : end + 1;
}
std::size_t CFile::line_begin(std::size_t at) const {
    const auto begin = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
    return begin == std::string::npos ? 0 : begin + 1;
}

/// Returns the position after the `#define` of an include guard; 0: there is none.
std::size_t CFile::guard_end() const {
    const auto code = c_text::code_only(text_);
    const auto first = code.find_first_not_of(" \t\n");
    if (first == std::string::npos || code.compare(first, 7, "#ifndef") != 0) { return 0; }
    const auto define = code.find("#define", first);
    return define == std::string::npos ? 0 : line_end(define);
}

}  // namespace agentforge::kernel
