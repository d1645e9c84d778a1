// SPDX-License-Identifier: Apache-2.0
// `listen` for the program: loads libagentforge-server.so and forwards the call.
#include <dlfcn.h>

#include <filesystem>

#include "dashboard/http_server.hpp"

namespace agentforge::kernel {

namespace {

constexpr const char* library_name = "libagentforge-server.so";

Error not_whole(const std::string& why) {
    return {"AF-DASH-032", "The dashboard's server cannot be used: " + why, library_name, "Reinstall all of AgentForge.",
            ErrorKind::unavailable};
}

/// The library is in the folder of the program's other libraries.
std::string path_of_library() {
    std::error_code none;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", none);
    const auto beside = program.parent_path().parent_path() / AGENTFORGE_LIBRARY_FOLDER / library_name;
    return !none && std::filesystem::exists(beside, none) ? beside.string() : std::string(library_name);
}

}  // namespace

Result<std::unique_ptr<HttpListener>> listen(const ServerSettings& settings) {
    void* const library = ::dlopen(path_of_library().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) { return not_whole(::dlerror()); }
    const auto entry = reinterpret_cast<decltype(&agentforge_server)>(::dlsym(library, "agentforge_server"));
    if (entry == nullptr) { return not_whole("it has no entry `agentforge_server`"); }
    const ServerLibrary* const server = entry();
    if (server->version != std::string_view(AGENTFORGE_VERSION) || server->settings_size != sizeof(ServerSettings) ||
        server->request_size != sizeof(HttpRequest)) {
        return not_whole("it is from another build, version " + std::string(server->version));
    }
    return server->listen(settings);
}

}  // namespace agentforge::kernel
