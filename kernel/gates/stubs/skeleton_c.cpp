// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/skeleton_c.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include <re2/re2.h>

#include "gates/stubs/c_changes.hpp"
#include "gates/stubs/c_file.hpp"
#include "gates/stubs/c_headers.hpp"
#include "gates/stubs/c_project.hpp"
#include "gates/stubs/c_signature.hpp"
#include "gates/stubs/c_text.hpp"
#include "gates/stubs/existing_declarations.hpp"

namespace agentforge::kernel {
namespace {

using c_text::closing;
using c_text::code_only;
using c_text::find_word;
using c_text::is_header;
using c_text::is_source;
using c_text::is_word;
using c_text::parameter_name;
using c_text::split_top;
using c_text::squeezed;
using c_text::types_alone;
using c_text::without_words;

void check_skeleton_path(const std::string& path) {
    if (!c_text::is_header(path) && !c_text::is_source(path)) {
        throw CannotDeclare{"the file `" + path + "` is neither a header nor a source file of C or C++"};
    }
    bool inside = path.front() != '/' && path.find('\\') == std::string::npos && path.find('\0') == std::string::npos;
    std::string_view rest = path;
    for (bool first = true; inside && !rest.empty(); first = false) {
        const auto slash = rest.find('/');
        const auto part = rest.substr(0, slash);
        inside = !part.empty() && part != "." && part != ".." && !(first && (part == ".git" || part == ".agentforge"));
        rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
    }
    if (!inside) { throw CannotDeclare{"the file `" + path + "` is not a path inside the project, or is in a protected folder"}; }
}

/// Returns ` : std::runtime_error("")` for a class that derives from a standard exception without a default constructor. Empty
/// for others. `head`: the class up to its body.
std::string base_initializer(const std::string& head) {
    static const RE2 base(R"([:,]\s*(?:(?:public|protected|private|virtual)\s+)*(std::\w+))");
    re2::StringPiece rest(head);
    for (std::string name; RE2::FindAndConsume(&rest, base, &name);) {
        if (c_text::is_standard_error(name)) { return " : " + name + "(\"\")"; }
    }
    return {};
}

class CSkeletonWriter {
public:
    CSkeletonWriter(const std::map<std::string, std::string>& contents, const std::vector<std::string>& existing,
                    const std::string& marker)
        : project_(contents, existing), existing_(project_, marker), marker_(marker) {}

    Skeletons write(std::vector<SkeletonInterface> interfaces) {
        for (auto& interface : interfaces) {
            interface.signature = c_text::without_comments(interface.signature);
            unwrap(interface);
        }
        interfaces_ = &interfaces;
        project_.note_specified(interfaces);
        existing_.note_wanted(interfaces);
        Skeletons result;
        // Types and values first, because methods and parameters need them.
        for (const bool types : {true, false}) {
            for (const auto& interface : interfaces) {
                try {
                    const bool is_type = !c_type_keyword(interface.signature).empty();
                    const bool is_value = !is_type && !value_of(interface.signature).empty();
                    const bool is_enumerator = !is_type && is_enumerator_signature(interface.signature);
                    if ((is_type || is_value || is_enumerator) != types) { continue; }
                    check_skeleton_path(interface.file);
                    if (is_type) {
                        type(interface);
                    } else if (is_enumerator) {
                        enumerator(interface);
                    } else if (is_value) {
                        value(interface);
                    } else {
                        function(interface);
                    }
                } catch (const CannotDeclare& problem) { result.problems.push_back(problem.why); }
            }
        }
        if (result.problems.empty()) { result.files = project_.written(); }
        return result;
    }

private:
    /// `namespace a { class b; }` is `a::b`.
    static void unwrap(SkeletonInterface& interface) {
        std::string spaces;
        auto text = squeezed(interface.signature);
        while (text.starts_with("namespace ")) {
            const auto open = text.find('{');
            const auto close = open == std::string::npos ? open : closing(code_only(text), open);
            if (close == std::string::npos || text.find_first_not_of("; ", close + 1) != std::string::npos) { return; }
            spaces += squeezed(std::string_view(text).substr(10, open - 10)) + "::";
            while (spaces.find(' ') != std::string::npos) { spaces.erase(spaces.find(' '), 1); }
            const auto inside = text.substr(open + 1, close - open - 1);
            text = squeezed(inside.substr(std::min(inside.find_first_not_of(' '), inside.size())));
        }
        if (spaces.empty()) { return; }
        interface.signature = text;
        if (!interface.name.starts_with(spaces)) { interface.name = spaces + interface.name; }
    }

