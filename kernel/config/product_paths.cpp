// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "config/settings.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

bool folder_exists(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored);
}

bool file_exists(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

Result<ProductPaths> from_home(const fs::path& home) {
    if (!folder_exists(home / "config")) {
        return Error{"AF-CONF-023", "AGENTFORGE_HOME names a folder without config/", home.string(),
                     "Point it at AgentForge's folder, or unset it.", ErrorKind::not_found};
    }
    ProductPaths paths{(home / "config").string(), (home / "plugins").string(), (home / "bin" / "agentforge-exec").string()};
    for (const auto* folder : {"bin", "libexec", "libexec/agentforge"}) {
        if (file_exists(home / folder / "agentforge-exec")) {
            paths.exec_helper = (home / folder / "agentforge-exec").string();
            break;
        }
    }
    return paths;
}

Result<ProductPaths> from_build_note(const fs::path& note) {
    AF_TRY(const std::string text, read_file(note, 1U << 16U));
    AF_TRY(const json::value value, parse_json(text, note.string()));
    ProductPaths paths;
    const auto take = [&](std::string_view key, std::string& into) {
        const auto* object = value.if_object();
        const auto* found = object == nullptr ? nullptr : object->if_contains(key);
        if (found == nullptr || !found->is_string()) { return false; }
        into = std::string(found->get_string());
        return true;
    };
    if (!take("config", paths.config) || !take("plugins", paths.plugins) || !take("exec_helper", paths.exec_helper)) {
        return Error{"AF-CONF-024", "the build tree's file lacks config, plugins or exec_helper", note.string(),
                     "Run cmake again.", ErrorKind::invalid};
    }
    return paths;
}

}  // namespace

Result<ProductPaths> ProductPaths::find_for(const std::string& home, const std::string& program) {
    if (!home.empty()) { return from_home(home); }
    const auto folder = fs::path(program).parent_path();
    const auto prefix = folder.parent_path();
    if (const auto data = prefix / AGENTFORGE_DATADIR / "agentforge"; folder_exists(data / "config")) {
        return ProductPaths{(data / "config").string(), (prefix / AGENTFORGE_LIBDIR / "agentforge" / "plugins").string(),
                            (prefix / AGENTFORGE_LIBEXECDIR / "agentforge" / "agentforge-exec").string()};
    }
    for (auto at = folder; !at.empty(); at = at.parent_path()) {
        if (file_exists(at / "agentforge-build.json")) { return from_build_note(at / "agentforge-build.json"); }
        if (at == at.parent_path()) { break; }
    }
    return Error{"AF-CONF-023", "AgentForge's own files were not found next to the program", program,
                 "Install all of it, or set AGENTFORGE_HOME to the folder that contains config/ and plugins/.",
                 ErrorKind::not_found};
}

Result<ProductPaths> ProductPaths::find() {
    const char* home = std::getenv("AGENTFORGE_HOME");
    std::error_code error;
    const auto program = fs::read_symlink("/proc/self/exe", error);
    if (error && home == nullptr) {
        return Error{"AF-CONF-023", "cannot find the program's own path: " + error.message(), "/proc/self/exe",
                     "Set AGENTFORGE_HOME.", ErrorKind::not_found};
    }
    return find_for(home == nullptr ? "" : home, program.string());
}

}  // namespace agentforge::kernel
