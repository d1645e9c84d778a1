// SPDX-License-Identifier: Apache-2.0
// Runs of 50 and of 500 steps: the program against a scripted server over HTTP, with one trivial tool call a step, in a small
// repository, in one of 50,000 files and in one with 2 GiB of history. A step is the time from an answer to the next request.
// Its floor is one bare exchange with such a server, one posix_spawn and one write with fdatasync, measured alternately with the
// steps, while the program waits for its answer. Also measures the live view: the program on its own terminal, while it waits
// for the model, and compared with a run that shows nothing.
#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <sstream>
#include <thread>

#include "base/files.hpp"
#include "base/yaml.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/steps_server.hpp"

namespace agentforge::bench {
namespace {

namespace fs = std::filesystem;

constexpr unsigned few = 50;
constexpr unsigned many = 500;
constexpr unsigned very_many = 2000;
constexpr std::size_t request_bytes = 7000;  ///< Approximate size of a step's request.
constexpr std::size_t record_bytes = 3000;   ///< Approximate size of a step in the journal.

/// Returns a prompt's bytes as a server with a cache charges them: those of the previous request count 0.1, and new ones are
/// written to the cache at 1.25.
double equivalents(std::size_t bytes, std::size_t same) {
    return (0.1 * static_cast<double>(same)) + (1.25 * static_cast<double>(bytes - same));
}

/// The same for a whole conversation, which grows by the same amount every turn. Claude Code 2.1.197 with the same scripted
/// model, bytes of the first and the last prompt: 77 k and 92 k over 50 turns, 77 k and 235 k over 500.
double equivalents_of_claude_code(unsigned steps) {
    const std::size_t first = 77'000;
    const std::size_t last = steps <= few ? 92'000 : 235'000;
    double sum = equivalents(first, 0);
    for (unsigned step = 1; step < steps; ++step) {
        const std::size_t before = first + ((last - first) * (step - 1) / (steps - 1));
        sum += equivalents(first + ((last - first) * step / (steps - 1)), before);
    }
    return sum;
}

/// A pipeline with this one stage and room for all steps.
constexpr const char* pipeline_text = R"(pipeline:
  name: steps
  description: One stage of many steps
  goal_type: design
  timeout_seconds: 3600
  stages:
    - name: intake
      max_steps: 2100
      timeout_seconds: 3600
)";

/// Returns the artifact that the demo's transcript hands in.
json::object artifact() {
    const auto transcript = must(kernel::load_yaml(source_folder() + "/examples/transcripts/slugify.yaml"));
    for (const json::value& entry : transcript.value.at("entries").get_array()) {
        const json::value* calls = entry.get_object().if_contains("tool_calls");
        if (entry.at("stage") != "intake" || calls == nullptr || calls->at(0).at("name") != "complete") { continue; }
        return calls->at(0).at("arguments").get_object();
    }
    give_up("the transcript of the demo hands in no intake record");
}

fs::path repository_of(const fs::path& folder, unsigned files, const std::string& history) {
    const fs::path repository = folder / "repository";
    shell("'" + source_folder() + "/scripts/make-large-repository' --files " + std::to_string(files) + " --history " + history +
          " '" + repository.string() + "'");
    write_text(repository / ".agentforge/pipelines/steps.yaml", pipeline_text);
    return repository;
}

/// Returns the disk usage of a folder.
double megabytes_below(const fs::path& folder) {
    std::error_code error;
    if (!fs::exists(folder, error)) { return 0; }
    std::istringstream size(shell("du -s --block-size=1K '" + folder.string() + "'"));
    double kibibytes = 0;
    size >> kibibytes;
    return kibibytes / 1024;
}

/// Writes as many files as the repository has, one after the other: the floor of a worktree.
double milliseconds_to_write(const fs::path& folder, unsigned files) {
    const auto begun = std::chrono::steady_clock::now();
    for (unsigned file = 1; file < files; ++file) {
        const fs::path part = folder / ("part" + std::to_string(file / 200));
        if (file == 1 || file % 200 == 0) { fs::create_directories(part); }
        const std::string text = "file " + std::to_string(file) + "\n";
        const int out =
            ::open((part / ("file" + std::to_string(file) + ".txt")).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (out < 0 || ::write(out, text.data(), text.size()) < 0) { give_up("cannot write the floor's files"); }
        ::close(out);
    }
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

/// The minimum of a step: a bare exchange, a spawned process, a durable write.
class Floor {
public:
    explicit Floor(const fs::path& folder)
        : server_(0, "complete", {}, artifact(), {}),
          client_(server_.port(), request_bytes),
          file_(::open((folder / "floor").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
          record_(record_bytes, 'r') {
        if (file_ < 0) { give_up("cannot write the floor's file"); }
    }
    ~Floor() { ::close(file_); }
    Floor(const Floor&) = delete;
    Floor& operator=(const Floor&) = delete;

    void measure() {
        samples_.add(microseconds([this] { once(); }) / 1e3);
    }
    [[nodiscard]] double milliseconds() const { return samples_.median(); }

private:
    void once() {
        client_.exchange();
        char name[] = "/bin/true";
        char* words[] = {name, nullptr};
        pid_t child = 0;
        int status = 0;
        if (::posix_spawn(&child, name, nullptr, nullptr, words, environ) != 0 || ::waitpid(child, &status, 0) != child ||
            status != 0) {
            give_up("cannot run /bin/true");
        }
        if (::write(file_, record_.data(), record_.size()) != static_cast<ssize_t>(record_.size()) || ::fdatasync(file_) != 0) {
            give_up("cannot write the floor's file");
        }
    }

    StepsServer server_;
    BareClient client_;
    int file_;
    std::string record_;
    Samples samples_;
};

/// Returns the processor time so far of the program that works in the repository, to 10 ms.
double cpu_milliseconds_of(const fs::path& repository) {
    const std::string mark = "-C" + std::string(1, '\0') + repository.string() + std::string(1, '\0');
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) { continue; }
        const auto command = kernel::read_file(entry.path() / "cmdline");
        if (!command.ok() || !command->starts_with(program()) || command->find(mark) == std::string::npos) { continue; }
        std::istringstream stat(must(kernel::read_file(entry.path() / "stat")).substr(name.size()));
        std::string field;
        double ticks = 0;
        // Fields 14 and 15; the program's name has no space.
        for (int index = 2; index <= 15 && stat >> field; ++index) {
            if (index >= 14) { ticks += std::stod(field); }
        }
        return ticks * 1e3 / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    give_up("the program is not there");
}

struct Run {
    double step_milliseconds = 0;
    double floor_milliseconds = 0;
    double cpu_milliseconds = 0;    ///< For each step.
    double start_milliseconds = 0;  ///< Until the first request: worktrees, journal, plugins.
    double megabytes = 0;
    double disk_megabytes = 0;  ///< Disk usage of worktree, git's record of it and the journal, at the first request.
    std::size_t first_bytes = 0;
    std::size_t fifth_bytes = 0;
    std::size_t last_bytes = 0;   ///< For the last step before `complete`.
    double equivalent_bytes = 0;  ///< For all requests.
    double same_permille = 0;     ///< The share of all bytes that repeat the beginning of the previous request.
};

std::vector<std::string> start_with(const fs::path& repository, const StepsServer& server) {
    return {program(),
            "-C",
            repository.string(),
            "start",
            "--pipeline",
            "steps",
            "--quiet",
            "--set",
            "llm.backend=openai",
            "--set",
            "llm.model=scripted",
            "--set",
            "llm.base_url=" + server.base_url(),
            "Say what the note says"};
}

Run run(const fs::path& folder, const fs::path& repository, unsigned steps) {
    Floor floor(folder);
    unsigned requests = 0;
    double cpu = 0;
    double disk = 0;
    const auto used = [&] {
        return megabytes_below(fs::path(std::getenv("HOME")) / ".local/state/agentforge") +
               megabytes_below(repository / ".git/worktrees") + megabytes_below(repository / ".agentforge");
    };
    const double before = used();
    const auto between = [&] {
        if (requests == 0) { disk = used() - before; }
        if (requests == 0) { cpu -= cpu_milliseconds_of(repository); }
        if (requests++ == steps) { cpu += cpu_milliseconds_of(repository); }
        floor.measure();
    };
    StepsServer server(steps, "read_file", {{"path", "note.txt"}}, artifact(), between);
    const auto begun = std::chrono::steady_clock::now();
    // Needs no warm-up: a run of hundreds of steps warms itself.
    const auto spent = spawn_once(start_with(repository, server));
    const std::vector<Asked> asked = server.take();
    if (asked.size() != steps + 1) {
        give_up(std::to_string(asked.size()) + " requests came instead of " + std::to_string(steps + 1));
    }
    Samples times;
    for (std::size_t index = 1; index < asked.size(); ++index) {
        times.add(std::chrono::duration<double, std::milli>(asked[index].at - asked[index - 1].answered).count());
    }
    Run made;
    made.step_milliseconds = times.median();
    made.cpu_milliseconds = cpu / steps;
    made.start_milliseconds = std::chrono::duration<double, std::milli>(asked.front().at - begun).count();
    made.megabytes = spent.megabytes;
    made.disk_megabytes = disk;
    made.first_bytes = asked.front().bytes;
    made.fifth_bytes = asked[4].bytes;
    made.last_bytes = asked[steps - 1].bytes;
    double bytes = 0;
    for (const Asked& one : asked) {
        made.equivalent_bytes += equivalents(one.bytes, one.same);
        made.same_permille += static_cast<double>(one.same) * 1000;
        bytes += static_cast<double>(one.bytes);
    }
    made.same_permille /= bytes;
    made.floor_milliseconds = floor.milliseconds();
    return made;
}

/// Returns the id of the repository's only task.
std::string only_task(const fs::path& repository) {
    std::string found;
    for (const auto& entry : fs::directory_iterator(repository / ".agentforge/tasks")) {
        if (entry.path().filename().string().starts_with("task-")) { found = entry.path().filename().string(); }
    }
    return found;
}

/// Processor time of a step must not grow with the number of earlier steps. Then the same run is replayed without a model.
void steps_of_a_long_run(benchmark::State& state) {
    constexpr unsigned counted = 400;
    const WorkFolder folder("long-run");
    const fs::path repository = repository_of(folder.path(), 20, "0");
    double early = 0;
    double late = 0;
    Samples replays;
    for (auto _ : state) {
        unsigned requests = 0;
        const auto between = [&] {
            const unsigned step = requests++;
            if (step == 100) { early -= cpu_milliseconds_of(repository); }
            if (step == 100 + counted) { early += cpu_milliseconds_of(repository); }
            if (step == very_many - counted) { late -= cpu_milliseconds_of(repository); }
            if (step == very_many) { late += cpu_milliseconds_of(repository); }
        };
        StepsServer server(very_many, "read_file", {{"path", "note.txt"}}, artifact(), between);
        static_cast<void>(spawn_once(start_with(repository, server)));
        if (requests != very_many + 1) {
            give_up(std::to_string(requests) + " requests came instead of " + std::to_string(very_many + 1));
        }
        const std::vector<std::string> replay{program(),  "-C",     repository.string(), "replay", only_task(repository),
                                              "--verify", "--quiet"};
        for (int round = 0; round < 3; ++round) { replays.add(spawn_once(replay).milliseconds); }
        state.SetIterationTime(late / counted / 1e3);
    }
    report(state, {"processor time of a step, steps 1,600 to 2,000",
                   "ms",
                   late / counted,
                   early / counted,
                   "steps 100 to 500",
                   {Aim::Of::ratio, 1.1}});
    report(state, {"replay of an action, compared with the recorded one, without gates",
                   "ms",
                   replays.median() / very_many,
                   late / counted,
                   "processor time of the step",
                   {Aim::Of::value, 1}});
}
BENCHMARK(steps_of_a_long_run)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

void steps(benchmark::State& state, unsigned files, const std::string& history, const std::string& where) {
    const WorkFolder folder("steps");
    const fs::path repository = repository_of(folder.path(), files, history);
    const double checkout = megabytes_below(repository) - megabytes_below(repository / ".git");
    const double writing = milliseconds_to_write(folder.path() / "floor-files", files);
    Run shorter;
    Run longer;
    for (auto _ : state) {
        shorter = run(folder.path(), repository, few);
        longer = run(folder.path(), repository, many);
        state.SetIterationTime(longer.step_milliseconds / 1e3);
    }
    state.counters["bytes of step 1"] = static_cast<double>(longer.first_bytes);
    const std::string floor_is = "bare HTTP exchange, posix_spawn of `true`, write + fdatasync";
    for (const auto& [count, made] : {std::pair{few, shorter}, {many, longer}}) {
        const std::string name = "a step over HTTP, run of " + std::to_string(count) + ", " + where;
        report(state, {name, "ms", made.step_milliseconds, made.floor_milliseconds, floor_is, {Aim::Of::difference, 4}});
        report(state, {"… processor time of a step", "ms", made.cpu_milliseconds, 0, "–", {}});
        report(state, {"… peak memory of the program", "MB", made.megabytes, 0, "–", {Aim::Of::value, 40}});
        report(state, {"… request bytes of step " + std::to_string(count),
                       "B",
                       static_cast<double>(made.last_bytes),
                       static_cast<double>(made.fifth_bytes),
                       "those of step 5; step 1: " + std::to_string(made.first_bytes),
                       {Aim::Of::ratio, 1.02}});
        report(state, {"… bytes of all requests, read from a cache 0.1, new 1.25",
                       "kB",
                       made.equivalent_bytes / 1e3,
                       equivalents_of_claude_code(count) / 1e3,
                       "Claude Code's, counted likewise",
                       {Aim::Of::ratio, count == few ? 0.5 : 0.25}});
        report(state, {"… share of the bytes that the request before began with", "%", made.same_permille / 10, 0, "–", {}});
    }
    report(state, {"… from `start` to the first request, the first task, " + where,
                   "ms",
                   shorter.start_milliseconds,
                   writing,
                   "writing as many files",
                   {Aim::Of::value, 2000}});
    report(state, {"… disk used at the first request, " + where, "MB", shorter.disk_megabytes, checkout, "the checkout",
                   files > 1000 ? Aim{Aim::Of::ratio, 1.1} : Aim{}});
}
void steps_in_a_small_repository(benchmark::State& state) { steps(state, 20, "0", "20 files"); }
void steps_in_a_large_repository(benchmark::State& state) { steps(state, 50'000, "0", "50,000 files"); }
void steps_with_a_long_history(benchmark::State& state) { steps(state, 200, "2G", "2 GiB of history"); }
BENCHMARK(steps_in_a_small_repository)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(steps_with_a_long_history)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(steps_in_a_large_repository)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Returns the memory of all the program's processes. A page that several of them share counts once.
double megabytes_of_all_programs() {
    double kibibytes = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) { continue; }
        const auto command = kernel::read_file(entry.path() / "cmdline");
        if (!command.ok() || !command->starts_with(fs::path(program()).parent_path().string() + "/")) { continue; }
        const auto memory = kernel::read_file(entry.path() / "smaps_rollup");
        if (!memory.ok()) { continue; }  // It has ended.
        const std::size_t pss = memory->find("\nPss:");
        if (pss == std::string::npos) { give_up("smaps_rollup has no Pss"); }
        kibibytes += std::stod(memory->substr(pss + 5));
    }
    return kibibytes / 1024;
}

/// Each task waits for its model at the same moment.
void run_of_a_hundred(benchmark::State& state) {
    constexpr unsigned tasks = 100;
    const WorkFolder folder("run");
    const fs::path repository = repository_of(folder.path(), 20, "0");
    std::string requests;
    for (unsigned task = 1; task <= tasks; ++task) {
        requests += R"({"request": "Say what note )" + std::to_string(task) +
                    R"( says", "pipeline": "steps"})"
                    "\n";
    }
    write_text(folder.path() / "requests.txt", requests);
    double together = 0;
    double alone = 0;
    for (auto _ : state) {
        const auto memory_of = [&](const std::string& command, std::size_t count) {
            double megabytes = 0;
            StepsServer server(
                0, "read_file", {}, artifact(), [&] { megabytes = std::max(megabytes, megabytes_of_all_programs()); }, count);
            shell(command + " --quiet --set llm.backend=openai --set llm.model=scripted --set llm.base_url=" + server.base_url() +
                  " > /dev/null");
            return megabytes;
        };
        const std::string here = "'" + program() + "' -C '" + repository.string() + "' ";
        alone = memory_of(here + "start --pipeline steps 'Say what the note says'", 1);
        const double begun = static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
        together =
            memory_of(here + "run '" + (folder.path() / "requests.txt").string() + "' --jobs " + std::to_string(tasks), tasks);
        state.SetIterationTime((static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count()) - begun) / 1e9);
    }
    report(state, {"memory of `run --jobs 100` while 100 tasks wait for their model (PSS)",
                   "MB",
                   together,
                   alone * tasks,
                   "100 times that of one `start`",
                   {Aim::Of::value, 400}});
}
BENCHMARK(run_of_a_hundred)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

