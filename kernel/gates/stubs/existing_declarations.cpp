// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/existing_declarations.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <re2/re2.h>

#include "gates/stubs/c_signature.hpp"
#include "gates/stubs/c_text.hpp"
#include "gates/stubs/c_types.hpp"

namespace agentforge::kernel {
namespace {

constexpr int most_derived = 16;  ///< Of classes below each other.

/// True if this is the function of that scope: a method of the class, or a function of the namespace.
bool is_in_scope(const CDeclaration& each, const std::vector<std::string>& scope, bool is_member) {
    if (is_member) {
        return (each.in_class || each.is_qualified) && !each.scope.empty() && each.scope.back() == scope.back() &&
               is_c_scope(each.scope, scope);
    }
    if (each.in_class || (each.is_qualified && scope.empty())) { return false; }
    if (!each.is_qualified && each.scope.size() < scope.size()) { return false; }
    return is_c_scope(each.scope, scope);
}

/// `A a, b;` or `int f(), g();`
bool has_several_declarators(std::string_view text, const CDeclaration& each) {
    int depth = 0;
    for (const char letter : c_text::code_only(text.substr(each.tail.begin, each.tail.end - each.tail.begin))) {
        if (letter == '(' || letter == '<') { ++depth; }
        if (letter == ')' || letter == '>') { --depth; }
        if (letter == ',' && depth == 0) { return true; }
    }
    return false;
}

std::string with_words(const std::string& text, const std::map<std::string, std::string>& renamed) {
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        auto end = at;
        while (end < text.size() && c_text::is_word(text[end])) { ++end; }
        const auto word = text.substr(at, std::max(end, at + 1) - at);
        const auto other = renamed.find(word);
        result += other == renamed.end() ? word : other->second;
        at += word.size();
    }
    return result;
}

/// `template <class T>` of the file and `template <class Value>` of the specification may be the same template.
void use_template_names_of(const CDeclaration& have, CDeclaration& wanted) {
    std::map<std::string, std::string> renamed;
    for (std::size_t at = 0; at < have.template_names.size() && at < wanted.template_names.size(); ++at) {
        if (!wanted.template_names[at].empty()) { renamed[wanted.template_names[at]] = have.template_names[at]; }
    }
    if (renamed.empty()) { return; }
    wanted.written_type = with_words(wanted.written_type, renamed);
    for (auto& each : wanted.parameters) { each.text = with_words(each.text, renamed); }
}

std::string joined(const std::vector<std::string>& parts, const std::string& last) {
    auto all = parts;
    all.push_back(last);
    return qualified_c_name(all);
}

}  // namespace

WantedFunction ExistingDeclarations::read_wanted(const std::string& signature, const std::string& owner, bool is_c) const {
    // A method is read inside its class: so a constructor is one.
    const std::string lead = owner.empty() ? "" : "struct " + owner + " {\n";
    WantedFunction wanted{lead + signature + (owner.empty() ? ";" : ";\n};"), {}, is_c, marker_};
    for (const auto& each : read_c_declarations(wanted.text)) {
        if (each.kind == CDeclaration::Kind::function) { wanted.read = each; }
    }
    return wanted;
}

void ExistingDeclarations::note_wanted(const std::vector<SkeletonInterface>& interfaces) {
    for (const auto& each : interfaces) {
        const auto read = read_c_declarations(each.signature + ";");
        if (read.size() == 1 && read.front().kind == CDeclaration::Kind::function) { wanted_.push_back(read.front()); }
    }
}

bool ExistingDeclarations::is_wanted_elsewhere(const CDeclaration& have, const CDeclaration& wanted) const {
    return !has_same_parameters(have, wanted) && std::any_of(wanted_.begin(), wanted_.end(), [&](const CDeclaration& each) {
        return each.name == have.name && has_same_parameters(each, have);
    });
}

/// Returns the function that the wanted one replaces, in this file. Null: there is none, or, `is_same`, it is the wanted one.
const CDeclaration* ExistingDeclarations::older(const CFile& target, const WantedFunction& wanted,
                                                const std::vector<std::string>& scope, bool is_member, bool& is_same) const {
    const CDeclaration* found = nullptr;
    int best = 0;
    for (const auto& each : target.declarations()) {
        if (each.kind != CDeclaration::Kind::function || each.name != wanted.read.name || !is_in_scope(each, scope, is_member)) {
            continue;
        }
        const auto match = match_c_function(each, wanted);
        // `at() const` is not an older `at()` if both exist.
        const bool exact = has_same_parameters(each, wanted.read);
        const int rank = 1 + (exact ? 1 : 0) + (exact && each.is_const == wanted.read.is_const ? 1 : 0);
        if (match == CMatch::same && rank >= best) {
            is_same = true;
            if (rank > best) { found = nullptr; }
            best = rank;
        }
        if (match != CMatch::changed || is_wanted_elsewhere(each, wanted.read) || rank < best) { continue; }
        if (found != nullptr && rank == best && !has_same_parameters(*found, each)) {
            throw CannotDeclare{
                "`" + wanted.read.name + "` in " + target.path() +
                " has several overloads that calls of the new one would fit; name all overloads that shall exist"};
        }
        // A definition behind its declaration may look the same: it lacks `virtual`.
        if (found == nullptr || rank > best) { found = &each; }
        best = rank;
    }
    if (found != nullptr) { is_same = false; }
    return found;
}