    /// Returns the name of a variable, constant, field or `#define`. Empty: the signature is none.
    static std::string value_of(const std::string& signature) {
        if (const auto name = c_value_name(signature); !name.empty()) { return name; }
        const auto read = read_c_declarations(without_semicolon(signature) + ";");
        const bool is_value = read.size() == 1 && read.front().kind == CDeclaration::Kind::variable;
        return is_value ? read.front().name : std::string();
    }

    /// `green`, `green = 3` or `Color::green`.
    static bool is_enumerator_signature(const std::string& signature) {
        static const RE2 enumerator(R"(\s*(?:\w+::)*[A-Za-z_]\w*\s*(?:=[^(){};]*)?[,;]?\s*)");
        return RE2::FullMatch(signature, enumerator);
    }

    /// Returns the name of a class in a class that declares methods. Empty for other members.
    static std::string nested_type(const std::string& member) {
        const auto keyword = c_type_keyword(member);
        const auto open = member.find('{');
        if ((keyword != "class" && keyword != "struct") || open == std::string::npos ||
            member.find('(', open) == std::string::npos || member.back() != '}') {
            return {};
        }
        std::string name;
        RE2::PartialMatch(without_c_template(member), R"(^(?:class|struct)\s+(\w+))", &name);
        return name;
    }

    /// Returns a data member without its name and value: the types that it needs.
    static std::string without_name(const std::string& member) {
        const auto code = code_only(member);
        auto end = std::min(code.find_first_of("={;"), code.size());
        while (end > 0 && (code[end - 1] == ' ' || code[end - 1] == ']')) {
            end = code[end - 1] == ']' ? std::min(code.rfind('[', end - 1), end - 1) : end - 1;
        }
        while (end > 0 && is_word(code[end - 1])) { --end; }
        return code.substr(0, end);
    }

    /// Returns a class as written, with the skeleton's body for each method that it declares.
    std::string with_bodies(CFile& target, const std::string& text, const std::string& name) {
        const auto code = code_only(text);
        const auto open = code.find('{');
        const auto close = closing(code, open);
        if (close == std::string::npos) { throw CannotDeclare{"the brackets in the signature `" + text + "` do not match"}; }
        auto result = text.substr(0, open + 1) + "\n";
        auto begin = open + 1;
        for (auto at = begin; at <= close; ++at) {
            if (at < close && (code[at] == '(' || code[at] == '{' || code[at] == '[')) { at = closing(code, at); }
            const bool colon = at < close && code[at] == ':' && code[at + 1] != ':' && code[at - 1] != ':';
            // A bit-field, or the base of a nested type.
            const bool label = colon && (code.substr(begin, at - begin).find('(') != std::string::npos ||
                                         RE2::FullMatch(code.substr(begin, at - begin), R"(\s*(?:public|protected|private)\s*)"));
            if (at < close && code[at] != ';' && !label) { continue; }
            auto member = squeezed(std::string_view(text).substr(begin, at - begin));
            member.erase(0, std::min(member.find_first_not_of(' '), member.size()));
            begin = at + 1;
            if (member.empty()) { continue; }
            if (label && (member == "public" || member == "protected" || member == "private")) {
                result += member + ":\n";
            } else if (label) {
                throw CannotDeclare{"the signature `" + text + "` has text after `:` that a skeleton cannot have"};
            } else if (const auto inner = nested_type(member); !inner.empty()) {
                result += "    " + with_bodies(target, member, name + "::" + inner) + ";\n";
            } else if (!is_c_method(member)) {
                project_.include_project_headers(target, without_name(member));
                result += "    " + member + ";\n";
            } else {
                // A function that can only throw is no constant expression.
                const auto function = parse_c_function(without_words(member, {"constexpr ", "consteval "}));
                target.include_for_skeleton(target.is_c() || function.aborts());
                project_.include_project_headers(target, function.text.substr(0, function.name) +
                                                             types_alone(function.parameters()) +
                                                             function.text.substr(function.close));
                const bool constructs = function.own_name() == c_name_parts(name).back();
                result += "    " + function.text + (constructs ? base_initializer(text.substr(0, open)) : std::string()) +
                          body(function, name + "::" + function.own_name(), target.is_c(), "    ");
            }
        }
        return result + "}";
    }

