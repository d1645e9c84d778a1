// SPDX-License-Identifier: Apache-2.0
// Calls that may hang: run on a thread of their own, given up at their deadline, with the plugin that hangs known by name.
//
// A thread cannot be ended from outside. Given up, it is left to itself: what it holds stays held, and nobody listens to what it
// says. So whoever gives a thread up must end the process without destructors once its work is saved.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace agentforge::kernel {

/// Which call into a plugin a thread is in. One thread makes the calls, any thread looks.
class CallWatch {
public:
    struct Seen {
        std::string whom;  ///< ``tool `x` of plugin `y` ``
        std::string function;
        std::uint64_t number = 0;  ///< Another one for each call.
    };
    /// The innermost call that has not returned.
    [[nodiscard]] std::optional<Seen> now() const;
    /// `: the tool `x` of plugin `y` hung in call()`, or nothing where no plugin is being called.
    [[nodiscard]] std::string culprit() const;

    /// A text that lives as long as the process, so that another thread may read it at any time.
    [[nodiscard]] static const std::string& lasting(std::string_view text);

    /// ``call() of the tool `x` of plugin `y` ``: the innermost call that this thread is in; "" where it is in none.
    [[nodiscard]] static std::string of_this_thread();

    /// One call, from its begin to its end. `whom` is `lasting`, `function` a literal.
    class Call {
    public:
        Call(const std::string& whom, const char* function) noexcept;
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;
        ~Call();

    private:
        friend class CallWatch;
        CallWatch* watch_;  ///< Null where nobody watches the thread.
        const std::string* whom_;
        const char* function_;
        const Call* outer_;
    };

private:
    friend bool run_bounded(std::function<void()> work, const std::shared_ptr<CallWatch>& watch,
                            const std::function<bool()>& overdue);
    static inline constinit thread_local CallWatch* here = nullptr;
    static inline constinit thread_local const Call* innermost = nullptr;

    std::atomic<const std::string*> whom_{nullptr};
    std::atomic<const char*> function_{nullptr};
    std::atomic<std::uint64_t> number_{0};
};

/// Runs `work` on a thread of its own and returns true once it has returned; `overdue` is asked every 50 ms, and where it says so
/// the thread is given up and the answer is false. `work` must own a share of all it touches; what it owns is let go on its
/// thread, before this returns. It must not throw. If the machine has no thread left, it runs on the caller's and is not given
/// up.
[[nodiscard]] bool run_bounded(std::function<void()> work, const std::shared_ptr<CallWatch>& watch,
                               const std::function<bool()>& overdue);

}  // namespace agentforge::kernel
