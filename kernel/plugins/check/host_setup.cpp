// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/host_setup.hpp"

#include <chrono>
#include <utility>

namespace agentforge::kernel {

void prepare_host(const PluginCalls& calls, CheckHost& host, CheckInput input) {
    host.set_deadline(std::chrono::steady_clock::now() + calls.limit() / 2);
    if (input == CheckInput::cancelled) { host.cancel(); }
    if (input == CheckInput::host_fails) { host.fail_every_request(check_host_error()); }
}

std::optional<CheckFolder> make_call_folder(const PluginCalls& calls, const CheckHooks& hooks) {
    auto folder = CheckFolder::make(hooks.workspace);
    if (folder.ok()) { return std::move(folder).value(); }
    calls.finding("calls", CheckStatus::error, folder.error());
    return std::nullopt;
}

Error check_host_error() { return {"AF-EXEC-001", "the host of `plugins check` fails every request", "", "", ErrorKind::io}; }

ProcessResult program_that_prints(std::string text) {
    ProcessResult result;
    result.exit_code = 0;
    result.out = std::move(text);
    return result;
}

}  // namespace agentforge::kernel