    CFile& file(const std::string& path) { return project_.file(path); }

    /// The namespaces of `a::b::f`, or the scope of the class if `b` is one.
    struct Scope {
        std::vector<std::string> parts;  ///< All but the name.
        bool is_member = false;
    };

    /// `target` becomes the header of the class, if another file was named.
    Scope scope_of(std::vector<std::string> parts, CFile*& target) {
        parts.pop_back();
        if (parts.empty()) { return {}; }
        if (target->class_named(parts) != nullptr) { return {parts, true}; }
        if (auto* header = project_.header_of_class(parts); header != nullptr) {
            target = header;
            return {parts, true};
        }
        const bool named = std::any_of(interfaces_->begin(), interfaces_->end(), [&](const SkeletonInterface& each) {
            const auto keyword = c_type_keyword(each.signature);
            return (keyword == "class" || keyword == "struct") && c_name_parts(each.name).back() == parts.back();
        });
        return {parts, named};
    }

    static std::vector<std::string> without_last(std::vector<std::string> parts) {
        parts.pop_back();
        return parts;
    }

    /// Returns the enum of `Color::green`, or the only one of the file. Throws CannotDeclare.
    const CDeclaration& enum_of(const SkeletonInterface& interface, const std::vector<std::string>& parts, CFile*& target) {
        std::vector<CFile*> files{target};
        if (parts.size() > 1) {
            for (auto* each : project_.files_with({parts[parts.size() - 2]})) {
                if (each != target) { files.push_back(each); }
            }
        }
        for (auto* each : files) {
            const CDeclaration* only = nullptr;
            bool several = false;
            for (const auto& declaration : each->declarations()) {
                if (declaration.kind != CDeclaration::Kind::enumeration || declaration.body.empty()) { continue; }
                const bool own = parts.size() > 1 && declaration.name == parts[parts.size() - 2];
                if (parts.size() > 1 && !own) { continue; }
                several = only != nullptr;
                only = &declaration;
            }
            if (several) { break; }
            if (only != nullptr) {
                target = each;
                return *only;
            }
        }
        throw CannotDeclare{"the signature `" + interface.signature + "` has no type, and " + interface.file +
                            (parts.size() > 1 ? " has no enum `" + parts[parts.size() - 2] + "`"
                                              : " does not have exactly one enum; name it: `Enum::" + parts.back() + "`")};
    }

    void enumerator(const SkeletonInterface& interface) {
        const auto text = without_semicolon(squeezed(interface.signature));
        const auto equals = text.find('=');
        const auto own = c_name_parts(squeezed(text.substr(0, std::min(text.find_first_of("=,"), text.size()))));
        auto parts = c_name_parts(interface.name);
        if (own.back() != parts.back()) {
            throw CannotDeclare{"the signature `" + interface.signature + "` declares `" + own.back() +
                                "`, but the interface is called `" + interface.name + "`"};
        }
        if (own.size() > parts.size()) { parts = own; }
        auto* target = &file(interface.file);
        const auto& existing = enum_of(interface, parts, target);
        auto given = equals == std::string::npos ? std::string() : squeezed(text.substr(equals + 1));
        given.erase(0, given.find_first_not_of(' ') == std::string::npos ? 0 : given.find_first_not_of(' '));
        while (given.ends_with(',')) { given.pop_back(); }
        existing_.add_enumerators(*target, existing, {{parts.back(), given, {}}});
    }

