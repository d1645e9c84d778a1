// SPDX-License-Identifier: Apache-2.0
// Runs many requests, some in parallel, each as a task in its own process. If one fails, the others continue.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ostream>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "pipeline/task_session.hpp"
#include "plugins/exit_guard.hpp"
#include "program/command_line.hpp"
#include "program/project/preflight.hpp"
#include "program/project/project.hpp"
#include "program/project/project_folder.hpp"
#include "program/project/request_file.hpp"
#include "program/project/run_ledger.hpp"
#include "program/terminal/display.hpp"
#include "program/terminal/outcome.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_request_file_bytes = 64UL << 20U;

struct RunArguments {
    std::string file;
    std::string name;
    std::string format;
    std::uint64_t jobs = 2;
    bool retry = false;
    bool dry_run = false;
};

/// The action for a request, given earlier runs. `refuse`: a dry run found that it cannot start.
enum class RunPlan : unsigned char { start = 1, resume, leave, refuse };

/// The result of one request.
struct RunOutcome {
    std::string task;
    std::string word;    ///< delivered, completed, asks, failed, aborted, paused, interrupted, running, not started
    std::string detail;  ///< The reason, or the question.
    Spend spend;
    std::vector<std::string> unpriced;
    bool before = false;  ///< It had ended in an earlier run.
};

struct Job {
    const RequestEntry* entry = nullptr;
    RunPlan plan = RunPlan::start;
    std::string known_task;  ///< The task of an earlier run, or empty.
    RunOutcome outcome;
    Error refusal;  ///< With the plan `refuse`: the error that its start gives.
};

/// The process of a task.
struct RunningJob {
    std::size_t job = 0;
    pid_t pid = -1;
    FileDescriptor alive;  ///< A pidfd: readable when the process has ended.
    FileDescriptor out;    ///< The process's output.
    FileDescriptor err;
};

Result<std::string> text_of_requests(const Program& program, const RunArguments& arguments) {
    if (arguments.file != "-") { return read_file((program.directory / arguments.file).string(), most_request_file_bytes); }
    std::string text;
    char part[64UL << 10U];
    while (text.size() <= most_request_file_bytes) {
        const ssize_t got = ::read(STDIN_FILENO, part, sizeof part);
        if (got == 0) { return text; }
        if (got < 0 && errno == EINTR && !program.cancel->requested()) { continue; }
        if (got < 0) {
            return Error{"AF-CLI-136", "cannot read the requests: " + errno_text(errno), "standard input",
                         "give a file: agentforge run FILE", ErrorKind::io};
        }
        text.append(part, static_cast<std::size_t>(got));
    }
    return Error{"AF-CLI-170", "standard input has more than " + std::to_string(most_request_file_bytes >> 20U) + " MiB",
                 "standard input", "give the requests in several files", ErrorKind::invalid};
}

/// Returns the run's name: the user's, or one made from the file's path, so each file is a separate run.
Result<std::string> name_of_run(const Program& program, const RunArguments& arguments) {
    if (!arguments.name.empty()) {
        const bool fits = arguments.name.size() <= 80 && arguments.name.front() != '.' &&
                          arguments.name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
                              std::string::npos;
        if (fits) { return arguments.name; }
        return Error{"AF-CLI-174", "`" + printable(arguments.name, 80) + "` cannot be the name of a run", "",
                     "use at most 80 letters, digits, dots, dashes and underscores", ErrorKind::invalid};
    }
    if (arguments.file == "-") { return std::string("standard-input"); }
    std::error_code error;
    const std::filesystem::path file = std::filesystem::weakly_canonical(program.directory / arguments.file, error);
    std::string stem = file.stem().string().substr(0, 60);
    for (char& letter : stem) { letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '-'; }
    return stem + "-" + sha256(file.string()).substr(0, 8);
}

