// SPDX-License-Identifier: Apache-2.0
// The three kinds of items that wait for a person, and their ids. The first letters of an id say its kind; nothing else reads
// them.
#pragma once

#include <optional>
#include <string_view>

namespace agentforge::kernel {

/// A question to a person, an artifact to approve, or an action that a model proposed.
enum class QuestionKind : unsigned char { escalation = 1, approval, action };

/// Returns `escalation`, `approval` or `action`.
[[nodiscard]] std::string_view to_string(QuestionKind kind) noexcept;

/// Returns `ESC-`, `APR-` or `ACT-`.
[[nodiscard]] std::string_view prefix_of(QuestionKind kind) noexcept;
constexpr std::size_t prefix_length = 4;

/// Returns the kind of the item with this id. Empty if no id begins like this.
[[nodiscard]] std::optional<QuestionKind> kind_of(std::string_view id) noexcept;
/// The same, but empty for an item of another task.
[[nodiscard]] std::optional<QuestionKind> kind_in_task(std::string_view id, std::string_view task_id) noexcept;

}  // namespace agentforge::kernel