/// Returns all declarations and definitions of the function in the project.
std::vector<ExistingDeclarations::Found> ExistingDeclarations::all_of(CFile& target, const CDeclaration& model,
                                                                      const std::vector<std::string>& scope, bool is_member) {
    std::vector<CFile*> files{&target};
    if (!model.is_local) { files = project_.files_with({model.name}); }
    std::vector<Found> found;
    std::vector<Found> similar;
    for (auto* file : files) {
        for (const auto& each : file->declarations()) {
            if (each.kind != CDeclaration::Kind::function || each.name != model.name || !is_in_scope(each, scope, is_member)) {
                continue;
            }
            if (file != &target && each.is_local) { continue; }
            const bool same_const = !is_member || each.is_const == model.is_const;
            if (same_const && has_same_parameters(each, model)) {
                found.push_back({file, each});
            } else if (target.is_c() || (same_const && each.parameters.size() == model.parameters.size())) {
                similar.push_back({file, each});
            }
        }
    }
    // An alias, or the name of a template's parameter, may stand for the same type. C has no overloads.
    const bool has_body =
        std::any_of(found.begin(), found.end(), [](const Found& each) { return !each.declaration.body.empty(); });
    const bool is_alone = similar.size() == 1 && similar.front().declaration.body.empty() == has_body &&
                          !(similar.front().declaration.in_class && model.in_class);
    if (target.is_c() || is_alone) { found.insert(found.end(), similar.begin(), similar.end()); }
    return found;
}

void ExistingDeclarations::add_overrides(const CDeclaration& model, const std::string& owner, std::vector<Found>& found,
                                         int depth) {
    if (depth > most_derived) { return; }
    for (auto* file : project_.files_with({owner})) {
        for (const auto& derived : file->declarations()) {
            if (derived.kind != CDeclaration::Kind::type ||
                std::find(derived.bases.begin(), derived.bases.end(), owner) == derived.bases.end()) {
                continue;
            }
            auto scope = derived.scope;
            scope.push_back(derived.name);
            for (auto* other : project_.files_with({model.name})) {
                for (const auto& each : other->declarations()) {
                    const bool same = each.kind == CDeclaration::Kind::function && each.name == model.name &&
                                      is_in_scope(each, scope, true) && has_same_parameters(each, model) &&
                                      each.is_const == model.is_const;
                    if (same) { found.push_back({other, each}); }
                }
            }
            add_overrides(model, derived.name, found, depth + 1);
        }
    }
}

bool ExistingDeclarations::change_function(CFile& target, const WantedFunction& wanted, const std::vector<std::string>& scope,
                                           bool is_member, const std::string& name) {
    if (wanted.read.name.empty()) { return false; }
    bool is_same = false;
    const auto* model = older(target, wanted, scope, is_member, is_same);
    if (model == nullptr) { return is_same; }
    const auto kept = *model;
    auto found = all_of(target, kept, scope, is_member);
    const bool is_virtual = std::any_of(found.begin(), found.end(), [](const Found& each) {
        const auto& function = each.declaration;
        return function.specifiers.contains("virtual") || function.overrides || function.is_final;
    });
    if (is_member && is_virtual) { add_overrides(kept, scope.back(), found, 0); }
    rewrite(std::move(found), wanted, name, is_member ? scope.back() : "");
    return true;
}

void ExistingDeclarations::rewrite(std::vector<Found> found, const WantedFunction& wanted, const std::string& name,
                                   const std::string& owner) {
    std::map<CFile*, std::map<std::size_t, CDeclaration>> by_file;
    for (auto& each : found) { by_file[each.file].emplace(each.declaration.range.begin, std::move(each.declaration)); }
    for (auto& [file, functions] : by_file) {
        const auto all = file->declarations();
        for (auto each = functions.rbegin(); each != functions.rend(); ++each) {
            const auto& function = each->second;
            if (has_several_declarators(file->text(), function)) {
                throw CannotDeclare{"`" + name + "` is declared in " + file->path() +
                                    " together with others; its signature cannot change"};
            }
            const bool derived = !owner.empty() && !function.scope.empty() && function.scope.back() != owner;
            if (function.is_qualified && !derived && (wanted.read.value == "delete" || wanted.read.value == "0")) {
                file->erase(function.range);
                continue;
            }
            const bool first = function.range.begin == functions.begin()->first;
            const bool declares = !function.is_qualified &&
                                  (function.in_class || (first && (by_file.size() == 1 || c_text::is_header(file->path()))));
            auto mine = wanted;
            mine.is_c = file->is_c();
            if (derived) { mine.read.specifiers.erase("virtual"); }
            if (derived && mine.read.value == "0") { mine.read.value.clear(); }
            use_template_names_of(function, mine.read);
            const auto changed = change_c_function(file->text(), function, mine,
                                                   derived ? joined(function.scope, function.name) : name, all, declares);
            file->replace(function.range, changed.text);
            if (changed.is_skeleton) { file->include_for_skeleton(changed.aborts); }
        }
    }
}