std::string word_of_state(const TaskState& state, bool has_process) {
    switch (state.status) {
        case TaskStatus::completed:
            return has_delivered(state) ? "delivered" : "completed";
        case TaskStatus::failed:
            return "failed";
        case TaskStatus::aborted:
            return "aborted";
        case TaskStatus::awaiting_approval:
            return "asks";
        case TaskStatus::paused:
            return state.waiting_for().empty() ? "paused" : "asks";
        case TaskStatus::pending:
        case TaskStatus::running:
            return has_process ? "running" : "interrupted";
    }
    return "interrupted";
}

/// Returns the outcome according to a task's journal, or nothing if the task was not created.
Result<std::optional<RunOutcome>> outcome_of(const TaskStore& store, const std::string& task) {
    std::error_code error;
    const TaskPaths paths = store.paths(task);
    if (task.empty() || !std::filesystem::exists(paths.task(), error) || store.never_began(task)) {
        return std::optional<RunOutcome>();
    }
    AF_TRY(const TaskState state, read_task_state(store, task));
    RunOutcome outcome{
        task, word_of_state(state, TaskLock::holder(paths).has_value()), "", state.ledger.total(), state.ledger.unpriced_models(),
        false};
    if (outcome.word == "asks") {
        const auto open = open_question(state);
        outcome.detail = open ? open->id : "";
    } else if (outcome.word == "paused") {
        outcome.detail = state.pause_reason;
    } else {
        outcome.detail = state.error;
    }
    return std::optional(std::move(outcome));
}

Result<std::vector<Job>> plan_run(const TaskStore& store, const std::vector<RequestEntry>& entries, const RunLedger& ledger,
                                  bool retry) {
    std::vector<Job> jobs;
    for (const RequestEntry& entry : entries) {
        Job job{&entry, RunPlan::start, "", {}, {}};
        if (const auto known = ledger.tasks().find(entry.key); known != ledger.tasks().end()) {
            AF_TRY(auto outcome, outcome_of(store, known->second));
            if (outcome) {
                job.known_task = known->second;
                job.outcome = std::move(*outcome);
                const std::string& word = job.outcome.word;
                const bool ended =
                    word == "delivered" || word == "completed" || word == "aborted" || (word == "failed" && !retry);
                job.plan = ended || word == "running" ? RunPlan::leave : RunPlan::resume;
                job.outcome.before = ended;
            }
        }
        jobs.push_back(std::move(job));
    }
    return jobs;
}

std::string printed(const FileDescriptor& file) {
    std::string text(static_cast<std::size_t>(std::clamp<off_t>(::lseek(file.get(), 0, SEEK_END), 0, 1 << 20)), '\0');
    const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return text;
}

Error check_unfinished(const RequestEntry& entry, const std::string& why) {
    return Error{"AF-CLI-175", "the request was not checked: " + why, entry.where,
                 "run the command again; `agentforge start --dry-run` checks one request", ErrorKind::unavailable};
}

/// Returns the error in a process's output, or an error that says how the process ended.
Error error_of_check(const RequestEntry& entry, const std::string& output, int status) {
    const auto parsed = parse_json(output, "result");
    const json::value* error = parsed.ok() && parsed->is_object() ? parsed->get_object().if_contains("error") : nullptr;
    if (error != nullptr && error->is_object()) {
        const json::object& fields = error->get_object();
        return Error{text_of(fields, "code"), text_of(fields, "message"), text_of(fields, "where"), text_of(fields, "remedy"),
                     ErrorKind::invalid};
    }
    return check_unfinished(entry, WIFSIGNALED(status) ? "its process was ended by signal " + std::to_string(WTERMSIG(status))
                                                       : std::string("its process ended without a result"));
}

/// One `run`: starts tasks, waits for their processes and reports each result. A dry run only runs the checks before each start,
/// also in separate processes, and marks requests that `start` would refuse.
class RequestRun {
public:
    RequestRun(Program& program, TaskStore& store, const RunLedger& ledger, std::vector<Job>& jobs, const RunArguments& arguments)
        : program_(program), store_(store), ledger_(ledger), jobs_(jobs), at_once_(arguments.jobs), dry_run_(arguments.dry_run) {}