    void value(const SkeletonInterface& interface) {
        auto parts = c_name_parts(interface.name);
        const auto name = value_of(interface.signature);
        if (name != parts.back()) {
            throw CannotDeclare{"the signature `" + interface.signature + "` declares `" + name +
                                "`, but the interface is called `" + interface.name + "`"};
        }
        const auto text = without_semicolon(squeezed(interface.signature));
        auto* target = &file(interface.file);
        if (text.front() == '#') {
            if (target->has_define(name)) { return; }
            auto lines = without_semicolon(interface.signature);
            while (lines.back() == '\n') { lines.pop_back(); }
            return target->append({}, lines + "\n");
        }
        const auto scope = scope_of(parts, target);
        if (existing_.change_value(*target, text, parts)) { return; }
        if (c_value_name(text).empty() && !scope.is_member) {
            throw CannotDeclare{"the signature `" + interface.signature +
                                "` is a variable without a value; give it one, write `extern`, or name "
                                "the class of the field: `Class::" +
                                name + "`"};
        }
        project_.include_for(*target, without_name(text));
        for (const auto& header : standard_c_headers(text, target->is_c())) { target->include(header); }
        if (const auto* owner = scope.is_member ? target->class_named(scope.parts) : nullptr; owner != nullptr) {
            return target->add_member(*owner, "    " + text + ";\n");
        }
        target->append(scope.parts, text + ";\n");
    }

    void type(const SkeletonInterface& interface) {
        const auto parts = c_name_parts(interface.name);
        auto text = without_semicolon(squeezed(interface.signature));
        const auto code = code_only(text);
        if (find_word(code, parts.back()) == std::string::npos) {
            throw CannotDeclare{"the signature `" + interface.signature + "` does not declare `" + parts.back() + "`"};
        }
        if (code.find('#') != std::string::npos) {
            throw CannotDeclare{"the signature `" + interface.signature + "` has a preprocessor line"};
        }
        auto* target = &file(interface.file);
        if (has_type_already(interface, parts, text, *target)) { return; }
        const auto keyword = c_type_keyword(text);
        for (const auto& header : standard_c_headers(text, target->is_c())) { target->include(header); }
        const bool is_class = keyword == "class" || keyword == "struct";
        const auto open = code.find('{');
        if (!is_class) {
            project_.include_project_headers(*target, code.substr(std::min(code.find_first_of("={"), code.size())));
        }
        if (is_class && open != std::string::npos) {
            static const RE2 bases(R"([^:]:([^:].*)$)");
            std::string base;
            if (RE2::PartialMatch(code.substr(0, open), bases, &base)) { project_.include_project_headers(*target, base); }
            const auto filled = with_bodies(*target, text, qualified_c_name(parts));
            const bool has_methods = filled.find(marker_) != std::string::npos;
            if (has_methods && target->is_c()) {
                throw CannotDeclare{"the signature `" + interface.signature + "` has methods, and " + interface.file + " is C"};
            }
            if (has_methods) { text = filled; }
        }
        if (open == std::string::npos && is_class) { text += keyword == "class" ? " {\npublic:\n}" : " {\n}"; }
        auto spaces = without_last(parts);
        // `template <> struct std::hash<Point>` names its own namespace.
        static const RE2 qualified(R"(^template\s*<\s*>\s*(?:class|struct)\s+\w+::)");
        if (RE2::PartialMatch(text, qualified)) { spaces.clear(); }
        if (const auto* owner = spaces.empty() ? nullptr : target->class_named(spaces); owner != nullptr) {
            return target->add_member(*owner, "    " + text + ";\n");
        }
        target->append_type(spaces, parts.back(), text + ";\n");
    }

