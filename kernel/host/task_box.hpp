// SPDX-License-Identifier: Apache-2.0
// Tasks as a person sees them on a terminal: the boxes of `status` (North Star 11.3).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "host/box.hpp"
#include "task/state.hpp"
#include "task/store.hpp"

namespace agentforge::kernel {

/// What the journal's end says of a task beyond its state.
struct LastActs {
    std::string action;                     ///< The newest step's tool; empty: none in what was read.
    std::string at;
    std::uint64_t tests = 0;                ///< Of the newest gate that ran any; 0: none was seen.
    std::uint64_t tests_passed = 0;
    std::optional<bool> conformance;
};

/// From the last 256 KiB of a journal, without checking it: for a glance. What cannot be read is not there.
[[nodiscard]] LastActs last_acts(const std::filesystem::path& journal);

/// One task of a listing, with what only its own files say.
struct TaskGlance {
    TaskSummary summary;
    bool running = false;                   ///< A process has it.
    bool began = true;                      ///< Its journal has a record.
    std::string ended_in;                   ///< The plugin call in which its last process died, or empty.
    std::size_t stages_done = 0;
    std::size_t stages = 0;                 ///< To the end of its pipeline; 0: not known.
    std::string waiting_id;
    std::string question;                   ///< What it waits for, in words.
    LastActs acts;
};

/// It was under way, and no process has it: `resume` goes on.
[[nodiscard]] bool is_interrupted(const TaskGlance& task);
/// What stands below the head of a task that has not ended where no box can be shown: nothing that passes by itself.
[[nodiscard]] std::vector<std::string> plain_lines(const TaskGlance& task);
/// What a person can do about it, in the words of the command line.
[[nodiscard]] std::vector<std::string> ways_on(const TaskGlance& task);

/// Of a task whose state is known; its folder says only who has it and what it did last.
[[nodiscard]] TaskGlance glance_of(const TaskState& state, const TaskPaths& paths);
/// Looks at a task of a listing, where it has not ended. Its state is read from `state.yaml`, which may be a record behind.
[[nodiscard]] TaskGlance glance_at(const TaskStore& store, TaskSummary summary);
[[nodiscard]] json::object to_json(const TaskGlance& glance);

struct TaskCounts { std::size_t active = 0; std::size_t completed = 0; std::size_t waiting = 0; };

/// All tasks that are shown, newest first; `left_out` of them are not.
[[nodiscard]] std::vector<BoxPart> box_of_tasks(const std::string& project, const TaskCounts& counts, const std::vector<TaskGlance>& shown, std::size_t left_out, const BoxLook& look,
                                                std::chrono::system_clock::time_point now);

/// One task: its head, its stages, what it waits for or came to. `cost`: in words, or empty.
[[nodiscard]] std::vector<BoxPart> box_of_task(const TaskState& state, const TaskGlance& glance, const std::string& cost, const BoxLook& look, std::chrono::system_clock::time_point now);

/// The part of a task's id that is enough of it, as a rule: its last eight digits.
[[nodiscard]] std::string short_id(const std::string& task_id);
/// `12 s`, `5 m`, `3 h 20 m`, `2 d 3 h`: coarse, for what was long ago. Empty where the text is no time.
[[nodiscard]] std::string time_since(const std::string& then, std::chrono::system_clock::time_point now);

}  // namespace agentforge::kernel
