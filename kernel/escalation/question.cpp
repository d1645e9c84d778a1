// SPDX-License-Identifier: Apache-2.0
#include "escalation/question.hpp"

#include <algorithm>
#include <array>

#include "base/ids.hpp"

namespace agentforge::kernel {

namespace {

struct Row {
    QuestionKind kind;
    std::string_view prefix;
    std::string_view name;
};
constexpr std::array kinds{Row{QuestionKind::escalation, "ESC-", "escalation"}, Row{QuestionKind::approval, "APR-", "approval"},
                           Row{QuestionKind::action, "ACT-", "action"}};
static_assert(std::ranges::all_of(kinds, [](const Row& row) { return row.prefix.size() == prefix_length; }));

const Row& row_of(QuestionKind kind) noexcept { return kinds[static_cast<std::size_t>(kind) - 1]; }

}  // namespace

std::string_view to_string(QuestionKind kind) noexcept { return row_of(kind).name; }
std::string_view prefix_of(QuestionKind kind) noexcept { return row_of(kind).prefix; }

std::optional<QuestionKind> kind_of(std::string_view id) noexcept {
    const auto* const row = std::ranges::find(kinds, id.substr(0, prefix_length), &Row::prefix);
    return row == kinds.end() ? std::nullopt : std::optional(row->kind);
}

std::optional<QuestionKind> kind_in_task(std::string_view id, std::string_view task_id) noexcept {
    return is_question_of_task(id, task_id) ? kind_of(id) : std::nullopt;
}

}  // namespace agentforge::kernel
