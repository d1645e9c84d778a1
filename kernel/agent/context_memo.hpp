// SPDX-License-Identifier: Apache-2.0
// Caches pieces of contexts between the steps of a run.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "agent/shorten.hpp"

namespace agentforge::kernel {

/// Caches the pieces of the previous context with their token counts, for one run whose spec stays the same. It changes no byte
/// of any context.
class ContextMemo {
public:
    /// Returns the cached piece for this key, or the result of `make`. Valid until the next context but one.
    const Piece& piece(std::string key, const std::function<Piece()>& make);
    /// Starts a new context. Forgets pieces that the last one did not use.
    void next();

private:
    std::unordered_map<std::string, Piece> now_;
    std::unordered_map<std::string, Piece> before_;
};

}  // namespace agentforge::kernel
