// SPDX-License-Identifier: Apache-2.0
#include <agentforge/conversation.hpp>
#include <agentforge/process.hpp>

#include "tree.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace agentforge::process {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds cancel_interval{50};
constexpr milliseconds drain_time{200};         // How long a grandchild may hold the pipe after its parent ended.
constexpr milliseconds cancel_grace{50};        // A cancel does not wait: cancelled work is redone or discarded.
constexpr milliseconds supervisor_time{2'000};  // How long a supervisor may take to end after its tree was killed.
constexpr std::size_t max_report_bytes = 1UL << 20U;

std::string reason(int error) { return std::system_category().message(error); }

Error cannot_start(const std::string& what, int error, std::string where) {
    return {"AF-EXEC-002", what + ": " + reason(error), std::move(where),
            "Check the folder, the arguments and the limits of this user (ulimit -a).", ErrorKind::io};
}

/// A descriptor that closes itself.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }
    ~Descriptor() { reset(); }
    void reset() {
        if (number_ >= 0) { ::close(std::exchange(number_, -1)); }
    }
    [[nodiscard]] int get() const { return number_; }
    [[nodiscard]] bool open() const { return number_ >= 0; }

private:
    int number_ = -1;
};

/// Moves a descriptor above the numbers that the child uses.
Descriptor above_standard(Descriptor from) {
    if (!from.open() || from.get() >= 10) { return from; }
    return Descriptor(::fcntl(from.get(), F_DUPFD_CLOEXEC, 10));
}

struct Pipe {
    Descriptor read, write;
};

Result<Pipe> make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) { return cannot_start("A pipe cannot be made", errno, ""); }
    Pipe made{Descriptor(ends[0]), above_standard(Descriptor(ends[1]))};
    if (!made.write.open()) { return cannot_start("A pipe cannot be made", errno, ""); }
    ::fcntl(made.read.get(), F_SETFL, O_NONBLOCK);
    return made;
}