    /// In a task's process, returns its exit code. In the command's own process, returns nothing once all tasks are done.
    Result<std::optional<int>> run() {
        std::size_t next = 0;
        while (true) {
            while (running_.size() < at_once_ && next < jobs_.size() && !program_.cancel->requested()) {
                const std::size_t job = next++;
                if (!has_work(jobs_[job])) { continue; }
                AF_TRY(const std::optional<int> child, begin(job));
                if (child) { return child; }
            }
            if (running_.empty()) { return std::optional<int>(); }
            if (program_.cancel->requested() && !std::exchange(stopping_, true)) { ask_to_stop(); }
            wait();
        }
    }

private:
    [[nodiscard]] bool has_work(const Job& job) const {
        return job.plan == RunPlan::start || (job.plan == RunPlan::resume && !dry_run_);
    }

    Result<std::optional<int>> begin(std::size_t job) {
        if (const auto earlier = ledger_.tasks().find(jobs_[job].entry->key);
            jobs_[job].plan == RunPlan::start && !dry_run_ && earlier != ledger_.tasks().end()) {
            remove_unless_begun(earlier->second);
        }
        RunningJob started{job,
                           -1,
                           {},
                           FileDescriptor(::memfd_create("result", MFD_CLOEXEC)),
                           FileDescriptor(::memfd_create("messages", MFD_CLOEXEC))};
        program_.out.flush();
        program_.err.flush();
        const pid_t parent = ::getpid();
        started.pid = started.out.valid() && started.err.valid() ? ::fork() : -1;
        if (started.pid < 0) { return cannot_begin(job, errno); }
        if (started.pid == 0) { return std::optional(work(jobs_[job], started, parent)); }
        started.alive = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, started.pid, 0)));
        print_job(job, jobs_[job].plan == RunPlan::start ? "started" : "resumed " + jobs_[job].known_task);
        running_.push_back(std::move(started));
        return std::optional<int>();
    }

    /// Removes the folder of a task whose process was killed before the first record: the request starts again as another task.
    void remove_unless_begun(const std::string& task) {
        if (const auto removed = store_.remove_if_never_began(task); !removed.ok()) {
            program_.err << "agentforge: " << printable_lines(removed.error().to_string()) << "\n";
        }
    }

    /// Leaves this request for the next run. The others continue.
    Result<std::optional<int>> cannot_begin(std::size_t job, int error) {
        const Error problem{"AF-CLI-175", "cannot start a process for the request: " + errno_text(error), jobs_[job].entry->where,
                            "run fewer at a time: --jobs N", ErrorKind::unavailable};
        if (running_.empty()) { return problem; }
        if (dry_run_) {
            jobs_[job].plan = RunPlan::refuse;
            jobs_[job].refusal = problem;
            return std::optional<int>();
        }
        jobs_[job].outcome = {"", "not started", problem.message, {}, {}, false};
        return std::optional<int>();
    }

    /// Runs in the child; main ends it.
    int work(const Job& job, const RunningJob& own, pid_t parent) {
        ::setsid();  // The parent forwards Ctrl-C.
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent) { return static_cast<int>(ExitCode::cancelled); }
        exit_guard::watch_this_process();
        const FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        ::dup2(nothing.get(), STDIN_FILENO);
        ::dup2(own.out.get(), STDOUT_FILENO);
        ::dup2(own.err.get(), STDERR_FILENO);
        program_.err_is_terminal = program_.in_is_terminal = program_.out_is_terminal = false;
        program_.json_output = true;
        program_.stream_output = false;
        program_.pages = false;
        program_.settings.insert(program_.settings.end(), job.entry->settings.begin(), job.entry->settings.end());
        if (job.plan == RunPlan::resume) { return resume_and_report(program_, job.known_task); }
        StartArguments arguments = job.entry->arguments;
        arguments.dry_run = dry_run_;
        arguments.named = [this, &job](const std::string& task) { return ledger_.add(job.entry->key, task); };
        return start_task(program_, arguments, arguments.request);
    }

    /// Asks each task to save at the end of its step and exit.
    void ask_to_stop() {
        if (!program_.quiet && !dry_run_) {
            program_.err << "agentforge: asking " << running_.size() << (running_.size() == 1 ? " task" : " tasks")
                         << " to save and exit; press again to stop at once" << std::endl;
        }
        for (const RunningJob& each : running_) { ::kill(each.pid, SIGINT); }
    }

    void wait() {
        constexpr int cancel_poll_ms = 200;
        std::vector<pollfd> watched;
        for (const RunningJob& each : running_) { watched.push_back({each.alive.get(), POLLIN, 0}); }
        ::poll(watched.data(), watched.size(), cancel_poll_ms);
        std::erase_if(running_, [this](RunningJob& each) {
            int status = 0;
            if (::waitpid(each.pid, &status, WNOHANG) != each.pid) { return false; }
            if (dry_run_) {
                checked(each, status);
            } else {
                ended(each, status);
            }
            return true;
        });
    }

    void checked(const RunningJob& each, int status) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) { return; }
        Job& job = jobs_[each.job];
        job.plan = RunPlan::refuse;
        job.refusal = error_of_check(*job.entry, printed(each.out), status);
    }

    void ended(const RunningJob& each, int status) {
        Job& job = jobs_[each.job];
        const auto result_line = parse_json(printed(each.out), "result");
        const json::object none;
        const json::object& result = result_line.ok() && result_line->is_object() ? result_line->get_object() : none;
        std::string task = job.known_task.empty() ? text_of(result, "task_id") : job.known_task;
        if (task.empty()) { task = task_in_ledger(job.entry->key); }
        auto outcome = outcome_of(store_, task);
        if (outcome.ok() && !*outcome) { remove_unless_begun(task); }
        if (outcome.ok() && *outcome) {
            job.outcome = std::move(**outcome);
            // The task is paused until a person acts: meets a dependency or raises a limit.
            const bool needs_person = WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::person_needed);
            if (job.outcome.word == "paused" && needs_person) { job.outcome.word = "waits"; }
        } else {
            job.outcome = {outcome.ok() ? "" : task,
                           outcome.ok() ? "not started" : "failed",
                           outcome.ok() ? "" : outcome.error().to_string(),
                           {},
                           {},
                           false};
        }
        if (job.outcome.detail.empty() || job.outcome.word == "interrupted") {
            const json::value* error = result.if_contains("error");
            if (error != nullptr && error->is_object()) {
                job.outcome.detail = text_of(error->get_object(), "code") + " " + text_of(error->get_object(), "message");
            }
        }
        if (WIFSIGNALED(status)) { job.outcome.detail = "its process was ended by signal " + std::to_string(WTERMSIG(status)); }
        // A created task is found by its id. For a request without one, names the line.
        if (job.outcome.task.empty()) {
            job.outcome.detail = job.entry->where + (job.outcome.detail.empty() ? "" : ": ") + job.outcome.detail;
        }
        print_job(each.job, job.outcome.word + (job.outcome.task.empty() ? "" : " " + job.outcome.task) +
                                (job.outcome.detail.empty() ? "" : ": " + printable(first_line(job.outcome.detail), 300)));
    }

    /// Finds the task of a process that ended without output.
    [[nodiscard]] std::string task_in_ledger(const std::string& key) const {
        const auto now = ledger_.reread();
        if (!now.ok()) { return {}; }
        const auto found = now->find(key);
        return found == now->end() ? std::string() : found->second;
    }

    void print_job(std::size_t job, const std::string& what) {
        if (program_.quiet || program_.json_output || dry_run_) { return; }
        program_.err << fmt::format("[{}/{}] {}  \"{}\"\n", job + 1, jobs_.size(), what,
                                    printable(first_line(jobs_[job].entry->arguments.request), 60))
                     << std::flush;
    }

    Program& program_;
    TaskStore& store_;
    const RunLedger& ledger_;
    std::vector<Job>& jobs_;
    std::size_t at_once_;
    bool dry_run_;
    std::vector<RunningJob> running_;
    bool stopping_ = false;
};

