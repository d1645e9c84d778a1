// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <string>

#include "records/records.hpp"

namespace agentforge::kernel {

/// What `working_memory.yaml` shows: the last things that happened, one line each, the newest last (North Star 3.3). A fold of
/// the journal.
class WorkingMemory {
public:
    WorkingMemory() = default;
    /// Goes on from what `items` gave.
    explicit WorkingMemory(std::deque<std::string> items) : items_(std::move(items)), changed_(!items_.empty()) {}
    [[nodiscard]] const std::deque<std::string>& items() const noexcept { return items_; }

    void add(const records::AnyRecord& record);
    /// Whether something was added since `shown`.
    [[nodiscard]] bool changed() const noexcept { return changed_; }
    void shown() noexcept { changed_ = false; }
    /// The whole file.
    [[nodiscard]] std::string text() const;

private:
    std::deque<std::string> items_;
    bool changed_ = false;
};

}  // namespace agentforge::kernel
