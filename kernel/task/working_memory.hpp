// SPDX-License-Identifier: Apache-2.0
// The latest events of a task as lines, computed from its records. A value: no files, no locks; used by one thread at a time.
#pragma once

#include <deque>
#include <string>

#include "records/records.hpp"

namespace agentforge::kernel {

/// The content of `working_memory.yaml`: the latest events, one line each, the newest last. Folded from the journal.
class WorkingMemory {
public:
    WorkingMemory() = default;
    /// Continues from what `items` returned.
    explicit WorkingMemory(std::deque<std::string> items) : items_(std::move(items)), changed_(!items_.empty()) {}
    [[nodiscard]] const std::deque<std::string>& items() const;
    [[nodiscard]] bool empty() const noexcept { return items_.empty() && unwritten_.empty(); }

    void add(records::AnyRecord record);
    /// True if something was added since `shown`.
    [[nodiscard]] bool changed() const noexcept { return changed_; }
    void shown() noexcept { changed_ = false; }
    /// Returns the text of the whole file.
    [[nodiscard]] std::string text() const;

private:
    mutable std::deque<std::string> items_;
    /// Later events, whose lines `items` writes: most are replaced before that is needed.
    mutable std::deque<records::AnyRecord> unwritten_;
    bool changed_ = false;
};

}  // namespace agentforge::kernel