struct RunTotals {
    std::map<std::string, std::size_t> words;
    Spend spend;
    std::vector<std::string> unpriced;
    [[nodiscard]] std::size_t of(const char* word) const {
        const auto found = words.find(word);
        return found == words.end() ? 0 : found->second;
    }
};

RunTotals totals_of(std::vector<Job>& jobs) {
    RunTotals totals;
    for (Job& job : jobs) {
        if (job.outcome.word.empty()) { job.outcome.word = "not started"; }
        ++totals.words[job.outcome.word];
        totals.spend.add(job.outcome.spend);
        for (const std::string& model : job.outcome.unpriced) {
            if (std::ranges::find(totals.unpriced, model) == totals.unpriced.end()) { totals.unpriced.push_back(model); }
        }
    }
    return totals;
}

ExitCode exit_code_of(const RunTotals& totals, bool cancelled) {
    if (cancelled) { return ExitCode::cancelled; }
    const std::size_t fine = totals.of("delivered") + totals.of("completed") + totals.of("running");
    std::size_t all = 0;
    for (const auto& [word, count] : totals.words) { all += count; }
    if (all == fine) { return ExitCode::done; }
    return all == fine + totals.of("asks") + totals.of("waits") ? ExitCode::person_needed : ExitCode::failed;
}