bool ExistingDeclarations::change_value(CFile& target, const std::string& text, const std::vector<std::string>& parts) {
    auto scope = parts;
    const auto name = scope.back();
    scope.pop_back();
    // `typedef struct store { … } store_t;`: its fields are those of store.
    if (const auto* owner = scope.empty() ? nullptr : target.class_named(scope); owner != nullptr) {
        scope = owner->scope;
        scope.push_back(owner->name);
    }
    const auto read = read_c_declarations(text + ";");
    for (const auto& each : target.declarations()) {
        if (each.kind == CDeclaration::Kind::enumeration) {
            const bool has =
                std::any_of(each.enumerators.begin(), each.enumerators.end(), [&](const auto& one) { return one.name == name; });
            if (has && (scope.empty() || is_c_scope(each.scope, scope))) { return true; }
        }
        if (each.name != name || each.kind != CDeclaration::Kind::variable || each.scope.size() < scope.size() ||
            !is_c_scope(each.scope, scope)) {
            continue;
        }
        if (scope.empty() && each.in_class) { continue; }
        const bool differs = read.size() == 1 && read.front().kind == CDeclaration::Kind::variable &&
                             read.front().type != each.type && read.front().type != "auto" && each.type != "auto";
        if (!differs) { return true; }
        if (each.is_shared) {
            throw CannotDeclare{"`" + name + "` is declared in " + target.path() +
                                " together with others; its type cannot change"};
        }
        // An existing `static` or value stays.
        if (each.specifiers.contains("static") == read.front().specifiers.contains("static")) {
            const auto words = c_words(text);
            const bool built_in = std::all_of(words.begin(), words.end(), [&](const auto& word) {
                return word == name || c_text::is_type_word(word) || word == "const";
            });
            const bool keeps_value = built_in && read.front().value.empty() && !each.value.empty();
            target.replace(each.range, text + (keeps_value ? " " + each.value : "") + ";");
        }
        return true;
    }
    return target.has_define(name);
}

void ExistingDeclarations::add_enumerators(CFile& target, const CDeclaration& existing, const std::vector<CEnumerator>& wanted) {
    const auto known = existing.enumerators;
    const auto body = existing.body;
    const auto find = [&](const std::string& name) {
        return std::find_if(known.begin(), known.end(), [&](const CEnumerator& each) { return each.name == name; });
    };
    // Back to front, so the places stay right.
    std::map<std::size_t, std::string, std::greater<>> added;
    for (std::size_t at = 0; at < wanted.size(); ++at) {
        const auto& each = wanted[at];
        if (find(each.name) != known.end()) { continue; }
        const auto text = each.name + (each.value.empty() ? "" : " = " + each.value);
        auto before = known.end();
        for (auto other = at; other-- > 0 && before == known.end();) { before = find(wanted[other].name); }
        static const RE2 sentinel(R"((?i)(?:.*(?:count|max|last|end|size|total)_?|num_.*))");
        if (before == known.end() && wanted.size() == 1 && !known.empty()) {
            before = known.end() - 1;
            // `LEVEL_COUNT` stays the last.
            if (known.size() > 1 && before->value.empty() && RE2::FullMatch(before->name, sentinel)) { --before; }
        }
        if (known.empty()) {
            added[body.begin + 1] += " " + text + ",";
        } else if (before == known.end()) {
            added[known.front().range.begin] += text + ", ";
        } else {
            added[before->range.end] += ", " + text;
        }
    }
    for (const auto& [place, text] : added) { target.replace({place, place}, text); }
}

void ExistingDeclarations::change_alias(CFile& target, const CDeclaration& existing, const std::string& text) {
    const auto read = read_c_declarations(text + ";");
    const bool differs = read.size() == 1 && read.front().kind == CDeclaration::Kind::alias && read.front().type != existing.type;
    if (differs && existing.body.empty()) { target.replace(existing.range, text + ";"); }
}

void ExistingDeclarations::add_bases(CFile& target, const std::vector<std::string>& parts, const CDeclaration& wanted,
                                     const std::string& text) {
    const auto* existing = target.class_named(parts);
    if (existing == nullptr || wanted.bases.empty()) { return; }
    const auto open = text.find('{');
    const auto colon = text.find(':', wanted.head_end);
    if (colon == std::string::npos || open == std::string::npos || colon > open) { return; }
    std::string added;
    for (const auto& base : c_text::split_top(std::string_view(text).substr(colon + 1, open - colon - 1), ',')) {
        const auto words = c_words(base);
        const bool known =
            std::any_of(existing->bases.begin(), existing->bases.end(), [&](const auto& each) { return words.contains(each); });
        if (!known) { added += (added.empty() ? "" : ", ") + base; }
    }
    if (added.empty()) { return; }
    const bool has_bases = !existing->bases.empty();
    auto place = existing->body.begin;
    while (place > 0 && c_text::is_blank(target.text()[place - 1])) { --place; }
    target.replace({place, place}, (has_bases ? ", " : " : ") + added);
}

}  // namespace agentforge::kernel
