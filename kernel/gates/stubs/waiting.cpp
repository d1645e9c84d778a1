// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/waiting.hpp"

#include <algorithm>

#include <re2/re2.h>

#include "base/json_fields.hpp"
#include "gates/stubs/stubs.hpp"

namespace agentforge::kernel {
namespace {

using Names = std::set<std::string>;

/// Returns the name that a message reports as missing: a file, the attribute of a module, a package, the word after `named`,
/// `undefined:` or javac's `symbol:`, or else the first name in quotes.
std::string missing_name(std::string_view message) {
    static const RE2 file(R"(([\w./+-]+): No such file or directory)");
    static const RE2 attribute(R"(has no attribute '(\w+)')");
    static const RE2 package(R"((?:\bpackage |could not import )([\w./-]+)(?: is not in|;|: | does not exist|$))");
    static const RE2 said(R"((?:\bnamed |\bname |undefined: |undefined reference to |symbol:\s+\w+\s+)(?:‘|'|"|`)?([\w.:$]+))");
    static const RE2 called(R"(([\w$]+)\)? is not a (?:function|constructor)$)");
    static const RE2 constant(R"(to non-.constexpr. function .*?([\w:]+)\()");
    static const RE2 quoted(R"((?:‘|'|"|`)(?:(?:class|struct|const) )*([\w.:$/-]+))");
    const re2::StringPiece text(message.data(), message.size());
    std::string name;
    for (const RE2* pattern : {&file, &attribute, &package, &said, &called, &constant, &quoted}) {
        if (RE2::PartialMatch(text, *pattern, &name)) { break; }
    }
    while (!name.empty() && (name.back() == ':' || name.back() == '.')) { name.pop_back(); }
    const auto slash = name.find_last_of('/');
    if (slash != std::string::npos || message.find("No such file") != std::string_view::npos) {
        static const RE2 ending(R"(\.(?:[cm]?[jt]sx?|py|h|hh|hpp|hxx|c|cc|cpp|cxx|go|rs|java|json)$)");
        RE2::Replace(&name, ending, "");
    }
    return name.substr(name.find_last_of(".:/") + 1);
}

/// True if the message is about a name in the code, not about a file or a module.
bool is_about_identifier(std::string_view message) {
    static const RE2 of_identifier(
        R"((?i)undefined|undeclared|not declared|cannot find (?:symbol|value|function|type|macro)|not found in this scope)");
    return RE2::PartialMatch(re2::StringPiece(message.data(), message.size()), of_identifier);
}

/// Returns the type whose member a message reports as missing. Empty if it is about something else.
std::string owner_of_missing_member(const Language& language, std::string_view message) {
    const re2::StringPiece text(message.data(), message.size());
    std::string owner;
    for (const std::string& pattern : language.missing_member) {
        if (RE2::PartialMatch(text, pattern, &owner)) { break; }
    }
    return owner.substr(owner.find_last_of(".:/") + 1);
}

/// True if the message says that a type lacks a trait, an operator or a conversion, or that a function is no constant yet.
bool is_about_abilities(std::string_view message) {
    static const RE2 rust(
        R"(is not an iterator|cannot be (?:built|made|indexed|dereferenced|applied|sent|shared)|doesn't implement|is not satisfied|)"
        R"(bounds were not satisfied|cannot (?:add|subtract|multiply|divide|mod|calculate|index|write|apply)|no implementation for|)"
        R"(can't compare|convert the error|expected function|is not a future|mismatched types|type mismatch|to be an iterator)");
    static const RE2 cpp(
        R"(no match for|deleted function|could not convert|cannot convert|no matching|invalid operands|no viable|)"
        R"(called in a constant expression|is not literal|base operand of|cannot decompose|conversion from|cannot bind)");
    const re2::StringPiece text(message.data(), message.size());
    return RE2::PartialMatch(text, rust) || RE2::PartialMatch(text, cpp);
}

/// True if a message follows from another one: it is about a value that could not be computed, or in a header of the compiler.
bool is_consequence(std::string_view message) {
    static const RE2 pattern(
        R"(type annotations needed|is not (?:usable in )?a constant expression|(?:^|\s)/usr/\S*include/\S+:\d+: error: )");
    return RE2::PartialMatch(re2::StringPiece(message.data(), message.size()), pattern);
}

/// True if a function that a message reports as missing can come from a trait: any of Rust, but no field and no variant.
bool may_come_from_trait(std::string_view message) {
    static const RE2 pattern(R"(no (?:method|(?:function|variant) or associated item|associated item) named `[a-z_])");
    return RE2::PartialMatch(re2::StringPiece(message.data(), message.size()), pattern);
}

/// Returns each name in quotes: `m::Grid<i32>` has `m`, `Grid` and `i32`.
Names quoted_names(std::string_view message) {
    static const RE2 quoted(R"((?:‘([^’]*)’|`([^`]*)`|'([^']*)'))");
    static const RE2 word(R"(([A-Za-z_]\w*))");
    Names names;
    re2::StringPiece rest(message.data(), message.size());
    re2::StringPiece part[3];
    while (RE2::FindAndConsume(&rest, quoted, &part[0], &part[1], &part[2])) {
        for (auto each : part) {
            for (std::string name; RE2::FindAndConsume(&each, word, &name);) { names.insert(name); }
        }
    }
    return names;
}

/// Returns the path in the repository of the module that Node cannot find for this test file. Empty if the message does not say.
std::string missing_module(std::string_view message, const std::string& test_file) {
    static const RE2 paths(R"(Cannot find module '(/[^']+)' imported from '?(/[^'\s]+))");
    std::string module;
    std::string from;
    if (!RE2::PartialMatch(re2::StringPiece(message.data(), message.size()), paths, &module, &from)) { return {}; }
    if (test_file.empty() || !from.ends_with("/" + test_file)) { return {}; }
    const std::string root = from.substr(0, from.size() - test_file.size());
    return module.starts_with(root) ? module.substr(root.size()) : std::string();
}

/// The parts of a specification that name code. Its prose may contain any word, so it counts only if no interface names code.
struct Specified {
    std::string names;  ///< Names of interfaces and components, with their signatures.
    std::string files;  ///< Their files, and those to be created or changed.
    Names open_types;   ///< Types declared without members (`class Pool;`), so any member may be missing.
    Names types;        ///< All types that an interface declares. Only the implementation brings their traits and operators.
    Names rust_types;   ///< Those of Rust.
};

bool declares_no_member(const std::string& signature) {
    return !RE2::PartialMatch(signature, R"([({=]\s*[^\s}])") ||
           RE2::FullMatch(signature, R"(\s*namespace [\w:]+ \{[^({]*\}\s*)");
}

Specified specified_in(const json::object& specification) {
    Specified specified;
    for (const char* part : {"interfaces", "components"}) {
        const auto* found = specification.if_contains(part);
        if (found == nullptr || !found->is_array()) { continue; }
        for (const auto& each : found->get_array()) {
            if (!each.is_object()) { continue; }
            const std::string name = text_of(each.get_object(), "name");
            const std::string signature = text_of(each.get_object(), "signature");
            if (!signature.empty() && declares_no_member(signature)) {
                specified.open_types.insert(name.substr(name.find_last_of(".:") + 1));
            }
            static const RE2 declares_type(R"(\b(?:class|struct|enum|union)\b)");
            if (RE2::PartialMatch(signature, declares_type)) {
                const std::string type = name.substr(name.find_last_of(".:") + 1);
                specified.types.insert(type);
                if (text_of(each.get_object(), "file").ends_with(".rs")) { specified.rust_types.insert(type); }
            }
            for (const auto& field : each.get_object()) {
                const bool is_file = field.key() == "file" || field.key() == "path";
                (is_file ? specified.files : specified.names) += json::serialize(field.value()) + "\n";
            }
        }
    }
    for (const char* part : {"files_to_create", "files_to_modify"}) {
        if (const auto* found = specification.if_contains(part)) { specified.files += json::serialize(*found) + "\n"; }
    }
    const auto* prose = specification.if_contains("requirements");
    if (list_of(specification, "interfaces").empty() && prose != nullptr) { specified.names += json::serialize(*prose) + "\n"; }
    return specified;
}

bool is_error_type(const std::string& name) { return name.ends_with("Error") || name.ends_with("Err"); }

bool names_one_of(std::string_view message, const Names& types) {
    const Names names = quoted_names(message);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return types.contains(name); });
}