json::object run_json(const std::string& name, const std::vector<Job>& jobs, const RunTotals& totals, ExitCode code) {
    json::array tasks;
    for (const Job& job : jobs) {
        tasks.push_back(json::object{{"request", job.entry->arguments.request},
                                     {"where", job.entry->where},
                                     {"task_id", job.outcome.task},
                                     {"outcome", job.outcome.word},
                                     {"detail", job.outcome.detail},
                                     {"done_before", job.outcome.before},
                                     {"cost", spend_json(job.outcome.spend)}});
    }
    json::object counts;
    for (const auto& [word, count] : totals.words) { counts[word] = count; }
    return {{"run", name},
            {"requests", jobs.size()},
            {"outcomes", std::move(counts)},
            {"cost", spend_json(totals.spend)},
            {"exit_code", static_cast<int>(code)},
            {"tasks", std::move(tasks)}};
}

void print_run(Program& program, const RunArguments& arguments, const std::vector<Job>& jobs, const RunTotals& totals) {
    for (std::size_t index = 0; index < jobs.size(); ++index) {
        const RunOutcome& outcome = jobs[index].outcome;
        program.out << fmt::format("{:>4}  {:<12} {}{}  \"{}\"\n", index + 1, outcome.word,
                                   outcome.task.empty() ? "-" : outcome.task, outcome.before ? " (before)" : "",
                                   printable(first_line(jobs[index].entry->arguments.request), 60));
        if (!outcome.detail.empty()) { program.out << "        " << printable(first_line(outcome.detail), 200) << "\n"; }
    }
    program.out << "\n" << jobs.size() << (jobs.size() == 1 ? " request: " : " requests: ");
    bool first = true;
    for (const auto& [word, count] : totals.words) {
        program.out << (std::exchange(first, false) ? "" : ", ") << count << " " << word;
    }
    if (totals.spend.calls + totals.spend.lost > 0) { program.out << "; cost " << cost_in_words(totals.spend, totals.unpriced); }
    program.out << "\n";
    for (const Job& job : jobs) {
        if (job.outcome.word != "waits") { continue; }
        program.out << "  once its dependency is met or its limit raised: "
                    << program.with_place("agentforge resume " + short_id(job.outcome.task)) << "\n";
    }
    if (totals.of("asks") > 0) {
        program.out << "  answer the questions: " << program.with_place("agentforge escalations list") << "\n";
    }
    const bool more =
        totals.of("not started") + totals.of("paused") + totals.of("interrupted") + totals.of("asks") + totals.of("waits") > 0;
    if (more && arguments.file != "-") {
        program.out << "  continue with the others: " << program.with_place("agentforge run") << " "
                    << printable(arguments.file, 200) << "\n";
    }
}