    /// True if the file has the type. Then adds what it lacks: members, bases, enumerators, another aliased type.
    bool has_type_already(const SkeletonInterface& interface, const std::vector<std::string>& parts, const std::string& text,
                          CFile& target) {
        static const RE2 specialization(R"(^template\s*<\s*>)");
        if (RE2::PartialMatch(text, specialization)) {
            return target.text().find(text.substr(0, text.find('{'))) != std::string::npos;
        }
        const auto wanted = read_c_declarations(text + ";");
        const auto scope = without_last(parts);
        // `enum level { LOW, MIDDLE }` may be called MIDDLE.
        const bool is_enum =
            !wanted.empty() && wanted.front().kind == CDeclaration::Kind::enumeration && !wanted.front().name.empty();
        const auto& name = is_enum ? wanted.front().name : parts.back();
        for (const auto& each : target.declarations()) {
            if (each.name != name || !is_c_scope(each.scope, scope) || each.scope.size() < scope.size()) { continue; }
            if (each.kind == CDeclaration::Kind::alias) {
                existing_.change_alias(target, each, text);
                return true;
            }
            if (each.kind == CDeclaration::Kind::enumeration && !each.body.empty()) {
                if (!wanted.empty() && wanted.front().kind == each.kind) {
                    existing_.add_enumerators(target, each, wanted.front().enumerators);
                }
                return true;
            }
        }
        if (wanted.empty()) { return false; }
        const auto& own = wanted.front();
        // `enum { ROOM = 8 }` is called ROOM.
        if (own.kind == CDeclaration::Kind::enumeration && own.name.empty()) {
            return existing_.change_value(target, parts.back() + " = 0", {parts.back()});
        }
        if (target.class_named(parts) == nullptr) { return false; }
        if (own.kind == CDeclaration::Kind::type && !own.body.empty()) {
            existing_.add_bases(target, parts, own, text);
            add_members(interface, parts, text, wanted);
        }
        return true;
    }

    /// Declares the members of a class that exists.
    void add_members(const SkeletonInterface& interface, const std::vector<std::string>& parts, const std::string& text,
                     const std::vector<CDeclaration>& wanted) {
        const auto name = qualified_c_name(parts);
        for (const auto& each : wanted) {
            const bool direct = each.in_class && each.scope.size() == 1 && &each != &wanted.front();
            if (!direct) { continue; }
            if (each.is_shared) {
                throw CannotDeclare{"in the signature `" + interface.signature + "`, give each member its own declaration"};
            }
            SkeletonInterface member = interface;
            member.name = name + "::" + each.name;
            member.signature = without_semicolon(text.substr(each.range.begin, each.range.end - each.range.begin));
            if (each.kind == CDeclaration::Kind::function) {
                function(member, each.access);
            } else if (each.kind == CDeclaration::Kind::variable) {
                field(member, each);
            } else if (!each.name.empty()) {
                type(member);
            }
        }
    }

    void field(const SkeletonInterface& member, const CDeclaration& read) {
        const auto parts = c_name_parts(member.name);
        auto& target = file(member.file);
        if (existing_.change_value(target, member.signature, parts)) { return; }
        const auto* owner = target.class_named(without_last(parts));
        if (owner == nullptr) { return; }
        target.add_member(*owner, "    " + member.signature + ";\n", read.access);
        project_.include_for(target, without_name(member.signature));
    }

    std::string body(const CFunction& function, const std::string& name, bool c, const std::string& indent) {
        SkeletonBody body{{}, name, marker_, c, function.aborts(), "", indent};
        for (const auto& parameter : split_top(function.parameters(), ',')) {
            const auto own = parameter_name(parameter);
            if (!own.empty()) { body.unused.push_back(own); }
        }
        return skeleton_body(body) + "\n";
    }

    void function(const SkeletonInterface& interface, const std::string& access = "public") {
        const auto function = parse_c_function(interface.signature);
        const auto parts = parts_of_name(interface, function);
        auto* named = &file(interface.file);
        auto* target = named;
        const auto scope = scope_of(parts, target);
        if (target->is_c() && parts.size() > 1) {
            throw CannotDeclare{"`" + interface.name + "` has a qualified name, and " + interface.file + " is C"};
        }
        if (target->has_define(parts.back())) {
            throw CannotDeclare{"`" + interface.name + "` is a macro in " + target->path() + "; name the function differently"};
        }
        const auto text = declaration_of(function, scope.is_member);
        const auto plain = parse_c_function(text);
        const auto name = qualified_c_name(parts);
        const auto types = text.substr(0, plain.name) + types_alone(plain.parameters()) + text.substr(plain.close);
        const auto wanted = existing_.read_wanted(own_signature(function, scope.is_member),
                                                  scope.is_member ? scope.parts.back() : "", target->is_c());
        if (existing_.change_function(*target, wanted, scope.parts, scope.is_member, name)) {
            if (target->changed()) { project_.include_for(*target, types); }
            return;
        }
        if (!scope.is_member && wanted.read.is_const) {
            throw CannotDeclare{"`" + interface.name +
                                "` is declared const like a method; name its class: `Class::" + parts.back() + "`"};
        }
        project_.include_for(*target, types);
        if (scope.is_member) { return method(*target, scope, function, plain, name, access); }
        if (plain.needs_no_body) {
            return target->append(scope.parts,
                                  function.text.substr(0, function.qualified) + function.text.substr(function.name) + ";\n");
        }
        free_function(interface, *target, wanted, scope, plain, name);
    }

