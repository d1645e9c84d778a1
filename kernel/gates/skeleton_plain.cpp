// SPDX-License-Identifier: Apache-2.0
#include "gates/skeleton_plain.hpp"

#include <algorithm>

#include <re2/re2.h>

namespace agentforge::kernel {
namespace {

struct PlainKind {
    std::string_view name;
    const char* function;           ///< RE2 of a whole signature, `name` in its last group.
    const char* bare;               ///< The same without the word before it, which is `prefix`.
    const char* prefix;
    const char* type;               ///< RE2 of a whole declaration of a type, `name` in its last group; empty: none.
    const char* known;              ///< RE2 of a declaration in a file; `%` is the name.
};

// Parameters hold no braces, semicolons or comments; `interface{}` and `struct{}` are taken out before a signature is looked at.
constexpr PlainKind plain_kinds[] = {
    {"go", R"(func\s+(?:\([^(){};]*\)\s*)?(\w+)(?:\[[^\]{};]*\])?\s*\([^{};]*)", R"((\w+)\s*\([^{};]*)", "func ",
     R"(type\s+(\w+)\s+(?:struct|interface)\s*(?:\{[^{}]*\})?)", R"((?m)^(?:func\s+(?:\([^)]*\)\s*)?|type\s+)%\b)"},
    {"rust", R"((?:pub(?:\([a-z ]+\))?\s+)?(?:const\s+|async\s+)?fn\s+(\w+)\s*(?:<[^{};]*>)?\s*\([^{};]*)", R"((\w+)\s*\([^{};]*)", "pub fn ",
     R"((?:pub(?:\([a-z ]+\))?\s+)?(?:struct|enum)\s+(\w+)\s*(?:;|\{[^{}]*\}))", R"((?m)^\s*(?:pub(?:\([a-z ]+\))?\s+)?(?:const\s+|async\s+)?(?:fn|struct|enum)\s+%\b)"},
    {"java", R"((?:public|protected|private)\s+(?:static\s+|final\s+)*(?:<[^{};]*>\s*)?[\w.<>\[\], ?]+\s+(\w+)\s*\([^{};]*)",
     R"([\w.<>\[\], ?]+\s+(\w+)\s*\([^{};]*)", "public static ", "", R"((?m)^[^/*]*\b%\s*\()"},
};

std::string trimmed_signature(std::string_view text) {
    while (!text.empty() && (text.back() == ';' || text.back() == ' ' || text.back() == '\n')) { text.remove_suffix(1); }
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) { text.remove_prefix(1); }
    return std::string(text);
}

std::string last_part(std::string_view name) {
    const auto cut = name.find_last_of(".:");
    return std::string(cut == std::string_view::npos ? name : name.substr(cut + 1));
}

std::string stem_of(std::string_view path) {
    const auto slash = path.rfind('/');
    const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    return std::string(name.substr(0, name.find('.')));
}

std::string folder_path(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string{} : std::string(path.substr(0, slash));
}

class PlainWriter {
public:
    PlainWriter(const PlainKind& kind, const std::map<std::string, std::string>& contents, const std::vector<std::string>& existing, const std::string& marker)
        : kind_(kind), contents_(contents), existing_(existing), marker_(marker) {}

    void declare(const SkeletonInterface& interface) {
        auto signature = trimmed_signature(interface.signature);
        const auto problem = [&](const std::string& what) { result_.problems.push_back(interface.name + " (" + interface.file + "): " + what); };
        auto plain = signature;
        for (const char* empty : {"interface{}", "struct{}"}) {
            for (auto at = plain.find(empty); at != std::string::npos; at = plain.find(empty)) { plain.replace(at, std::string_view(empty).size(), "any"); }
        }
        if (plain.find("//") != std::string::npos || plain.find("/*") != std::string::npos) { return problem("a signature has no comments"); }
        std::string name;
        bool type = *kind_.type != '\0' && RE2::FullMatch(trimmed_signature(interface.signature), kind_.type, &name);
        if (!type && *kind_.type != '\0' && RE2::FullMatch(signature + ";", kind_.type, &name)) {
            type = true;
            signature += ";";
        }
        if (type && kind_.name == "go" && signature.find('{') == std::string::npos) { signature += "{}"; }
        if (!type && !RE2::FullMatch(plain, kind_.function, &name)) {
            if (!RE2::FullMatch(plain, kind_.bare, &name)) { return problem("`" + signature + "` is not one function without a body"); }
            signature = kind_.prefix + signature;
        }
        if (name != last_part(interface.name)) { return problem("the signature declares `" + name + "`"); }
        auto& text = content(interface.file);
        auto known = std::string(kind_.known);
        known.replace(known.find('%'), 1, RE2::QuoteMeta(name));
        if (RE2::PartialMatch(text, known)) { return; }
        write(text, type ? signature + "\n" : body(signature, last_part(interface.name)));
    }

