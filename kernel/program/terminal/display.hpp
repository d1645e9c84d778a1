// SPDX-License-Identifier: Apache-2.0
// Progress for people: a line for each event; on a terminal also a live view of a few lines at the bottom.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <iosfwd>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "program/log/progress.hpp"
#include "program/terminal/live_view.hpp"

namespace agentforge::kernel {

/// On a terminal, a separate thread redraws changed live lines four times a second, so that the elapsed times
/// advance while a model or tests run. The thread ends with the object.
class Display final : public Progress {
public:
    struct Options {
        bool terminal = false;  ///< Keep live lines at the bottom.
        bool colour = false;
        bool unicode = true;                        ///< Else only ASCII is written.
        bool quiet = false;                         ///< Only warnings.
        std::function<std::size_t()> columns = {};  ///< The terminal's width, asked each time; 80 if unset.
        std::function<bool()> stopping = {};        ///< True if the run stops at the end of its step.
        std::function<bool()> continued = {};       ///< True if the program was resumed after Ctrl-Z since the last call.
    };
    Display(std::ostream& out, Options options);
    ~Display() override;
    Display(const Display&) = delete;
    Display& operator=(const Display&) = delete;
    void event(const Event& event) override;
    void recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) override;

private:
    class Lines;
    void line(const std::string& text);
    void gate_line(const std::string& text);
    void release_gates();
    void draw(std::string_view above);
    void tick();
    [[nodiscard]] std::size_t columns() const;
    [[nodiscard]] std::string mark(bool good) const;
    [[nodiscard]] std::string without_repetition(std::string summary) const;
    [[nodiscard]] std::string paint(std::string_view text, int colour) const;

    std::ostream& out_;
    Options options_;
    std::mutex mutex_;  ///< Guards all members below.
    LiveView live_;
    std::size_t live_lines_ = 0;    ///< If it is a terminal, the cursor is in the last of them.
    std::size_t live_columns_ = 0;  ///< The terminal's width when they were drawn.
    std::string drawn_;
    std::string failed_gate_;        ///< The last gate's message, if it failed.
    std::uint64_t steps_ = 0;        ///< Of the whole task, as recorded.
    bool deciding_ = false;          ///< The model was asked, and its action is not known yet. Lines of gates are held until it
                                     ///< is.
    bool shown_ = false;             ///< The action of the current step was shown.
    std::vector<std::string> held_;  ///< Lines of gates that the action caused.
    std::map<std::string, std::string, std::less<>> said_;  ///< The last message of each gate that passed on some paths.
    std::optional<std::uint64_t> failing_before_;           ///< Tests that fail without the task.
    bool asked_here_ = false;                               ///< The console asks on this terminal.
    bool over_ = false;
    std::condition_variable wake_;
    std::optional<std::thread> ticker_;
};

/// Returns a text from a model or a file, made safe for a terminal: control and bidirectional characters are escaped.
[[nodiscard]] std::string printable(std::string_view text, std::size_t max_bytes = 200);
/// Returns a task's request in quotes, or "(the request is unknown)" if its files cannot be read.
[[nodiscard]] std::string quoted_request(std::string_view request, std::size_t max_bytes);
/// The same for a text of many lines, whole: lines and tabs stay.
[[nodiscard]] std::string printable_lines(std::string_view text);
/// `12 ms`, `3.4 s`, `2 m 05 s`, `1 h 02 m`.
[[nodiscard]] std::string human_duration(std::chrono::milliseconds time);

}  // namespace agentforge::kernel
