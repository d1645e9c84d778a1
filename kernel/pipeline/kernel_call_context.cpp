// SPDX-License-Identifier: Apache-2.0
#include "pipeline/kernel_call_context.hpp"

namespace agentforge::kernel {

void KernelCallContext::log(LogLevel level, std::string_view message, const json::object& fields) {
    event::Logged logged{static_cast<std::uint64_t>(level), std::string(message), stage_};
    if (!fields.empty()) { logged.fields = fields; }
    services_.events.event(logged);
}

void KernelCallContext::progress(std::string_view text) { services_.events.event(event::Message{stage_, std::string(text)}); }

}  // namespace agentforge::kernel
