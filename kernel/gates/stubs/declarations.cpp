// SPDX-License-Identifier: Apache-2.0
#include "gates/stubs/declarations.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "gates/stubs/skeleton_plain.hpp"
#include "gates/stubs/stubs.hpp"

namespace agentforge::kernel {
namespace {

constexpr int most_rounds = 12;  ///< A compiler reports the errors of one package, crate or file at a time.
constexpr std::size_t most_shown = 5;

/// True if the new text lacks lines of the old one. An added declaration breaks no caller.
bool removes_lines(std::string_view before, std::string_view after) {
    std::istringstream old_lines{std::string(before)};
    std::istringstream new_lines{std::string(after)};
    std::string wanted;
    std::string line;
    while (std::getline(old_lines, wanted)) {
        do {
            if (!std::getline(new_lines, line)) { return true; }
        } while (line != wanted);
    }
    return false;
}

std::string where_and_what(const Violation& error) {
    return (error.file.empty() ? std::string{} : error.file + ":" + std::to_string(error.line) + ": ") + error.message;
}

Error cannot_declare(const std::string& problems) {
    return {"AF-GATE-030", "Interfaces of the specification cannot be declared: " + problems + ".", "specification.interfaces",
            "Correct the name, file and signature of these interfaces.", ErrorKind::invalid};
}

/// Adds to `texts_of` the other files that the declarations need. `existing`: the files of the tree.
Result<void> read_related_files(TreeCheckout& checkout, const Language& language, const std::string& tree,
                                const std::vector<SkeletonInterface>& interfaces, const std::vector<std::string>& existing,
                                std::map<std::string, std::string>& texts_of) {
    const bool plain = is_plain_skeleton(language.skeletons);
    // In C and C++ a declaration needs the headers with its types, and the sources with the definition of what it changes;
    // elsewhere, the other files of its package, and go.mod.
    constexpr std::size_t most_files = 2000;
    const Globs headers({"*.h", "*.hh", "*.hpp", "*.hxx"});
    for (const auto& file : existing) {
        const auto folder = file.substr(0, file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1);
        const bool beside = std::any_of(interfaces.begin(), interfaces.end(), [&](const auto& each) {
            return each.file.size() > folder.size() && each.file.starts_with(folder) &&
                   each.file.find('/', folder.size()) == std::string::npos;
        });
        const bool helps = plain ? file == "go.mod" || (beside && language.sources.matches(file))
                                 : (headers.matches(file) || language.sources.matches(file)) && !language.belongs_to_tests(file);
        if (!helps || texts_of.contains(file) || texts_of.size() > (plain ? 200 : most_files)) { continue; }
        AF_TRY(auto content, checkout.file(tree, file));
        if (content && is_valid_utf8(*content)) { texts_of[file] = std::move(*content); }
    }
    return {};
}

/// Returns the text of each interface's file that exists. Error: AF-GATE-030 a file is not UTF-8.
Result<json::object> contents_of_interfaces(TreeCheckout& checkout, const std::string& tree,
                                            const std::vector<SkeletonInterface>& interfaces,
                                            const std::vector<std::string>& existing) {
    json::object contents;
    for (const auto& interface : interfaces) {
        if (std::find(existing.begin(), existing.end(), interface.file) == existing.end()) { continue; }
        AF_TRY(const auto content, checkout.file(tree, interface.file));
        if (content && !is_valid_utf8(*content)) {
            return Error{"AF-GATE-030", "The file of `" + interface.name + "` is not UTF-8, so no declaration can be added.",
                         interface.file, "Name another file for the interface.", ErrorKind::invalid};
        }
        if (content) { contents[interface.file] = *content; }
    }
    return contents;
}

/// Paths and texts.
using WrittenFiles = std::vector<std::pair<std::string, std::string>>;

/// Writes the declarations of a language whose skeletons the kernel writes. `contents`: the interfaces' files.
Result<WrittenFiles> write_skeletons(TreeCheckout& checkout, const Language& language, const std::string& tree,
                                     const std::vector<SkeletonInterface>& interfaces, const std::vector<std::string>& existing,
                                     const json::object& contents) {
    std::map<std::string, std::string> texts_of;
    for (const auto& [file, text] : contents) { texts_of.emplace(file, text.get_string()); }
    AF_CHECK(read_related_files(checkout, language, tree, interfaces, existing, texts_of));
    auto written = is_plain_skeleton(language.skeletons)
                       ? write_plain_skeletons(language.skeletons, interfaces, texts_of, existing, language.skeleton_marker)
                       : write_c_skeletons(interfaces, texts_of, existing, language.skeleton_marker);
    if (written.problems.empty()) { return std::move(written.files); }
    std::string all;
    for (const auto& problem : written.problems) { all += (all.empty() ? "" : "; ") + problem; }
    return cannot_declare(all);
}

/// Lets the language's own command write the declarations.
Result<WrittenFiles> run_skeleton_command(LanguageCommands& commands, const Language& language, const json::object& input,
                                          const Stop& stop) {
    AF_TRY(const auto lines, commands.run_for_lines(language, "skeleton", "", input, stop));
    WrittenFiles files;
    std::string problems;
    for (const auto& line : lines) {
        if (line.if_contains("end") != nullptr) { break; }
        if (line.if_contains("problem") != nullptr) {
            problems += (problems.empty() ? "" : "; ") + text_of(line, "problem");
        } else {
            files.emplace_back(text_of(line, "path"), text_of(line, "content"));
        }
    }
    if (!problems.empty()) { return cannot_declare(problems); }
    return files;
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> Declarations::declarations(
    const std::string& tree, const std::vector<SkeletonInterface>& interfaces, const Stop& stop) {
    if (interfaces.empty()) { return WrittenFiles(); }
    AF_TRY(const auto* found, languages_.of(tree));
    // RED's tests must then fail without a skeleton.
    if (found->skeletons.empty() && !found->commands.contains("skeleton")) { return WrittenFiles(); }
    AF_TRY(const auto existing, checkout_.files(tree));
    AF_TRY(json::object contents, contents_of_interfaces(checkout_, tree, interfaces, existing));
    if (!found->skeletons.empty()) { return write_skeletons(checkout_, *found, tree, interfaces, existing, contents); }
    for (const auto& file : found->skeleton_reads) {
        if (contents.contains(file) || std::find(existing.begin(), existing.end(), file) == existing.end()) { continue; }
        AF_TRY(const auto content, checkout_.file(tree, file));
        if (content && is_valid_utf8(*content)) { contents[file] = *content; }
    }
    json::array wanted;
    for (const auto& interface : interfaces) {
        wanted.push_back(json::object{{"name", interface.name}, {"file", interface.file}, {"signature", interface.signature}});
    }
    const json::object input{{"interfaces", std::move(wanted)},
                             {"contents", std::move(contents)},
                             {"existing", json::array(existing.begin(), existing.end())},
                             {"marker", found->skeleton_marker}};
    return run_skeleton_command(commands_, *found, input, stop);
}

Result<std::vector<Violation>> Declarations::errors_with_declarations(const Language& language, const TypeChecker& checker,
                                                                      const std::string& tree, const DeclaredFiles& files,
                                                                      const Stop& stop) {
    commands_.overlay_files(files);
    bool installed = true;
    auto found = checks_.compile_errors(language, checker, tree, stop, installed);
    commands_.overlay_files({});
    return found;
}

Result<bool> Declarations::stub_callers(const Language& language, const std::string& tree, const std::vector<Violation>& errors,
                                        DeclaredFiles& files) {
    std::map<std::string, std::set<std::uint64_t>> lines;
    for (const auto& error : errors) {
        if (error.line > 0 && language.sources.matches(error.file) && !language.belongs_to_tests(error.file)) {
            lines[error.file].insert(error.line);
        }
    }
    std::map<std::string, std::string> texts_of;
    AF_TRY(const auto existing, checkout_.files(tree));
    const bool is_c = language.skeletons == "c";
    if (is_c) { AF_CHECK(read_related_files(checkout_, language, tree, {}, existing, texts_of)); }
    bool any = false;
    for (const auto& [path, numbers] : lines) {
        const auto written = files.find(path);
        AF_TRY(const auto before, checkout_.file(tree, path));
        if (!before || !is_valid_utf8(*before)) { continue; }
        const auto& text = written != files.end() ? written->second : *before;
        auto stubbed = is_c ? stub_c_functions(path, text, numbers, texts_of, existing, language.skeleton_marker)
                            : stub_functions_at(text, language.code, language.stubs, numbers, language.skeleton_marker);
        if (stubbed == text) { continue; }
        files[path] =
            is_plain_skeleton(language.skeletons) ? without_unused_code(language.skeletons, stubbed) : std::move(stubbed);
        any = true;
    }
    return any;
}

Result<bool> Declarations::replaces_lines(const std::string& tree, const DeclaredFiles& files) {
    for (const auto& [path, text] : files) {
        AF_TRY(const auto before, checkout_.file(tree, path));
        if (before && removes_lines(*before, text)) { return true; }
    }
    return false;
}

Result<void> Declarations::stub_broken_callers(const TypeChecker& checker, const std::string& tree, Declared& result,
                                               const Stop& stop) {
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(auto errors, errors_with_declarations(*found, checker, tree, result.files, stop));
    if (errors.empty()) { return {}; }
    AF_TRY(const auto before, errors_with_declarations(*found, checker, tree, {}, stop));
    std::set<std::string> known;
    for (const auto& each : before) { known.insert(each.file + "\n" + each.message); }
    // Errors that were there before, and errors in existing tests, say nothing about the declarations.
    const auto is_old = [&](const Violation& each) {
        return known.contains(each.file + "\n" + each.message) || (!each.file.empty() && found->belongs_to_tests(each.file));
    };
    std::erase_if(errors, is_old);
    auto tried = result.files;
    for (int round = 0; !errors.empty() && round < most_rounds; ++round) {
        AF_TRY(const bool changed, stub_callers(*found, tree, errors, tried));
        if (!changed) { break; }
        AF_TRY(errors, errors_with_declarations(*found, checker, tree, tried, stop));
        std::erase_if(errors, is_old);
    }
    AF_TRY(const bool runs_as_it_is, commands_.needs_no_build(*found, tree));
    if (errors.empty() || runs_as_it_is) {
        result.files = std::move(tried);
    } else {
        result.errors = std::move(errors);
    }
    return {};
}

Result<const Declarations::Declared*> Declarations::declared(const std::string& tree,
                                                             const std::vector<SkeletonInterface>& interfaces, const Stop& stop) {
    json::array named{tree};
    for (const auto& each : interfaces) { named.push_back(json::array{each.name, each.file, each.signature}); }
    const auto key = hash_of(named);
    if (const auto known = declared_.find(key); known != declared_.end()) { return &known->second; }
    AF_TRY(const auto written, declarations(tree, interfaces, stop));
    Declared result{.files = {written.begin(), written.end()}, .errors = {}};
    AF_TRY(const auto* checker, languages_.type_checker(tree));
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(const bool runs_as_it_is, commands_.needs_no_build(*found, tree));
    AF_TRY(const bool replaces, replaces_lines(tree, result.files));
    // Without a build step, a type error does not stop tests from running. A body that no longer fits its changed signature may.
    if (!result.files.empty() && checker != nullptr && (!runs_as_it_is || replaces)) {
        AF_CHECK(stub_broken_callers(*checker, tree, result, stop));
    }
    return &declared_.emplace(key, std::move(result)).first->second;
}

Result<std::vector<std::pair<std::string, std::string>>> Declarations::skeleton(const std::string& tree,
                                                                                const std::vector<SkeletonInterface>& interfaces,
                                                                                const Stop& stop) {
    AF_TRY(auto written, declarations(tree, interfaces, stop));
    AF_TRY(const bool replaces, replaces_lines(tree, {written.begin(), written.end()}));
    // In C and C++ an added overload, field or enumerator may break a caller, too.
    AF_TRY(const auto* found, languages_.of(tree));
    AF_TRY(const auto existing, checkout_.files(tree));
    const bool adds = found->skeletons == "c" && std::any_of(written.begin(), written.end(), [&](const auto& each) {
                          return std::find(existing.begin(), existing.end(), each.first) != existing.end();
                      });
    if (!replaces && !adds) { return written; }
    AF_TRY(const auto* known, declared(tree, interfaces, stop));
    return std::vector<std::pair<std::string, std::string>>(known->files.begin(), known->files.end());
}

Result<void> Declarations::try_skeleton(const std::string& tree, const std::vector<SkeletonInterface>& interfaces,
                                        const Stop& stop) {
    AF_TRY(const auto* tried, declared(tree, interfaces, stop));
    if (tried->errors.empty()) { return {}; }
    std::string text;
    for (std::size_t at = 0; at < std::min(tried->errors.size(), most_shown); ++at) {
        text += (at == 0 ? "" : "; ") + where_and_what(tried->errors[at]);
    }
    return Error{"AF-GATE-030", "The interfaces of the specification do not compile as declared: " + text + ".",
                 "specification.interfaces",
                 "Correct the signatures. Declare the types, constants and aliases that they need as interfaces before them.",
                 ErrorKind::invalid};
}

}  // namespace agentforge::kernel