/// Returns the processor time so far of all threads of a process, to the nanosecond.
double thread_milliseconds_of(pid_t process) {
    double sum = 0;
    for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
        std::istringstream text(must(kernel::read_file(thread.path() / "schedstat")));
        double nanoseconds = 0;
        if (text >> nanoseconds) { sum += nanoseconds / 1e6; }
    }
    return sum;
}

struct Watched {
    double waiting_milliseconds = 0;  ///< Processor time while it waited for the first answer.
    double all_milliseconds = 0;
    std::size_t shown_bytes = 0;
};

/// Runs on a terminal of 100 columns. The first answer comes after `wait`.
Watched run_on_a_terminal(const fs::path& repository, unsigned steps, std::chrono::milliseconds wait, bool quiet) {
    Watched made;
    std::atomic<pid_t> child{0};
    unsigned requests = 0;
    const auto between = [&] {
        if (requests++ != 0) { return; }
        std::this_thread::sleep_for(std::chrono::milliseconds(300));  // Excludes the first output from the waiting time.
        const double before = thread_milliseconds_of(child);
        std::this_thread::sleep_for(wait);
        made.waiting_milliseconds = thread_milliseconds_of(child) - before;
    };
    StepsServer server(steps, "read_file", {{"path", "note.txt"}}, artifact(), between);
    std::vector<std::string> words{program(),
                                   "-C",
                                   repository.string(),
                                   "start",
                                   "--pipeline",
                                   "steps",
                                   "--set",
                                   "llm.backend=openai",
                                   "--set",
                                   "llm.model=scripted",
                                   "--set",
                                   "llm.base_url=" + server.base_url(),
                                   "Say what the note says"};
    if (quiet) { words.insert(words.begin() + 4, "--quiet"); }
    std::vector<char*> arguments;
    for (std::string& word : words) { arguments.push_back(word.data()); }
    arguments.push_back(nullptr);
    winsize size{40, 100, 0, 0};
    int terminal = -1;
    const pid_t process = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (process < 0) { give_up("no terminal can be made"); }
    if (process == 0) {
        ::setenv("TERM", "xterm-256color", 1);
        ::execv(arguments[0], arguments.data());
        ::_exit(127);
    }
    child = process;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;) {
        made.shown_bytes += static_cast<std::size_t>(got);
    }
    ::close(terminal);
    int status = 0;
    rusage usage{};
    if (::wait4(process, &status, 0, &usage) != process || status != 0) { give_up("the run on a terminal failed"); }
    made.all_milliseconds = (static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3) +
                            (static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3);
    return made;
}

