// SPDX-License-Identifier: Apache-2.0
// `exchange` for plugins: loads libagentforge-net.so once and forwards the call.
#include <dlfcn.h>
#include <link.h>
#include <filesystem>

#include "net.hpp"

namespace agentforge::http {
namespace {

Error not_whole(const std::string& why) {
    return {"AF-LLM-415", "cannot use the network: " + why, "libagentforge-net.so", "Reinstall all of AgentForge.",
            ErrorKind::unavailable};
}

/// Beside libagentforge-abi.so, which every plugin has loaded. The loader would search there too, but not if an address sanitizer
/// calls it.
std::string path_of_library() {
    const std::string name = "libagentforge-net.so";
    void* const abi = ::dlopen("libagentforge-abi.so", RTLD_NOW | RTLD_NOLOAD);
    if (abi == nullptr) { return name; }
    link_map* loaded = nullptr;
    const bool known = ::dlinfo(abi, RTLD_DI_LINKMAP, &loaded) == 0 && loaded->l_name[0] == '/';
    const std::string path = known ? std::filesystem::path(loaded->l_name).replace_filename(name).string() : name;
    ::dlclose(abi);
    return path;
}

Result<const Net*> load() {
    // Stays loaded: a thread may be left behind in it.
    void* const library = ::dlopen(path_of_library().c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) { return not_whole(::dlerror()); }
    const auto entry = reinterpret_cast<decltype(&agentforge_net)>(::dlsym(library, "agentforge_net"));
    if (entry == nullptr) { return not_whole("the library has no entry `agentforge_net`"); }
    const Net* const net = entry();
    if (net->version != std::string_view(AGENTFORGE_PROJECT_VERSION) || net->call_size != sizeof(Call) ||
        net->head_size != sizeof(Head)) {
        return not_whole("the library is from another build, version " + std::string(net->version));
    }
    return net;
}

}  // namespace

Result<Head> exchange(const Call& call, const std::function<bool()>& cancelled, const Take& take) {
    static const Result<const Net*> net = load();
    if (!net.ok()) { return net.error(); }
    return net.value()->exchange(call, cancelled, take);
}

}  // namespace agentforge::http
