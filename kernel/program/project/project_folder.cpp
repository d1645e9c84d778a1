// SPDX-License-Identifier: Apache-2.0
#include "program/project/project_folder.hpp"

#include <filesystem>
#include <string_view>

#include "base/files.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::string_view private_ignore =
    "# Made by `agentforge start`. Run `agentforge init` to share settings, agents and contracts through git.\n*\n";
constexpr std::string_view shared_ignore =
    "# Made by `agentforge init`. Configuration is committed; what tasks leave behind is not.\n"
    "/tasks/\n/escalations/\n/violations/\n/audit/\n/logs/\n/cache/\n";

}  // namespace

Result<void> prepare_project_folder(const ProjectPlace& place, bool shared) {
    AF_CHECK(make_directories(place.agentforge));
    const std::filesystem::path ignore = place.agentforge / ".gitignore";
    if (!shared) {
        auto made = create_file_exclusive(ignore, private_ignore, Durability::cached);
        if (!made.ok() && made.error().kind != ErrorKind::conflict) { return made; }
        return {};
    }
    const auto present = read_file(ignore);
    if (present.ok() && *present != private_ignore) { return {}; }
    return write_file_atomic(ignore, shared_ignore, Durability::synced);
}

void remove_empty_project_folder(const ProjectPlace& place) {
    const std::filesystem::path ignore = place.agentforge / ".gitignore";
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(place.agentforge, error)) {
        if (entry.path() != ignore) { return; }
    }
    if (const auto text = read_file(ignore); !text.ok() || *text != private_ignore) { return; }
    std::filesystem::remove(ignore, error);
    std::filesystem::remove(place.agentforge, error);
}

}  // namespace agentforge::kernel