    void method(CFile& target, const Scope& scope, const CFunction& function, const CFunction& plain, const std::string& name,
                const std::string& access) {
        if (target.class_named(scope.parts) == nullptr) {
            target.append(without_last(scope.parts), "class " + scope.parts.back() + " {\npublic:\n};\n");
        }
        const auto& owner = *target.class_named(scope.parts);
        if (plain.needs_no_body) {
            const auto line = function.text.substr(0, function.qualified) + function.text.substr(function.name) + ";\n";
            return target.add_member(owner, "    " + line, access);
        }
        const auto head = target.text().substr(owner.range.begin, owner.body.begin - owner.range.begin);
        const bool constructs = plain.own_name() == scope.parts.back();
        const auto base = constructs ? base_initializer(head) : std::string();
        target.add_member(owner, "    " + plain.text + base + body(plain, name, target.is_c(), "    "), access);
        target.include_for_skeleton(target.is_c() || plain.aborts());
    }

    void free_function(const SkeletonInterface& interface, CFile& target, const WantedFunction& wanted, const Scope& scope,
                       const CFunction& plain, const std::string& name) {
        // The specification may name the function twice: in a header, and in a source file that defines it.
        if (const auto* partner = partner_of(interface)) {
            const auto& source = is_header(interface.file) ? partner->file : interface.file;
            if (project_.exists(source) && is_header(interface.file)) { return target.append(scope.parts, plain.text + ";\n"); }
            // No build file lists a new source file, so the header gets the body.
            if (!project_.exists(source) && is_source(interface.file)) { return; }
        }
        if (is_header(interface.file) && exposes(interface, wanted, scope, name)) {
            return target.append(scope.parts, without_words(plain.text, {"static ", "inline "}) + ";\n");
        }
        target.append(scope.parts, definition_head(plain, interface.file, target.is_c()) + body(plain, name, target.is_c(), ""));
        target.include_for_skeleton(target.is_c() || plain.aborts());
    }

    /// True if a source file defines the function, so the header only has to declare it. It is then no longer `static`.
    bool exposes(const SkeletonInterface& interface, const WantedFunction& wanted, const Scope& scope, const std::string& name) {
        const auto header = interface.file.substr(interface.file.rfind('/') + 1);
        for (auto* source : project_.files_with({wanted.read.name, header})) {
            if (!is_source(source->path())) { continue; }
            for (const auto& each : source->declarations()) {
                const bool own = each.kind == CDeclaration::Kind::function && each.name == wanted.read.name &&
                                 !each.body.empty() && !each.in_class && each.scope == scope.parts &&
                                 has_same_parameters(each, wanted.read);
                if (!own || (each.is_local && !each.specifiers.contains("static"))) { continue; }
                if (each.specifiers.contains("static")) {
                    const auto head = source->text().substr(each.range.begin, each.name_range.begin - each.range.begin);
                    source->replace({each.range.begin, each.name_range.begin}, without_words(head, {"static ", "inline "}));
                }
                static_cast<void>(existing_.change_function(*source, wanted, scope.parts, false, name));
                return true;
            }
        }
        return false;
    }

    /// Returns the parts of the function's name: those of the signature if only the signature is qualified.
    static std::vector<std::string> parts_of_name(const SkeletonInterface& interface, const CFunction& function) {
        auto parts = c_name_parts(interface.name);
        if (parts.back() != function.own_name()) {
            throw CannotDeclare{"the signature `" + interface.signature + "` declares `" + function.own_name() +
                                "`, but the interface is called `" + interface.name + "`"};
        }
        if (parts.size() == 1 && function.qualified != function.name) {
            return c_name_parts(function.text.substr(function.qualified, function.open - function.qualified));
        }
        return parts;
    }