/// Creates a sealed memory file with `text`, rewound. Unlike a pipe it cannot fill up, and it uses no disk.
Result<Descriptor> memory_file(const std::string& text) {
    Descriptor file = above_standard(Descriptor(::memfd_create("agentforge-input", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
    if (!file.open()) { return cannot_start("Memory for the input cannot be had", errno, ""); }
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t written = ::write(file.get(), text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR) { continue; }
        if (written < 0) { return cannot_start("The input cannot be stored", errno, ""); }
        done += static_cast<std::size_t>(written);
    }
    ::lseek(file.get(), 0, SEEK_SET);
    ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
    return file;
}

/// Keeps the head and the tail of a stream. Uses at most twice the bound in memory.
class Captured {
public:
    explicit Captured(std::size_t bound) : head_room_(bound - bound / 2), tail_room_(bound / 2) {}

    void add(std::string_view part) {
        total_ += part.size();
        const std::size_t first = std::min(part.size(), head_room_ - head_.size());
        head_.append(part.substr(0, first));
        part.remove_prefix(first);
        if (part.size() > tail_room_) { part.remove_prefix(part.size() - tail_room_); }
        tail_.append(part);
        if (tail_.size() > 2 * tail_room_) { tail_.erase(0, tail_.size() - tail_room_); }
    }
    [[nodiscard]] bool truncated() const { return total_ > head_room_ + tail_room_; }
    [[nodiscard]] std::string take() {
        if (!truncated()) { return head_ + tail_; }
        if (tail_.size() > tail_room_) { tail_.erase(0, tail_.size() - tail_room_); }
        return head_ + "\n[… " + std::to_string(total_ - head_room_ - tail_room_) + " bytes left out …]\n" + tail_;
    }

private:
    std::size_t head_room_, tail_room_;
    std::size_t total_ = 0;
    std::string head_, tail_;
};

/// Reads what is available. Closes at the end of the stream.
template <class Keep>
void drain(Descriptor& stream, Keep&& keep) {
    std::array<char, 65'536> block{};
    for (int blocks = 0; blocks < 16; ++blocks) {  // Bounded, so that a flood of output cannot hide the deadline.
        const ssize_t size = ::read(stream.get(), block.data(), block.size());
        if (size > 0) {
            keep(std::string_view(block.data(), static_cast<std::size_t>(size)));
            continue;
        }
        if (size < 0 && errno == EINTR) { continue; }
        if (size < 0 && errno == EAGAIN) { return; }
        stream.reset();
        return;
    }
}

class SpawnSettings {
public:
    SpawnSettings() {
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawnattr_init(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;
    ~SpawnSettings() {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_t actions{};
    posix_spawnattr_t attributes{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> made;
    made.reserve(texts.size() + 1);
    for (const std::string& text : texts) { made.push_back(const_cast<char*>(text.c_str())); }
    made.push_back(nullptr);
    return made;
}

Result<void> check_text(const Command& command) {
    const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
    bool bad =
        has_nul(command.program) || has_nul(command.directory) || std::any_of(command.argv.begin(), command.argv.end(), has_nul);
    for (const auto& [name, value] : command.environment) {
        bad = bad || name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value);
    }
    if (!bad && !command.argv.empty()) { return {}; }
    return Error{"AF-EXEC-002",
                 command.argv.empty() ? "An empty command cannot be started"
                                      : "A command has a NUL byte, or a variable with an invalid name",
                 command.program, "Correct the command; arguments and variables are texts without NUL bytes.",
                 ErrorKind::invalid};
}

struct Child {
    pid_t pid = -1;
    Descriptor handle;  // pidfd
    Descriptor in;      // Only for a conversation.
    Descriptor out, err, report;
};

enum class Input : unsigned char { given = 1, conversation };

Result<void> check_folder(const std::string& directory) {
    struct stat folder {};
    if (::stat(directory.c_str(), &folder) != 0) {
        return cannot_start("The working directory does not exist", errno, directory);
    }
    if (!S_ISDIR(folder.st_mode)) { return cannot_start("The working directory is not a folder", ENOTDIR, directory); }
    return {};
}

/// Both ends of what a child reads and writes.
struct Streams {
    Pipe out, err, report;
    Descriptor in, extra;
    Descriptor talk;  ///< Our end of a conversation's input.
};

Result<void> open_conversation(Streams& streams) {
    AF_TRY(Pipe pipe, make_pipe());
    streams.in = above_standard(Descriptor(::fcntl(pipe.read.get(), F_DUPFD_CLOEXEC, 10)));
    if (!streams.in.open()) { return cannot_start("A pipe cannot be made", errno, ""); }
    ::fcntl(streams.in.get(), F_SETFL, 0);  // The program's end blocks, as programs expect. Ours does not.
    streams.talk = std::move(pipe.write);
    ::fcntl(streams.talk.get(), F_SETFL, O_NONBLOCK);
    return {};
}

Result<Streams> open_streams(const Command& command, Input input) {
    Streams streams;
    AF_TRY(streams.out, make_pipe());
    AF_TRY(streams.err, make_pipe());
    if (input == Input::conversation) {
        AF_CHECK(open_conversation(streams));
    } else if (command.input.empty()) {
        streams.in = above_standard(Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
        if (!streams.in.open()) { return cannot_start("/dev/null cannot be opened", errno, ""); }
    } else {
        AF_TRY(streams.in, memory_file(command.input));
    }
    if (command.extra_input) {
        AF_TRY(streams.extra, memory_file(*command.extra_input));
        AF_TRY(streams.report, make_pipe());
    }
    return streams;
}

void give_streams(SpawnSettings& settings, const Streams& streams) {
    ::posix_spawn_file_actions_adddup2(&settings.actions, streams.in.get(), 0);
    ::posix_spawn_file_actions_adddup2(&settings.actions, streams.out.write.get(), 1);
    ::posix_spawn_file_actions_adddup2(&settings.actions, streams.err.write.get(), 2);
    if (streams.extra.open()) {
        ::posix_spawn_file_actions_adddup2(&settings.actions, streams.extra.get(), 3);
        ::posix_spawn_file_actions_adddup2(&settings.actions, streams.report.write.get(), 4);
    }
    ::posix_spawn_file_actions_addclosefrom_np(&settings.actions, streams.extra.open() ? 5 : 3);
}

/// Gives the child its own session, with no signal blocked or handled.
void reset_signals(SpawnSettings& settings) {
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&settings.attributes, &none);
    ::posix_spawnattr_setsigdefault(&settings.attributes, &all);
    ::posix_spawnattr_setflags(&settings.attributes,
                               static_cast<short>(POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
}

Error not_spawned(const std::string& program, int error) {
    if (error != ENOENT && error != EACCES && error != ENOEXEC) {
        return cannot_start("The program cannot be started", error, program);
    }
    if (error == ENOENT && ::access(program.c_str(), F_OK) != 0) {
        return {"AF-EXEC-001", "The program does not exist", program, "Install it or correct the path.", ErrorKind::unavailable};
    }
    return {"AF-EXEC-003", "The program cannot be executed: " + reason(error), program,
            "Check its permissions, and its first line (#!) if it is a script.", ErrorKind::unavailable};
}

Result<pid_t> spawn(const Command& command, const Streams& streams) {
    SpawnSettings settings;
    give_streams(settings, streams);
    ::posix_spawn_file_actions_addchdir_np(&settings.actions, command.directory.c_str());
    reset_signals(settings);
    std::vector<std::string> variables;
    variables.reserve(command.environment.size());
    for (const auto& [name, value] : command.environment) { variables.push_back(name + "=" + value); }
    const std::vector<char*> argv = pointers(command.argv);
    const std::vector<char*> environment = pointers(variables);
    pid_t pid = -1;
    const int failed =
        ::posix_spawn(&pid, command.program.c_str(), &settings.actions, &settings.attributes, argv.data(), environment.data());
    if (failed != 0) { return not_spawned(command.program, failed); }
    return pid;
}

Result<Child> start(const Command& command, Input input = Input::given) {
    AF_CHECK(check_text(command));
    AF_CHECK(check_folder(command.directory));
    AF_TRY(Streams streams, open_streams(command, input));
    Child child;
    AF_TRY(child.pid, spawn(command, streams));
    child.handle = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
    if (!child.handle.open()) {
        const int error = errno;
        ::kill(-child.pid, SIGKILL);
        ::waitpid(child.pid, nullptr, 0);
        return cannot_start("The kernel gives no handle of the process", error, command.program);
    }
    child.in = std::move(streams.talk);
    child.out = std::move(streams.out.read);
    child.err = std::move(streams.err.read);
    child.report = std::move(streams.report.read);
    return child;
}

/// Watches one child from its start until it is reaped.
class Watch {
public:
    Watch(const Command& command, const Cancelled& cancelled, const Listener& listener, Child child)
        : command_(command),
          cancelled_(cancelled),
          listener_(listener),
          child_(std::move(child)),
          out_(command.max_output_bytes),
          err_(command.max_output_bytes) {}

    Outcome to_the_end() {
        const Clock::time_point begin = Clock::now();
        deadline_ = begin + std::min(command_.timeout, milliseconds(std::chrono::hours(24 * 365)));
        while (!finished()) {
            listen();
            decide(Clock::now());
        }
        kill_all();  // The leader is not reaped yet, so the group number still belongs to it.
        read_streams();
        Outcome outcome = reap();
        outcome.duration = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
        return outcome;
    }

private:
    enum class Phase : unsigned char { running = 1, terminating, killed };

    [[nodiscard]] bool streams_open() const { return child_.out.open() || child_.err.open() || child_.report.open(); }
    [[nodiscard]] bool finished() const { return ended_ && (!streams_open() || Clock::now() >= drain_until_); }

    void listen() {
        std::array<pollfd, 4> sources{};
        nfds_t count = 0;
        if (!ended_) { sources[count++] = {child_.handle.get(), POLLIN, 0}; }
        for (Descriptor* stream : {&child_.out, &child_.err, &child_.report}) {
            if (stream->open()) { sources[count++] = {stream->get(), POLLIN, 0}; }
        }
        ::poll(sources.data(), count, wait_time());
        read_streams();
        if (!ended_ && (sources[0].revents & POLLIN) != 0) {
            ended_ = true;
            drain_until_ = Clock::now() + drain_time;
        }
    }

    [[nodiscard]] int wait_time() const {
        Clock::time_point next = ended_ ? drain_until_ : deadline_;
        if (!ended_ && phase_ != Phase::running) { next = next_step_; }
        milliseconds wait = std::chrono::ceil<milliseconds>(next - Clock::now());
        if (cancelled_ && phase_ == Phase::running && !ended_) { wait = std::min(wait, cancel_interval); }
        return static_cast<int>(std::clamp(wait, milliseconds(0), milliseconds(60'000)).count());
    }

    void read_streams() {
        if (child_.out.open()) {
            drain(child_.out, [this](std::string_view part) { hear(part); });
        }
        if (child_.err.open()) {
            drain(child_.err, [this](std::string_view part) { err_.add(part); });
        }
        if (child_.report.open()) {
            drain(child_.report, [this](std::string_view part) {
                report_.append(part.substr(0, max_report_bytes - std::min(max_report_bytes, report_.size())));
            });
        }
    }

    void hear(std::string_view part) {
        out_.add(part);
        if (listener_) { listener_(part); }
    }

    void decide(Clock::time_point now) {
        if (ended_) { return; }
        switch (phase_) {
            case Phase::running:
                if (cancelled_ && cancelled_()) {
                    stopped_by_cancel_ = true;
                } else if (now >= deadline_) {
                    stopped_by_time_ = true;
                } else {
                    return;
                }
                tree::signal_descendants(child_.pid, SIGTERM);
                if (!command_.supervisor) { ::kill(-child_.pid, SIGTERM); }
                phase_ = Phase::terminating;
                next_step_ = now + (stopped_by_cancel_ ? std::min(command_.grace, cancel_grace) : command_.grace);
                return;
            case Phase::terminating:
                if (now < next_step_) { return; }
                tree::kill_descendants(child_.pid);
                if (!command_.supervisor) { ::kill(-child_.pid, SIGKILL); }
                phase_ = Phase::killed;
                next_step_ = now + supervisor_time;
                return;
            case Phase::killed:
                if (now < next_step_) { return; }
                kill_all();
                next_step_ = now + supervisor_time;
                return;
        }
    }

    void kill_all() {
        if (!ended_) { tree::kill_descendants(child_.pid); }
        ::kill(-child_.pid, SIGKILL);
    }

    Outcome reap() {
        int status = 0;
        while (::waitpid(child_.pid, &status, 0) < 0 && errno == EINTR) {}
        Outcome outcome;
        if (WIFSIGNALED(status)) { outcome.signal = WTERMSIG(status); }
        outcome.exit_code = WIFSIGNALED(status) ? 128 + outcome.signal : WEXITSTATUS(status);
        outcome.timed_out = stopped_by_time_;
        outcome.cancelled = stopped_by_cancel_;
        outcome.out_truncated = out_.truncated();
        outcome.err_truncated = err_.truncated();
        outcome.out = out_.take();
        outcome.err = err_.take();
        outcome.report = std::move(report_);
        return outcome;
    }

    const Command& command_;
    const Cancelled& cancelled_;
    const Listener& listener_;
    Child child_;
    Captured out_, err_;
    std::string report_;
    Phase phase_ = Phase::running;
    bool ended_ = false;
    bool stopped_by_time_ = false;
    bool stopped_by_cancel_ = false;
    Clock::time_point deadline_, next_step_, drain_until_;
};

bool is_program(const std::string& path, bool& seen) {
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) { return false; }
    seen = true;
    return ::access(path.c_str(), X_OK) == 0;
}

/// Returns the same command under agentforge-exec, without confinement. Empty if this process has no supervisor, or if the
/// program cannot be run anyway.
std::optional<Command> supervised(const Command& command) {
    const char* const helper = std::getenv(supervisor_variable);
    if (helper == nullptr || command.supervisor || command.extra_input || command.argv.empty() || ::access(helper, X_OK) != 0 ||
        ::access(command.program.c_str(), X_OK) != 0) {
        return std::nullopt;
    }
    Command whole = command;
    whole.program = helper;
    whole.argv.insert(whole.argv.begin(), "agentforge-exec");
    std::string policy;
    for (const std::string& record : {"host " + std::to_string(::getpid()), "program " + command.program,
                                      std::string("confine 0"), std::string("network full")}) {
        policy.append(record).push_back('\0');
    }
    whole.extra_input = std::move(policy);
    whole.supervisor = true;
    return whole;
}

/// Converts the supervisor's report into the outcome that the program would have had without it.
Result<Outcome> as_of_the_program(const Command& command, Outcome outcome) {
    bool started = false;
    int exec_error = 0;
    for (std::string_view text = outcome.report; !text.empty();) {
        const std::string record(text.substr(0, text.find('\0')));
        text.remove_prefix(std::min(text.size(), record.size() + 1));
        if (record.starts_with("started ")) {
            started = true;
        } else if (record.starts_with("exec ")) {
            exec_error = std::atoi(record.c_str() + 5);
        } else if (record.starts_with("signal ")) {
            outcome.signal = std::atoi(record.c_str() + 7);
        }
    }
    outcome.report.clear();
    if (exec_error != 0) {
        return Error{"AF-EXEC-003", "The program cannot be executed: " + reason(exec_error), command.program,
                     "Check its permissions, and its first line (#!) if it is a script.", ErrorKind::unavailable};
    }
    if (!started && !outcome.timed_out && !outcome.cancelled) {
        return cannot_start("The program's supervisor ended before it", ECHILD, command.program);
    }
    if (outcome.signal != 0) { outcome.exit_code = 128 + outcome.signal; }
    return outcome;
}

}  // namespace

Result<Outcome> run(const Command& command, const Cancelled& cancelled) { return run(command, cancelled, Listener()); }

Result<Outcome> run(const Command& command, const Cancelled& cancelled, const Listener& out) {
    if (const auto whole = supervised(command)) {
        AF_TRY(Child child, start(*whole));
        return as_of_the_program(command, Watch(*whole, cancelled, out, std::move(child)).to_the_end());
    }
    AF_TRY(Child child, start(command));
    return Watch(command, cancelled, out, std::move(child)).to_the_end();
}

// ------------------------------------------------------------------------------- conversation --

struct Conversation::State {
    Child child;
    bool supervisor = false;
    bool ended = false;  // The program is gone, not yet reaped.
    std::string report;
    std::optional<Outcome> outcome;
    Clock::time_point begin = Clock::now();

    State(Child started, bool is_supervisor) : child(std::move(started)), supervisor(is_supervisor) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { finish(); }

    void write(std::string& text) {
        std::size_t done = 0;
        while (child.in.open() && done < text.size()) {
            const ssize_t size = write_without_signal(child.in.get(), std::string_view(text).substr(done));
            if (size > 0) {
                done += static_cast<std::size_t>(size);
                continue;
            }
            if (size < 0 && errno == EINTR) { continue; }
            if (size < 0 && errno == EAGAIN) { break; }
            child.in.reset();
        }
        text.erase(0, done);
    }

    /// A program that closed its input must not end this one by SIGPIPE: blocks the signal and consumes it.
    static ssize_t write_without_signal(int to, std::string_view text) {
        sigset_t pipe, before;
        ::sigemptyset(&pipe);
        ::sigaddset(&pipe, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
        const ssize_t size = ::write(to, text.data(), text.size());
        const int error = errno;
        if (size < 0 && error == EPIPE) {
            const timespec now{0, 0};
            while (::sigtimedwait(&pipe, nullptr, &now) < 0 && errno == EINTR) {}
        }
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        errno = error;
        return size;
    }

    void read(std::string& out, std::string& err) {
        if (child.out.open()) {
            drain(child.out, [&](std::string_view part) { out.append(part); });
        }
        if (child.err.open()) {
            drain(child.err, [&](std::string_view part) { err.append(part); });
        }
        if (child.report.open()) {
            drain(child.report, [this](std::string_view part) {
                report.append(part.substr(0, max_report_bytes - std::min(max_report_bytes, report.size())));
            });
        }
    }

    void wait(bool writing, milliseconds time) {
        std::array<pollfd, 5> sources{};
        nfds_t count = 0;
        if (!ended) { sources[count++] = {child.handle.get(), POLLIN, 0}; }
        if (child.in.open() && writing) { sources[count++] = {child.in.get(), POLLOUT, 0}; }
        for (const Descriptor* stream : {&child.out, &child.err, &child.report}) {
            if (stream->open()) { sources[count++] = {stream->get(), POLLIN, 0}; }
        }
        if (count == 0) { return; }
        ::poll(sources.data(), count, static_cast<int>(std::clamp(time, milliseconds(0), milliseconds(60'000)).count()));
        if (!ended && (sources[0].revents & POLLIN) != 0) { ended = true; }
    }

    /// Waits until the program ends or the time is over. Discards its output, but keeps its errors.
    void wait_for_end(milliseconds time, std::string& err) {
        const auto until = Clock::now() + time;
        std::string ignored;
        while (!ended && Clock::now() < until) {
            wait(false, std::chrono::ceil<milliseconds>(until - Clock::now()));
            read(ignored, err);
            ignored.clear();
            if (err.size() > max_report_bytes) { err.erase(0, err.size() - max_report_bytes); }
        }
    }

    void kill_tree(int signal) {
        if (signal == SIGKILL) {
            tree::kill_descendants(child.pid);
        } else {
            tree::signal_descendants(child.pid, signal);
        }
        if (!supervisor) { ::kill(-child.pid, signal); }
    }

    const Outcome& finish(milliseconds patience = {}, milliseconds grace = {}) {
        if (outcome) { return *outcome; }
        std::string ignored, err;
        read(ignored, err);
        child.in.reset();
        wait_for_end(patience, err);
        if (!ended && grace.count() > 0) {
            kill_tree(SIGTERM);
            wait_for_end(grace, err);
        }
        if (!ended) {
            kill_tree(SIGKILL);
            wait_for_end(supervisor_time, err);
        }
        if (!ended) { tree::kill_descendants(child.pid); }
        ::kill(-child.pid, SIGKILL);  // Not reaped yet, so the group number still belongs to it.
        read(ignored, err);
        int status = 0;
        while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {}
        ended = true;
        Outcome made;
        if (WIFSIGNALED(status)) { made.signal = WTERMSIG(status); }
        made.exit_code = WIFSIGNALED(status) ? 128 + made.signal : WEXITSTATUS(status);
        made.err = std::move(err);
        made.report = report;
        made.duration = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
        outcome = std::move(made);
        return *outcome;
    }
};

Conversation::Conversation(std::unique_ptr<State> state) : state_(std::move(state)) {}
Conversation::Conversation(Conversation&&) noexcept = default;
Conversation& Conversation::operator=(Conversation&&) noexcept = default;
Conversation::~Conversation() = default;

Result<Conversation> Conversation::begin(const Command& command) {
    AF_TRY(Child child, start(command, Input::conversation));
    return Conversation(std::make_unique<State>(std::move(child), command.supervisor));
}

Conversation::Heard Conversation::exchange(std::string& to_write, std::string& out, std::string& err,
                                           std::chrono::milliseconds wait) {
    State& state = *state_;
    if (state.outcome) { return {false, false, true}; }
    state.write(to_write);
    state.wait(!to_write.empty(), wait);
    state.write(to_write);
    state.read(out, err);
    return {state.child.in.open(), state.child.out.open(), state.ended};
}

const std::string& Conversation::report() const noexcept { return state_->report; }

Outcome Conversation::end(std::chrono::milliseconds patience, std::chrono::milliseconds grace) {
    return state_->finish(patience, grace);
}

Result<std::string> find_program(std::string_view name, std::string_view path, std::string_view directory) {
    std::string seen_at;
    const auto usable = [&seen_at](const std::string& candidate) {
        bool seen = false;
        const bool good = is_program(candidate, seen);
        if (seen && seen_at.empty()) { seen_at = candidate; }
        return good;
    };
    if (name.find('/') != std::string_view::npos) {
        std::string candidate = name.front() == '/' ? std::string(name) : std::string(directory) + "/" + std::string(name);
        if (usable(candidate)) { return candidate; }
    } else if (!name.empty()) {
        for (std::size_t begin = 0; begin <= path.size();) {
            const std::size_t end = std::min(path.find(':', begin), path.size());
            const std::string_view folder = path.substr(begin, end - begin);
            begin = end + 1;
            if (folder.empty() || folder.front() != '/') { continue; }
            std::string candidate = std::string(folder) + "/" + std::string(name);
            if (usable(candidate)) { return candidate; }
        }
    }
    if (!seen_at.empty()) {
        return Error{"AF-EXEC-003", "The program '" + std::string(name) + "' is not executable", seen_at,
                     "Make it executable (chmod +x) or name another.", ErrorKind::unavailable};
    }
    const bool on_path = name.find('/') == std::string_view::npos;
    return Error{"AF-EXEC-001", "The program '" + std::string(name) + "' was not found",
                 on_path ? "PATH=" + std::string(path) : std::string(directory), "Install it, or add its folder to PATH.",
                 ErrorKind::unavailable};
}

std::string to_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    for (std::size_t i = 0; i < bytes.size();) {
        const auto lead = static_cast<unsigned char>(bytes[i]);
        std::size_t length = 0;
        unsigned low = 0x80;
        unsigned high = 0xBF;
        if (lead < 0x80) {
            length = 1;
        } else if (lead >= 0xC2 && lead <= 0xDF) {
            length = 2;
        } else if (lead >= 0xE0 && lead <= 0xEF) {
            length = 3;
            low = lead == 0xE0 ? 0xA0 : 0x80;
            high = lead == 0xED ? 0x9F : 0xBF;
        } else if (lead >= 0xF0 && lead <= 0xF4) {
            length = 4;
            low = lead == 0xF0 ? 0x90 : 0x80;
            high = lead == 0xF4 ? 0x8F : 0xBF;
        }
        bool good = length != 0 && i + length <= bytes.size();
        for (std::size_t k = 1; good && k < length; ++k) {
            const auto next = static_cast<unsigned char>(bytes[i + k]);
            good = next >= (k == 1 ? low : 0x80U) && next <= (k == 1 ? high : 0xBFU);
        }
        if (good) {
            text.append(bytes.substr(i, length));
            i += length;
        } else {
            text += "\xEF\xBF\xBD";
            ++i;
        }
    }
    return text;
}

}  // namespace agentforge::process
