// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/plain/plain_writer.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "gates/language/source_text.hpp"
#include "gates/stubs/plain/go_code.hpp"
#include "gates/stubs/plain/java_code.hpp"
#include "gates/stubs/plain/plain_text.hpp"
#include "gates/stubs/plain/rust_code.hpp"

namespace agentforge::kernel {

void PlainWriter::declare(const SkeletonInterface& interface) {
    const auto signature = trimmed_signature(interface.signature);
    const auto plain = without_empty_types(signature);
    if (plain.find("//") != std::string::npos || plain.find("/*") != std::string::npos) {
        return add_problem(interface, "a signature must not contain comments");
    }
    if (kind_.name == "rust" && RE2::PartialMatch(signature, R"(^(?:unsafe\s+)?impl\b)")) {
        const auto what = declare_impl(interface.file, signature);
        return what.empty() ? void() : add_problem(interface, what);
    }
    if (kind_.name == "go" && RE2::PartialMatch(signature, R"(^(?:const|var)\s*\()")) {
        return declare_group(interface, signature);
    }
    std::string name;
    const bool type = RE2::FullMatch(signature, kind_.type, &name);
    if (type || RE2::FullMatch(signature, kind_.value, &name)) {
        declare_type_or_value(interface, name, signature, type);
    } else {
        declare_function(interface, signature, plain);
    }
}

void PlainWriter::register_types(const std::vector<SkeletonInterface>& interfaces) {
    for (const auto& each : interfaces) {
        std::string name;
        const auto signature = trimmed_signature(each.signature);
        if (RE2::FullMatch(signature, kind_.type, &name) || RE2::FullMatch(signature, kind_.value, &name)) {
            declared_types_.emplace(name, each.file);
        }
    }
}

Skeletons PlainWriter::take() {
    for (auto& [path, text] : files_) {
        if (kind_.name == "go") { text = without_unused_imports(text); }
        const auto before = contents_.find(path);
        if (result_.problems.empty() && (before == contents_.end() || before->second != text)) {
            result_.files.emplace_back(path, text);
        }
    }
    return std::move(result_);
}

std::string PlainWriter::with_name(const char* pattern, const std::string& name) {
    std::string text = pattern;
    for (auto at = text.find('%'); at != std::string::npos; at = text.find('%', at + name.size())) { text.replace(at, 1, name); }
    return text;
}

bool PlainWriter::is_named(const std::string& path, const std::string& name) const {
    const RE2 pattern(with_name(kind_.named, name));
    const auto written = files_.find(path);
    const auto given = contents_.find(path);
    if (written != files_.end() ? RE2::PartialMatch(written->second, pattern)
                                : given != contents_.end() && RE2::PartialMatch(given->second, pattern)) {
        return true;
    }
    return kind_.name == "go" && std::any_of(contents_.begin(), contents_.end(), [&](const auto& each) {
               return each.first != path && folder_path(each.first) == folder_path(path) && each.first.ends_with(".go") &&
                      !each.first.ends_with("_test.go") && RE2::PartialMatch(each.second, pattern);
           });
}

void PlainWriter::add_problem(const SkeletonInterface& interface, const std::string& what) {
    result_.problems.push_back(interface.name + " (" + interface.file + "): " + what);
}

std::string PlainWriter::without_empty_types(std::string signature) const {
    for (const char* empty : {"interface{}", "struct{}"}) {
        for (auto at = signature.find(empty); at != std::string::npos; at = signature.find(empty)) {
            signature.replace(at, std::string_view(empty).size(), "any");
        }
    }
    static const RE2 constraint(R"(\b(?:interface|struct)\s*\{[^{}]*\})");
    if (kind_.name == "go") { RE2::GlobalReplace(&signature, constraint, "any"); }
    return signature;
}

void PlainWriter::declare_type_or_value(const SkeletonInterface& interface, const std::string& name, const std::string& signature,
                                        bool type) {
    if (name != last_part(interface.name)) { return add_problem(interface, "the signature declares `" + name + "`"); }
    if (is_named(interface.file, name)) { return; }
    if (type) {
        declare_type(interface.file, name, signature);
    } else {
        declare_value(interface, signature);
    }
    if (kind_.name == "rust") { use_types_of_others(interface.file, signature); }
}

void PlainWriter::declare_function(const SkeletonInterface& interface, std::string signature, const std::string& plain) {
    std::string name;
    if (!RE2::FullMatch(plain, kind_.function, &name)) {
        if (!RE2::FullMatch(plain, kind_.bare, &name)) {
            return add_problem(interface, "`" + signature + "` must be one function without a body, or a type, or a constant");
        }
        if (kind_.name != "java" || !is_interface(interface.file)) { signature = kind_.prefix + signature; }
    }
    if (name != last_part(interface.name)) { return add_problem(interface, "the signature declares `" + name + "`"); }
    auto& text = content(interface.file);
    auto owner = owner_of(interface.name, signature);
    static const RE2 method(R"(\(\s*(?:&\s*(?:'\w+\s+)?)?(?:mut\s+)?self\b)");
    if (kind_.name == "rust" && owner.empty() && RE2::PartialMatch(signature, method)) {
        owner = likely_owner(text, name);
        if (owner.empty()) {
            return add_problem(interface, "`" + signature + "` is a method; name its type: `Type::" + name + "`");
        }
    }
    const auto known = change(text, name, owner, signature);
    if (known == Known::as_wanted) { return; }
    if (known == Known::no) { write_function(interface, text, name, owner, signature); }
    import_what_is_named(content(interface.file), signature);
    if (kind_.name == "rust") { use_types_of_others(interface.file, signature); }
}

void PlainWriter::declare_type(const std::string& path, const std::string& name, std::string signature) {
    const bool bare = signature.find('{') == std::string::npos;
    if (kind_.name == "go" && bare && (signature.ends_with("struct") || signature.ends_with("interface"))) { signature += "{}"; }
    if (kind_.name == "rust" && bare && !signature.ends_with(';')) {
        signature += RE2::PartialMatch(signature, R"(\b(?:struct|union)\s+\w)") ? unused_parameters(signature) + ";" : " {}";
    }
    if (kind_.name == "java") {
        signature = bare ? signature + " {\n}" : with_java_bodies(signature, marker_);
        if (stem_of(path) == name && !files_.contains(path) && !contents_.contains(path)) {
            files_.emplace(path, package_line(path) + signature + "\n");
        } else if (stem_of(path) != name ||
                   !RE2::PartialMatch(content(path), R"(\b(?:class|interface|enum|record)\s+)" + name + R"(\b)")) {
            if (!RE2::PartialMatch(signature, R"(\bstatic\b)")) {
                signature = std::string(RE2::PartialMatch(signature, "^public") ? "public static " : "static ") +
                            signature.substr(signature.starts_with("public ") ? 7 : 0);
            }
            write(content(path), "    " + signature + "\n");
        }
    } else {
        write(content(path), signature + "\n");
    }
    import_what_is_named(content(path), signature);
}

void PlainWriter::declare_value(const SkeletonInterface& interface, const std::string& signature) {
    const auto& path = interface.file;
    auto& text = content(path);
    if (const auto owner = owner_of(interface.name, signature); kind_.name == "rust" && !owner.empty()) {
        write_in_impl(path, text, owner, "    " + signature + ";\n");
        return import_what_is_named(text, signature);
    }
    const auto line = (kind_.name == "java" ? "    " : "") + signature + (kind_.name == "go" ? "\n" : ";\n");
    if (kind_.name == "java") {
        const auto open = text.find('{');
        text.insert(open == std::string::npos ? text.size() : open + 1, "\n" + line.substr(0, line.size() - 1));
    } else {
        write(text, line);
    }
    import_what_is_named(text, signature);
}

std::string PlainWriter::path_of(const std::string& text) const {
    const auto found = std::find_if(files_.begin(), files_.end(), [&](const auto& each) { return &each.second == &text; });
    return found == files_.end() ? std::string() : found->first;
}

std::string PlainWriter::owner_of(const std::string& name, const std::string& signature) const {
    std::string owner;
    if (kind_.name == "go") {
        RE2::PartialMatch(signature, R"(^func\s+\(\s*(?:\w+\s+)?\*?\s*(\w+))", &owner);
    } else if (kind_.name == "rust") {
        const auto own = name.find_last_of(".:");
        auto before = own == std::string::npos ? std::string{} : name.substr(0, name.find_last_not_of(".:", own) + 1);
        if (const auto generics = before.find('<'); generics != std::string::npos) { before.erase(generics); }
        owner = last_part(before);
        // A module's name is not a type.
        if (!owner.empty() && (owner.front() < 'A' || owner.front() > 'Z')) { owner.clear(); }
    }
    return owner;
}

PlainWriter::Known PlainWriter::change(std::string& text, const std::string& name, const std::string& owner,
                                       const std::string& signature) const {
    const auto code = read_code(text, bracket_rules()).code;
    const RE2 head(with_name(kind_.head, name));
    const auto open_of = [&](const std::string& whole) {
        RE2 own(with_name(kind_.head, name));
        re2::StringPiece found;
        return own.Match(whole, 0, whole.size(), RE2::UNANCHORED, &found, 1)
                   ? static_cast<std::size_t>(found.data() - whole.data()) + found.size() - 1
                   : std::string::npos;
    };
    const auto wanted_open = open_of(signature);
    if (wanted_open == std::string::npos) { return Known::no; }
    const auto wanted = read_head(kind_.name, signature, wanted_open);
    re2::StringPiece parts[2];
    for (std::size_t at = 0; at < code.size() && head.Match(code, at, code.size(), RE2::UNANCHORED, parts, 2);) {
        const auto begin = static_cast<std::size_t>(parts[0].data() - code.data());
        const auto parameters = begin + parts[0].size() - 1;
        at = parameters;
        if (kind_.name == "java" && RE2::PartialMatch(parts[0], R"(\b(?:new|return|throw|else)\s)")) { continue; }
        if (kind_.name == "go") {
            std::string type;
            if (parts[1].data() != nullptr) { RE2::PartialMatch(parts[1], R"(\(\s*(?:\w+\s+)?\*?\s*(\w+))", &type); }
            if (type != owner) { continue; }
        }
        if (kind_.name == "rust" && !in_impl(code, begin, owner)) { continue; }
        const auto close = closing_bracket(code, parameters);
        if (close == std::string::npos) { return Known::no; }
        auto open = code.find('{', close);
        while (open != std::string::npos &&
               RE2::PartialMatch(re2::StringPiece(code.data() + close, open - close), R"(\b(?:interface|struct)\s*$)")) {
            open = code.find('{', closing_bracket(code, open));
        }
        // Declared only, without a body.
        if (const auto end = code.find(';', close); open == std::string::npos || end < open) { return Known::as_wanted; }
        const auto end = closing_bracket(code, open);
        if (end == std::string::npos) { return Known::as_wanted; }
        const auto have = read_head(kind_.name, std::string_view(code).substr(begin, open - begin), parameters - begin);
        if (have.parameters.types == wanted.parameters.types && have.result == wanted.result) { return Known::as_wanted; }
        // An overload of the same name.
        if (kind_.name == "java" && have.parameters.types != wanted.parameters.types) { continue; }
        replace(text, code, begin, open, end, have, wanted, name, signature);
        return Known::changed;
    }
    return Known::no;
}

void PlainWriter::replace(std::string& text, const std::string& code, std::size_t begin, std::size_t open, std::size_t end,
                          const FunctionHead& have, const FunctionHead& wanted, const std::string& name,
                          std::string signature) const {
    auto first = begin;
    while (first < open && (text[first] == ' ' || text[first] == '\t' || text[first] == '\n')) { ++first; }
    static const RE2 visibility(R"(^(pub(?:\([a-z ]+\))?\s+))");
    std::string pub;
    if (RE2::PartialMatch(text.substr(first, open - first), visibility, &pub) && !RE2::PartialMatch(signature, visibility)) {
        signature = pub + signature;
    }
    static const RE2 stub(
        R"((?s)\s*(?:panic\(.*\)|(?:todo|unimplemented|panic)!\(.*\);?|throw\b[^;]*;|return(?:\s+(?:nil|null|0|""|true|false|-1))?\s*;?|)\s*)");
    const bool keeps = have.result == wanted.result &&
                       !RE2::FullMatch(re2::StringPiece(code.data() + open + 1, end - open - 1), stub) &&
                       std::all_of(have.parameters.names.begin(), have.parameters.names.end(), [&](const std::string& each) {
                           return std::find(wanted.parameters.names.begin(), wanted.parameters.names.end(), each) !=
                                  wanted.parameters.names.end();
                       });
    if (keeps) {
        text.replace(first, open - first, signature + " ");
        return;
    }
    auto line = first;
    while (line > 0 && text[line - 1] != '\n') { --line; }
    text.replace(first, end + 1 - first, function_text(signature, name, text.substr(line, first - line)));
}

std::string PlainWriter::function_text(const std::string& signature, const std::string& name, const std::string& indent) const {
    if (kind_.name == "go") { return signature + " {\n\tpanic(\"" + marker_ + " " + name + "\")\n}"; }
    if (kind_.name == "rust") {
        const std::string value = value_of_opaque_type(signature);
        const std::string panics = "todo!(\"" + marker_ + " " + name + "\")";
        return signature + " {\n" + indent + "    " +
               (value.empty()
                    ? panics
                    : "if true {\n" + indent + "        " + panics + "\n" + indent + "    }\n" + indent + "    " + value) +
               "\n" + indent + "}";
    }
    return signature + " {\n" + indent + "    throw new UnsupportedOperationException(\"" + marker_ + " " + name + "\");\n" +
           indent + "}";
}

void PlainWriter::write_function(const SkeletonInterface& interface, std::string& text, const std::string& name,
                                 const std::string& owner, const std::string& signature) {
    const auto& path = interface.file;
    if (kind_.name == "java") { return write_java_method(interface, text, name, signature); }
    if (kind_.name == "go" && !owner.empty() && !is_named(path, owner)) { declare_receiver(path, owner, signature); }
    if (kind_.name != "rust" || owner.empty()) { return write(text, function_text(signature, name, "") + "\n"); }
    if (write_in_trait(text, name, owner, signature)) { return; }
    write_in_impl(path, text, owner, "    " + function_text(signature, name, "    ") + "\n");
}

void PlainWriter::import_what_is_named(std::string& text, const std::string& signature) const {
    if (kind_.name == "go") {
        static const RE2 qualified(R"(\b([a-z]\w*)\.[A-Z])");
        re2::StringPiece rest(signature);
        std::set<std::string> words;
        for (std::string word; RE2::FindAndConsume(&rest, qualified, &word);) { words.insert(word); }
        for (const auto& word : words) { import_go(text, word); }
    } else if (kind_.name == "rust") {
        import_rust(text, signature);
    } else if (kind_.name == "java") {
        import_java(text, signature);
    }
}

void PlainWriter::write(std::string& text, const std::string& declaration) const {
    if (kind_.name != "java") {
        if (!text.empty() && !text.ends_with('\n')) { text += '\n'; }
        text += (text.empty() ? "" : "\n") + declaration;
        return;
    }
    const auto end = text.rfind('}');
    text.insert(end == std::string::npos ? text.size() : end, (text.ends_with("{\n}\n") ? "" : "\n") + declaration);
}

std::string& PlainWriter::content(const std::string& path) {
    if (const auto known = files_.find(path); known != files_.end()) { return known->second; }
    if (const auto before = contents_.find(path); before != contents_.end()) {
        return files_.emplace(path, before->second).first->second;
    }
    std::string head;
    if (kind_.name == "go") { head = "package " + go_package(path) + "\n"; }
    if (kind_.name == "java") { head = package_line(path) + "public class " + stem_of(path) + " {\n}\n"; }
    if (kind_.name == "rust") { declare_module(path); }
    return files_.emplace(path, std::move(head)).first->second;
}

}  // namespace agentforge::kernel