    /// Returns the signature without qualifiers in its name. `template <class T> T Grid<T>::at()` is a method without a template.
    static std::string own_signature(const CFunction& function, bool is_member) {
        auto text = function.text;
        const bool of_template =
            text.substr(function.qualified, function.name - function.qualified).find('<') != std::string::npos;
        text.erase(function.qualified, function.name - function.qualified);
        return is_member && of_template ? without_c_template(text) : text;
    }

    /// Returns the same without keywords that a skeleton cannot have.
    static std::string declaration_of(const CFunction& function, bool is_member) {
        return without_words(own_signature(function, is_member), {"constexpr ", "consteval ", "extern "});
    }

    /// Returns the interface of the same function in the other kind of file: the source for a header, the header for a source.
    [[nodiscard]] const SkeletonInterface* partner_of(const SkeletonInterface& interface) const {
        const auto found = std::find_if(interfaces_->begin(), interfaces_->end(), [&](const SkeletonInterface& other) {
            return &other != &interface && other.name == interface.name && is_header(other.file) != is_header(interface.file);
        });
        return found == interfaces_->end() ? nullptr : &*found;
    }

    static std::string definition_head(CFunction function, const std::string& path, bool c) {
        // A definition must not end with an attribute.
        static const RE2 attribute(R"(\s*__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)\s*$)");
        RE2::Replace(&function.text, attribute, "");
        if (is_source(path)) { return without_defaults(function); }
        if (function.text.compare(0, 8, "template") == 0) { return function.text; }
        // A function that can only throw is no constant expression.
        const auto head = without_words(function.text, {"constexpr ", "consteval "});
        if (find_word(head, "inline") != std::string::npos) { return head; }
        const bool local = find_word(head, "static") != std::string::npos;
        if (local && !c) { return head; }
        // `[[nodiscard]]` stands before `inline`.
        std::size_t place = 0;
        while (head.compare(place, 2, "[[") == 0) {
            const auto end = head.find("]]", place);
            if (end == std::string::npos) { break; }
            place = std::min(head.find_first_not_of(' ', end + 2), head.size());
        }
        return head.substr(0, place) + (c && !local ? "static inline " : "inline ") + head.substr(place);
    }

    static std::string without_defaults(const CFunction& function) {
        std::string parameters;
        for (const auto& part : split_top(function.parameters(), ',')) {
            const auto equals = split_top(part, '=');
            parameters += (parameters.empty() ? "" : ", ") + (equals.empty() ? part : equals.front());
        }
        return function.text.substr(0, function.open + 1) + parameters + function.text.substr(function.close);
    }

    CProject project_;
    ExistingDeclarations existing_;
    const std::string& marker_;
    const std::vector<SkeletonInterface>* interfaces_ = nullptr;
};

}  // namespace

Skeletons write_c_skeletons(const std::vector<SkeletonInterface>& interfaces, const std::map<std::string, std::string>& contents,
                            const std::vector<std::string>& existing, const std::string& marker) {
    return CSkeletonWriter(contents, existing, marker).write(interfaces);
}

std::string stub_c_functions(const std::string& path, const std::string& text, const std::set<std::uint64_t>& lines,
                             const std::map<std::string, std::string>& contents, const std::vector<std::string>& existing,
                             const std::string& marker) {
    CFile file(path, text, is_c_file(path, contents, existing));
    bool aborts = false;
    const auto stubbed = stub_c_functions_at(file.text(), lines, marker, file.is_c(), aborts);
    if (stubbed == file.text()) { return text; }
    file.replace({0, file.text().size()}, stubbed);
    if (stubbed.find("throw std::logic_error(\"" + marker) != std::string::npos) { file.include_for_skeleton(false); }
    if (aborts) { file.include_for_skeleton(true); }
    file.finish();
    return file.content();
}

}  // namespace agentforge::kernel