void live_view(benchmark::State& state) {
    constexpr std::chrono::milliseconds wait(5000);
    const WorkFolder folder("live");
    const fs::path repository = repository_of(folder.path(), 20, "0");
    Samples waiting;
    Samples still;
    Samples shown;
    Samples hidden;
    std::size_t bytes = 0;
    for (auto _ : state) {
        for (int round = 0; round < 3; ++round) {
            const Watched view = run_on_a_terminal(repository, few, wait, false);
            const Watched quiet = run_on_a_terminal(repository, few, wait, true);
            const double seconds = std::chrono::duration<double>(wait).count();
            waiting.add(view.waiting_milliseconds / seconds);
            still.add(quiet.waiting_milliseconds / seconds);
            shown.add(view.all_milliseconds / few);
            hidden.add(quiet.all_milliseconds / few);
            bytes = view.shown_bytes;
        }
        state.SetIterationTime(waiting.median() / 1e3);
    }
    if (bytes < 1000) { give_up("the live view was not shown"); }
    report(state, {"processor time of the live view while a model answers, of each second",
                   "ms",
                   waiting.median(),
                   still.median(),
                   "the same with `--quiet`",
                   {Aim::Of::value, 10}});
    report(state, {"… of a step that it shows, the run's start shared out among its 50",
                   "ms",
                   shown.median(),
                   hidden.median(),
                   "the same with `--quiet`",
                   {}});
}
BENCHMARK(live_view)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
