// SPDX-License-Identifier: Apache-2.0
// Runs calls that may hang on a separate thread, abandons that thread at the deadline, and can name the plugin that hangs.
//
// A thread cannot be ended from outside. An abandoned thread runs on: it keeps its locks and memory, and its results are ignored.
// Code that abandons a thread must therefore end the process, without destructors, once its work is saved.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

struct BoundedWork;

/// Records the plugin call that a thread is in. One thread makes the calls; any thread may read.
class CallWatch {
public:
    struct Seen {
        std::string callee;  ///< ``tool `x` of plugin `y` ``
        std::string function;
        std::uint64_t number = 0;  ///< Different for each call.
    };
    /// Returns the innermost call that has not returned.
    [[nodiscard]] std::optional<Seen> now() const;
    /// Returns, for instance, `: the tool `x` of plugin `y` hung in call()`. Empty if no plugin is being called.
    [[nodiscard]] std::string culprit() const;

    /// Returns a copy of the text that lives as long as the process, so another thread may read it at any time.
    [[nodiscard]] static const std::string& lasting(std::string_view text);

    /// Returns, for instance, ``call() of the tool `x` of plugin `y` ``: the innermost call that this thread is in. "" if it is
    /// in none.
    [[nodiscard]] static std::string of_this_thread();

    /// One call, from begin to end. `callee` is from `lasting`, `function` a literal.
    class Call {
    public:
        Call(const std::string& callee, const char* function) noexcept;
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;
        ~Call();

    private:
        friend class CallWatch;
        CallWatch* watch_;  ///< Null if the thread has no watch.
        const std::string* callee_;
        const char* function_;
        const Call* outer_;
    };

private:
    friend std::vector<bool> run_bounded(std::vector<BoundedWork> works,
                                         const std::function<bool(const std::vector<bool>& returned)>& overdue);
    static inline constinit thread_local CallWatch* here = nullptr;
    static inline constinit thread_local const Call* innermost = nullptr;

    std::atomic<const std::string*> callee_{nullptr};
    std::atomic<const char*> function_{nullptr};
    std::atomic<std::uint64_t> number_{0};
};

/// `run` must share ownership of everything it uses; its own share is released on its thread before `run_bounded` returns. It
/// must not throw.
struct BoundedWork {
    std::function<void()> run;
    std::shared_ptr<CallWatch> watch = {};  ///< May be null.
};

/// Runs all `works` at once, each on a separate thread, and returns which of them have returned: all, unless some were abandoned.
/// Calls `overdue` every 50 ms and whenever one has returned; once it returns true, abandons the threads of the others. If the
/// machine has no thread left, a work runs on the caller's thread and is never abandoned.
[[nodiscard]] std::vector<bool> run_bounded(std::vector<BoundedWork> works,
                                            const std::function<bool(const std::vector<bool>& returned)>& overdue);
/// The same for one work. Returns whether it has returned.
[[nodiscard]] bool run_bounded(std::function<void()> work, const std::shared_ptr<CallWatch>& watch,
                               const std::function<bool()>& overdue);

}  // namespace agentforge::kernel