const char* word_of(RunPlan plan) {
    switch (plan) {
        case RunPlan::start:
            return "start";
        case RunPlan::resume:
            return "resume";
        case RunPlan::leave:
            return "leave";
        case RunPlan::refuse:
            return "refused";
    }
    return "leave";
}

json::object run_plan_json(const std::string& name, const std::vector<Job>& jobs) {
    json::array tasks;
    for (const Job& job : jobs) {
        json::object task{{"request", job.entry->arguments.request},
                          {"where", job.entry->where},
                          {"plan", word_of(job.plan)},
                          {"task_id", job.known_task}};
        if (job.plan == RunPlan::refuse) { task["error"] = error_json(job.refusal).at("error"); }
        tasks.push_back(std::move(task));
    }
    return {{"run", name}, {"dry_run", true}, {"tasks", std::move(tasks)}};
}

/// Prints an error below its request. The indent marks each of its lines, which may quote a file, as part of it.
void print_refusal(Program& program, Error error) {
    error.remedy = program.with_place(std::move(error.remedy));
    const std::string text = printable_lines(error.to_string());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        program.out << "        " << std::string_view(text).substr(at, end - at) << "\n";
        at = end + 1;
    }
}

void print_run_plan(Program& program, const std::vector<Job>& jobs) {
    std::size_t checked = 0;
    std::size_t refused = 0;
    std::string shown;  // Often all requests fail for the same reason, such as a missing model.
    for (const Job& job : jobs) {
        program.out << fmt::format(
            "{:<7} {}  \"{}\"{}\n", word_of(job.plan), job.known_task.empty() ? printable(job.entry->where, 200) : job.known_task,
            printable(first_line(job.entry->arguments.request), 60), job.outcome.word.empty() ? "" : "  " + job.outcome.word);
        if (job.plan == RunPlan::refuse && shown == job.refusal.to_string()) {
            program.out << "        " << job.refusal.code << ", as above\n";
        } else if (job.plan == RunPlan::refuse) {
            print_refusal(program, job.refusal);
            shown = job.refusal.to_string();
        }
        refused += job.plan == RunPlan::refuse ? 1 : 0;
        checked += job.plan == RunPlan::refuse || job.plan == RunPlan::start ? 1 : 0;
    }
    program.out << "Nothing was done.";
    if (refused > 0) {
        program.out << " " << refused << " of " << jobs.size() << (jobs.size() == 1 ? " request" : " requests")
                    << " cannot start.";
    } else if (checked > 0) {
        program.out << " All checks before the start passed.";
    }
    program.out << "\n";
}

/// Shows what a run would do. Runs the checks before each start, and writes nothing.
int plan_requests(Program& program, TaskStore& store, const std::string& name, const std::vector<RequestEntry>& entries,
                  const RunArguments& arguments) {
    const auto ledger = RunLedger::read_unlocked(store.root(), name);
    if (!ledger.ok()) { return program.fail(ledger.error()); }
    auto jobs = plan_run(store, entries, *ledger, arguments.retry);
    if (!jobs.ok()) { return program.fail(jobs.error()); }
    const auto child = RequestRun(program, store, *ledger, *jobs, arguments).run();
    if (!child.ok()) { return program.fail(child.error()); }
    if (*child) { return **child; }
    if (program.cancel->requested()) {
        return program.fail(
            Error{"AF-CLI-175", "not all requests were checked: cancelled", "", "run the command again", ErrorKind::cancelled});
    }
    if (program.json_output) {
        program.print_json(run_plan_json(name, *jobs));
    } else {
        print_run_plan(program, *jobs);
    }
    const bool refused = std::ranges::find(*jobs, RunPlan::refuse, &Job::plan) != jobs->end();
    return static_cast<int>(refused ? ExitCode::failed : ExitCode::done);
}

