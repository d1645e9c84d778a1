// SPDX-License-Identifier: Apache-2.0
#include "backends/circuit_breaker.hpp"

#include <utility>

namespace agentforge::kernel {

Result<void> CircuitBreaker::admit() {
    const std::lock_guard lock(mutex_);
    if (failures_ < failures_in_a_row) { return {}; }
    const auto now = now_();
    if (now >= open_until_ && !trying_) {
        trying_ = true;
        return {};
    }
    const auto left = std::chrono::ceil<std::chrono::seconds>(open_until_ - now).count();
    return Error{"AF-LLM-108",
                 "the model failed " + std::to_string(failures_) + " times in a row and is not called" +
                     (left > 0 ? " for another " + std::to_string(left) + " s" : " until another call has returned") +
                     "; the last failure: " + last_,
                 "", "Resume when it recovers, or choose another model.", ErrorKind::unavailable};
}

void CircuitBreaker::succeeded() {
    const std::lock_guard lock(mutex_);
    failures_ = 0;
    trying_ = false;
}

void CircuitBreaker::undecided() {
    const std::lock_guard lock(mutex_);
    trying_ = false;
}

void CircuitBreaker::failed(const Error& error) {
    const std::lock_guard lock(mutex_);
    trying_ = false;
    last_ = error.code + ": " + error.message;
    if (++failures_ >= failures_in_a_row) { open_until_ = now_() + rest; }
}

}  // namespace agentforge::kernel
