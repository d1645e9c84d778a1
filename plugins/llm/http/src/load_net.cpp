// SPDX-License-Identifier: Apache-2.0
// `exchange` as the plugins see it: loads libagentforge-net.so, once, and hands the call on.
#include <dlfcn.h>

#include "net.hpp"

namespace agentforge::http {
namespace {

Error not_whole(const std::string& why) {
    return {"AF-LLM-415", "the network cannot be used: " + why, "libagentforge-net.so", "Install AgentForge again, whole.", ErrorKind::unavailable};
}

Result<const Net*> load() {
    // By its name: the loader looks where this plugin's other libraries are. It stays, for a thread may be left behind in it.
    void* const library = ::dlopen("libagentforge-net.so", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == nullptr) { return not_whole(::dlerror()); }
    const auto entry = reinterpret_cast<decltype(&agentforge_net)>(::dlsym(library, "agentforge_net"));
    if (entry == nullptr) { return not_whole("the library has no entry `agentforge_net`"); }
    const Net* const net = entry();
    if (net->version != std::string_view(AGENTFORGE_PROJECT_VERSION) || net->call_size != sizeof(Call) || net->head_size != sizeof(Head)) {
        return not_whole("the library is another build's, version " + std::string(net->version));
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
