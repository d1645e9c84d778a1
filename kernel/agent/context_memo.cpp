// SPDX-License-Identifier: Apache-2.0
#include "agent/context_memo.hpp"

#include <utility>

namespace agentforge::kernel {

const Piece& ContextMemo::piece(std::string key, const std::function<Piece()>& make) {
    if (const auto known = now_.find(key); known != now_.end()) { return known->second; }
    if (auto old = before_.extract(key)) { return now_.insert(std::move(old)).position->second; }
    Piece made = make();
    return now_.emplace(std::move(key), std::move(made)).first->second;
}

void ContextMemo::next() {
    before_ = std::move(now_);
    now_.clear();
}

}  // namespace agentforge::kernel