/// False for a name that the specification does not mention: the test itself is wrong, for example lacks a helper or an import.
/// File names count only if a module is missing: a test that forgot to import `errors` does not mean the file `errors.go`.
bool is_specified(const Language& language, std::string_view message, const Specified& specified, const Names& declared,
                  const std::string& test_file) {
    const std::string name = missing_name(message);
    const auto occurs_in = [&](const std::string& text) {
        return RE2::PartialMatch(text, R"(\b)" + RE2::QuoteMeta(name) + R"(\b)");
    };
    const std::string owner = owner_of_missing_member(language, message);
    if (specified.open_types.contains(owner)) { return true; }
    if (specified.rust_types.contains(owner) && may_come_from_trait(message)) { return true; }
    if (is_about_abilities(message) && names_one_of(message, specified.types)) { return true; }
    // Older releases of rustc do not say from which type.
    const bool converts = message.find("couldn't convert the error to `") != std::string_view::npos;
    if (converts && std::any_of(specified.rust_types.begin(), specified.rust_types.end(), is_error_type)) { return true; }
    if (!unimported_name(message, declared).empty()) { return false; }
    if (const std::string module = missing_module(message, test_file); !module.empty()) {
        const std::string stem = module.substr(0, module.rfind('.'));
        return RE2::PartialMatch(specified.files, R"("(?:\./)?)" + RE2::QuoteMeta(stem) + R"(\.)");
    }
    return name.empty() || occurs_in(specified.names) || (!is_about_identifier(message) && occurs_in(specified.files));
}

