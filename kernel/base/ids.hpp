// SPDX-License-Identifier: Apache-2.0
// Random ids, and the form of a task id. `SystemIdSource` is the real source, `CountingIdSource` the one for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// A source of randomness, behind an interface.
class IdSource {
public:
    virtual ~IdSource() = default;
    /// Returns `digits` lower-case hexadecimal digits.
    [[nodiscard]] virtual std::string random_hex(std::size_t digits) = 0;
};

/// Reads from getrandom(2).
class SystemIdSource final : public IdSource {
public:
    [[nodiscard]] std::string random_hex(std::size_t digits) override;
};

/// Returns 000…1, 000…2, …. For tests.
class CountingIdSource final : public IdSource {
public:
    [[nodiscard]] std::string random_hex(std::size_t digits) override;

private:
    unsigned long long next_ = 0;
};

/// Returns, for instance, `task-20260102-add-oauth2-authentication-1f2e3d4c`: the day, up to five words of the request in
/// lower-case ASCII, and eight random digits. Always matches `^task-[0-9]{8}(-[a-z0-9]+)*$`.
[[nodiscard]] std::string make_task_id(std::string_view request, std::string_view day_yyyymmdd, IdSource& ids);
/// True if `text` has the form of a task id, and can therefore name a folder.
[[nodiscard]] bool is_task_id(std::string_view text) noexcept;
/// True if `name`, a question's id or the name of a file of it, is of this task: `ESC-<task id>-<stage>-<number>`. False for one
/// of a task whose id begins with this one's.
[[nodiscard]] bool is_question_of_task(std::string_view name, std::string_view task_id) noexcept;
/// What people read and type for a task: the random digits at the end of its id, `1f2e3d4c`. A text without a dash stays as it
/// is.
[[nodiscard]] std::string short_id(std::string_view task_id);
/// The fewest characters that name a task.
inline constexpr std::size_t shortest_task_name = 4;
/// Returns the ids that a person may mean by `named`: the id itself; else those whose short id begins with it or whose whole id
/// ends with it; else those that begin with it, with or without `task-`. A text shorter than `shortest_task_name` names none.
[[nodiscard]] std::vector<std::string> ids_named(const std::vector<std::string>& task_ids, std::string_view named);

}  // namespace agentforge::kernel