    Skeletons take() {
        for (const auto& [path, text] : files_) {
            const auto before = contents_.find(path);
            if (result_.problems.empty() && (before == contents_.end() || before->second != text)) { result_.files.emplace_back(path, text); }
        }
        return std::move(result_);
    }

private:
    [[nodiscard]] std::string body(const std::string& signature, const std::string& name) const {
        if (kind_.name == "go") { return signature + " {\n\tpanic(\"" + marker_ + " " + name + "\")\n}\n"; }
        if (kind_.name == "rust") { return signature + " {\n    todo!(\"" + marker_ + " " + name + "\")\n}\n"; }
        return "    " + signature + " {\n        throw new UnsupportedOperationException(\"" + marker_ + " " + name + "\");\n    }\n";
    }

    void write(std::string& text, const std::string& declaration) const {
        if (kind_.name != "java") {
            if (!text.empty() && !text.ends_with('\n')) { text += '\n'; }
            text += (text.empty() ? "" : "\n") + declaration;
            return;
        }
        const auto end = text.rfind('}');
        text.insert(end == std::string::npos ? text.size() : end, (text.ends_with("{\n}\n") ? "" : "\n") + declaration);
    }

    std::string& content(const std::string& path) {
        if (const auto known = files_.find(path); known != files_.end()) { return known->second; }
        if (const auto before = contents_.find(path); before != contents_.end()) { return files_.emplace(path, before->second).first->second; }
        std::string head;
        if (kind_.name == "go") { head = "package " + go_package(path) + "\n"; }
        if (kind_.name == "java") {
            auto package = folder_path(path);
            const auto java = package.rfind("java/");
            package = java == std::string::npos ? std::string{} : package.substr(java + 5);
            std::replace(package.begin(), package.end(), '/', '.');
            head = (package.empty() ? "" : "package " + package + ";\n\n") + std::string("public class ") + stem_of(path) + " {\n}\n";
        }
        if (kind_.name == "rust") { make_known(path); }
        return files_.emplace(path, std::move(head)).first->second;
    }

    [[nodiscard]] std::string go_package(const std::string& path) const {
        const auto folder = folder_path(path);
        for (const auto& [other, text] : contents_) {
            std::string package;
            if (folder_path(other) == folder && other.ends_with(".go") && !other.ends_with("_test.go") && RE2::PartialMatch(text, R"((?m)^package\s+(\w+))", &package)) { return package; }
        }
        auto name = folder.substr(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
        if (name.empty()) {
            // The top: the module's last part, as the tests beside it will have it.
            const auto module = contents_.find("go.mod");
            if (module != contents_.end()) { RE2::PartialMatch(module->second, R"((?m)^module\s+(?:\S*/)?([A-Za-z]\w*)\s*$)", &name); }
        }
        std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; });
        return name.empty() ? "main" : name;
    }

    /// A module is part of a crate only where its parent says so.
    void make_known(const std::string& path) {
        const auto folder = folder_path(path);
        const auto module = stem_of(path);
        if (module == "lib" || module == "main" || module == "mod") { return; }
        for (const auto* parent : {"lib.rs", "main.rs", "mod.rs"}) {
            const auto file = folder.empty() ? std::string(parent) : folder + "/" + parent;
            if (!files_.contains(file) && !contents_.contains(file)) { continue; }
            auto& text = content(file);
            if (!RE2::PartialMatch(text, R"((?m)^\s*(?:pub(?:\([a-z ]+\))?\s+)?mod\s+)" + module + R"(\b)")) {
                text = "pub mod " + module + ";\n" + text;
            }
            return;
        }
    }

    const PlainKind& kind_;
    const std::map<std::string, std::string>& contents_;
    const std::vector<std::string>& existing_;
    const std::string& marker_;
    std::map<std::string, std::string> files_;
    Skeletons result_;
};

const PlainKind* find_plain(std::string_view kind) {
    const auto found = std::find_if(std::begin(plain_kinds), std::end(plain_kinds), [&](const PlainKind& each) { return each.name == kind; });
    return found == std::end(plain_kinds) ? nullptr : found;
}

}  // namespace

bool is_plain_skeleton(std::string_view kind) { return find_plain(kind) != nullptr; }

Skeletons write_plain_skeletons(std::string_view kind, const std::vector<SkeletonInterface>& interfaces, const std::map<std::string, std::string>& contents,
                                const std::vector<std::string>& existing, const std::string& marker) {
    const auto* found = find_plain(kind);
    if (found == nullptr) { return {{}, {"there is no kind of skeletons `" + std::string(kind) + "`"}}; }
    PlainWriter writer(*found, contents, existing, marker);
    for (const auto& interface : interfaces) { writer.declare(interface); }
    return writer.take();
}

}  // namespace agentforge::kernel