/// True if each line of the compiler's output reports a missing name that is in the specification, or follows from such a line.
bool only_lacks_specified_names(const Language& language, std::string_view message, const Specified& specified,
                                const Names& declared, const std::string& test_file) {
    const RE2 undeclared(language.undeclared, RE2::Quiet);
    bool found = false;
    bool follows = false;
    while (!message.empty()) {
        const auto end = std::min(message.find('\n'), message.size());
        const auto line = message.substr(0, end);
        const bool has_text = line.find_first_not_of(" \t\r") != std::string_view::npos;
        if (has_text && RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), undeclared) &&
            is_specified(language, line, specified, declared, test_file)) {
            found = true;
        } else if (has_text && is_consequence(line)) {
            follows = true;
        } else if (has_text) {
            return false;
        }
        message.remove_prefix(std::min(message.size(), end + 1));
    }
    return found || !follows;
}

/// True if a file calls a skeleton while it loads, so that it waits for the body.
bool meets_skeleton(std::string_view message, const std::string& marker) {
    return !marker.empty() && message.starts_with("cannot be loaded: ") && message.find(marker) != std::string_view::npos;
}

}  // namespace

bool is_broken_file(const TestOutcome& test) { return test.id == test.file && test.status == TestStatus::error; }

std::string unimported_name(std::string_view message, const std::set<std::string>& declared) {
    static const RE2 at_linking("undefined reference");
    const std::string name = missing_name(message);
    const bool is_there = is_about_identifier(message) && declared.contains(name) &&
                          !RE2::PartialMatch(re2::StringPiece(message.data(), message.size()), at_linking);
    return is_there ? name : std::string();
}

bool lacks_specified_name(const Language& language, const json::object& specification, std::string_view message,
                          const std::set<std::string>& declared, const std::string& test_file) {
    if (language.undeclared.empty() || message.empty()) { return false; }
    return only_lacks_specified_names(language, message, specified_in(specification), declared, test_file);
}

std::set<std::string> waiting_files(const Language& language, const json::object& specification, const TestRun& run,
                                    const std::set<std::string>& declared) {
    std::set<std::string> files;
    if (!run.trusted) { return files; }
    for (const auto& test : run.tests) {
        if (!is_broken_file(test)) { continue; }
        if (!meets_skeleton(test.message, language.skeleton_marker) &&
            !lacks_specified_name(language, specification, test.message, declared, test.file)) {
            return {};
        }
        files.insert(test.file);
    }
    return files;
}

Result<std::set<std::string>> declared_names(TreeCheckout& checkout, const Language& language, const json::object& specification,
                                             const std::string& tree) {
    std::set<std::string> names;
    if (language.skeleton_marker.empty()) { return names; }
    for (const json::value& each : list_of(specification, "interfaces")) {
        if (!each.is_object()) { continue; }
        const std::string file = text_of(each.get_object(), "file");
        const std::string name = text_of(each.get_object(), "name");
        if (file.empty() || name.empty()) { continue; }
        AF_TRY(const auto content, checkout.file(tree, file));
        const std::string last = name.substr(name.find_last_of(".:") + 1);
        const bool is_there = content && content->find(language.skeleton_marker) != std::string::npos &&
                              RE2::PartialMatch(*content, R"(\b)" + RE2::QuoteMeta(last) + R"(\b)");
        if (is_there) { names.insert(last); }
    }
    return names;
}

}  // namespace agentforge::kernel
