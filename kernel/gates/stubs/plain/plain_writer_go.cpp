// SPDX-License-Identifier: Apache-2.0
// What only Go needs: groups, receivers, packages and imports.
#include "gates/stubs/plain/plain_writer.hpp"

#include <algorithm>
#include <utility>

#include <re2/re2.h>

#include "gates/language/source_text.hpp"
#include "gates/stubs/plain/go_code.hpp"
#include "gates/stubs/plain/plain_text.hpp"

namespace agentforge::kernel {

void PlainWriter::declare_group(const SkeletonInterface& interface, const std::string& signature) {
    const auto name = last_part(interface.name);
    static const RE2 first(R"(\(\s*(\w+))");
    std::string begins;
    if (!RE2::PartialMatch(signature, first, &begins) || is_named(interface.file, begins) || is_named(interface.file, name)) {
        return;
    }
    write(content(interface.file), signature + "\n");
    import_what_is_named(content(interface.file), signature);
}

void PlainWriter::declare_receiver(const std::string& path, const std::string& owner, const std::string& signature) {
    std::string list;
    RE2::PartialMatch(signature, R"(^func\s+\([^)\[]*\[([^\]]*)\])", &list);
    std::string parameters;
    for (const auto& each : split_list(list)) { parameters += (parameters.empty() ? "" : ", ") + each + " any"; }
    declare_type(path, owner, "type " + owner + (parameters.empty() ? "" : "[" + parameters + "]") + " struct{}");
}

void PlainWriter::import_go(std::string& text, const std::string& word) const {
    const std::string imported =
        R"re((?m)^\s*(?:import\s+)?(?:)re" + word + R"re(\s+"[^"\n]+"|"(?:[^"\n]*/)?)re" + word + R"re((?:/v\d+)?")\s*$)re";
    if (RE2::PartialMatch(text, imported)) { return; }
    const auto path = go_path(word);
    std::string package;
    if (path.empty() || !RE2::PartialMatch(text, R"((?m)^(package\s+\w+[^\n]*\n))", &package)) { return; }
    text.insert(text.find(package) + package.size(), "\nimport \"" + path + "\"\n");
}

std::string PlainWriter::go_path(const std::string& word) const {
    std::string module;
    const auto go_mod = contents_.find("go.mod");
    if (go_mod != contents_.end()) { RE2::PartialMatch(go_mod->second, R"((?m)^module\s+(\S+))", &module); }
    for (const auto& file : existing_) {
        const auto folder = folder_path(file);
        if (!module.empty() && file.ends_with(".go") && !file.ends_with("_test.go") &&
            (folder == word || folder.ends_with("/" + word))) {
            return module + "/" + folder;
        }
    }
    return std::string(standard_go_package(word));
}

std::string PlainWriter::go_package(const std::string& path) const {
    const auto folder = folder_path(path);
    for (const auto& [other, text] : contents_) {
        std::string package;
        if (folder_path(other) == folder && other.ends_with(".go") && !other.ends_with("_test.go") &&
            RE2::PartialMatch(text, R"((?m)^package\s+(\w+))", &package)) {
            return package;
        }
    }
    auto name = folder.substr(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
    if (name.empty()) {
        // In the top folder, the package has the name of the module's last part, as its tests expect.
        const auto module = contents_.find("go.mod");
        if (module != contents_.end()) {
            RE2::PartialMatch(module->second, R"((?m)^module\s+(?:\S*/)?([A-Za-z]\w*)\s*$)", &name);
        }
    }
    std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; });
    return name.empty() ? "main" : name;
}

}  // namespace agentforge::kernel