RequestForm form_of_requests(const RunArguments& arguments) {
    if (arguments.format.empty()) { return form_of(arguments.file); }
    return arguments.format == "yaml" ? RequestForm::yaml : RequestForm::lines;
}

int run_requests(Program& program, const RunArguments& arguments) {
    const auto place = ProjectPlace::find(program);
    if (!place.ok()) { return program.fail(place.error()); }
    const auto name = name_of_run(program, arguments);
    if (!name.ok()) { return program.fail(name.error()); }
    const auto text = text_of_requests(program, arguments);
    if (!text.ok()) { return program.fail(text.error()); }
    const RequestForm form = form_of_requests(arguments);
    const auto entries = read_requests(*text, arguments.file == "-" ? "standard input" : arguments.file, form);
    if (!entries.ok()) { return program.fail(entries.error()); }
    if (const auto own = check_own_folder(place->agentforge); !own.ok()) { return program.fail(own.error()); }
    TaskStore store(place->agentforge);
    if (arguments.dry_run) { return plan_requests(program, store, *name, *entries, arguments); }
    if (const auto made = prepare_project_folder(*place, false); !made.ok()) { return program.fail(made.error()); }
    const auto ledger = RunLedger::open(store.root(), *name);
    if (!ledger.ok()) { return program.fail(ledger.error()); }
    if (const auto archived = archive_ended_tasks(program, *place); !archived.ok()) { return program.fail(archived.error()); }
    auto jobs = plan_run(store, *entries, *ledger, arguments.retry);
    if (!jobs.ok()) { return program.fail(jobs.error()); }
    const auto child = RequestRun(program, store, *ledger, *jobs, arguments).run();
    if (!child.ok()) { return program.fail(child.error()); }
    if (*child) { return **child; }
    const RunTotals totals = totals_of(*jobs);
    const ExitCode code = exit_code_of(totals, program.cancel->requested());
    if (program.json_output) {
        program.print_json(run_json(*name, *jobs, totals, code));
    } else {
        print_run(program, arguments, *jobs, totals);
    }
    return static_cast<int>(code);
}

}  // namespace

void add_run(CLI::App& app, Program& program) {
    auto arguments = std::make_shared<RunArguments>();
    const Command command =
        add_subcommand(app, "run", "Turn many requests into verified commits, several at a time, each as a separate task");
    add_option(*command, "file", arguments->file,
               "One request per line (text or a JSON object), or a YAML list (*.yaml); `-` reads standard input")
        ->type_name("FILE")
        ->required();
    add_option(*command, "--jobs,-j", arguments->jobs, "Run up to N tasks at a time (default: 2)")
        ->type_name("N")
        ->between(1, 1000);
    add_option(*command, "--format", arguments->format, "The file's format (default: by its name)")->one_of({"lines", "yaml"});
    add_option(*command, "--name", arguments->name,
               "The run's name (default: from the file's path); under a new name every request runs again")
        ->type_name("NAME");
    add_flag(*command, "--retry", arguments->retry, "Also resume the failed tasks of an earlier run");
    add_flag(*command, "--dry-run", arguments->dry_run,
             "Check each request and show what would start and resume, without doing it");
    add_flag(*command, "--json", program.json_output, "Print JSON");
    add_flag(*command, "--quiet,-q", program.quiet, "Do not show progress");
    command->footer(
        "Examples:\n  agentforge run requests.txt --jobs 4\n  agentforge run requests.yaml --dry-run\n  printf '%s\\n' 'Add a cache' '{\"request\": \"Design a login\", \"pipeline\": \"design\"}' | agentforge run -");
    command->callback(
        [&program, arguments] { program.command = [&program, arguments] { return run_requests(program, *arguments); }; });
}

}  // namespace agentforge::kernel
