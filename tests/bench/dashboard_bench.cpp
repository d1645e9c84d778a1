// SPDX-License-Identifier: Apache-2.0
// The dashboard over its UNIX socket: the time from a record to its event at the client, a thousand tasks, one of a million
// steps, memory, and the cost of an idle dashboard.
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "task/step_index.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;
namespace fs = std::filesystem;

/// The lines of a journal in tests/journals.
struct Kept {
    std::vector<std::string> header;   ///< `key: JSON`
    std::vector<std::string> records;  ///< From `{` on, without `prev` and `hash`, and without the last `}`.
    std::string task_id;

    explicit Kept(const std::string& name) {
        std::ifstream in(fs::path(source_folder()) / "tests" / "journals" / name / "actions.yaml", std::ios::binary);
        bool body = false;
        for (std::string line; std::getline(in, line);) {
            if (line == "actions:") {
                body = true;
            } else if (body) {
                records.push_back(line.substr(2, line.rfind(", \"prev\": \"") - 2));
            } else if (!line.starts_with("agentforge_journal")) {
                header.push_back(line);
            }
            if (line.starts_with("task_id: ")) { task_id = line.substr(10, line.size() - 11); }
        }
        if (records.empty()) { give_up("tests/journals/" + name + " has no record"); }
    }
};

/// Writes a journal without syncing: only its readers are measured.
class Writer {
public:
    Writer(const fs::path& agentforge, const Kept& kept, const std::string& task_id)
        : kept_(kept), task_id_(task_id), file_(agentforge / "tasks" / task_id / "actions.yaml") {
        fs::create_directories(file_.parent_path());
        out_.open(file_, std::ios::binary);
        json::object fields;
        out_ << "agentforge_journal: 1\n";
        for (const std::string& line : kept.header) {
            const std::string own = renamed(line);
            out_ << own << "\n";
            const std::size_t colon = own.find(": ");
            fields[own.substr(0, colon)] = must(parse_json(own.substr(colon + 2), "header"));
        }
        out_ << "actions:\n";
        hash_ = hash_of(fields);
    }
    void append(std::string_view record) {
        const std::string text = std::string(record) + ", \"prev\": \"" + hash_ + "\"";
        hash_ = sha256(text + "}");
        out_ << "- " << text << ", \"hash\": \"" << hash_ << "\"}\n";
        ++seq_;
    }
    void append_kept(std::size_t count) {
        for (std::size_t n = 0; n < count; ++n) { append(renamed(kept_.records[seq_])); }
    }
    void flush() { out_.flush(); }
    [[nodiscard]] std::uint64_t seq() const { return seq_; }
    [[nodiscard]] const std::string& task_id() const { return task_id_; }

private:
    [[nodiscard]] std::string renamed(std::string text) const {
        for (std::size_t at = text.find(kept_.task_id); at != std::string::npos;
             at = text.find(kept_.task_id, at + task_id_.size())) {
            text.replace(at, kept_.task_id.size(), task_id_);
        }
        return text;
    }
    const Kept& kept_;
    std::string task_id_;
    fs::path file_;
    std::ofstream out_;
    std::string hash_;
    std::uint64_t seq_ = 0;
};

std::string id_of(std::uint64_t number) {
    char text[64];
    std::snprintf(text, sizeof text, "task-20260102-add-a-slugify-function-%08x", static_cast<unsigned>(number));
    return text;
}

/// A task in GREEN with the smallest possible steps.
class LongTask {
public:
    LongTask(const fs::path& agentforge, std::uint64_t number)
        : kept_("killed_in_green"), writer_(agentforge, kept_, id_of(number)) {
        std::size_t last = 0;
        for (std::size_t at = 0; at < kept_.records.size(); ++at) {
            if (kept_.records[at].find("\"type\": \"step\"") != std::string::npos) { last = at; }
        }
        writer_.append_kept(last + 1);
        const json::object step = must(parse_json(kept_.records[last] + "}", "step")).as_object();
        steps_ = step.at("step").to_number<std::uint64_t>();
        json::object rest = step;
        for (const char* key : {"seq", "step", "agent"}) { rest.stable_erase(key); }
        rest_ = to_json_line(rest).substr(1);
        rest_.pop_back();
    }
    void add(std::uint64_t count) {
        for (std::uint64_t n = 0; n < count; ++n) {
            writer_.append("{\"seq\": " + std::to_string(writer_.seq() + 1) + ", \"step\": " + std::to_string(++steps_) + ", " +
                           rest_);
        }
        writer_.flush();
    }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    [[nodiscard]] const std::string& task_id() const { return writer_.task_id(); }

private:
    Kept kept_;
    Writer writer_;
    std::uint64_t steps_ = 0;
    std::string rest_;
};

/// Runs `agentforge dashboard --socket` until it is destroyed.
class Running {
public:
    explicit Running(const fs::path& repository) : socket_((repository / "d.sock").string()) {
        int out[2];
        if (::pipe(out) != 0) { give_up("no pipe"); }
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(out[1], 1);
            const std::string path = program();
            ::execl(path.c_str(), "agentforge", "-C", repository.c_str(), "dashboard", "--socket", socket_.c_str(), "--read-only",
                    "--json", nullptr);
            ::_exit(127);
        }
        ::close(out[1]);
        char byte = 0;
        if (::read(out[0], &byte, 1) != 1) { give_up("the dashboard did not start"); }
        ::close(out[0]);
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
        ::kill(child_, SIGTERM);
        ::waitpid(child_, nullptr, 0);
    }
    [[nodiscard]] const std::string& socket() const { return socket_; }
    [[nodiscard]] double megabytes(const char* key) const {
        std::ifstream in("/proc/" + std::to_string(child_) + "/status");
        for (std::string line; std::getline(in, line);) {
            if (line.starts_with(key)) { return std::stod(line.substr(std::strlen(key))) / 1024; }
        }
        return 0;
    }
    /// Returns the processor time of all its threads.
    [[nodiscard]] double milliseconds() const {
        double sum = 0;
        for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(child_) + "/task")) {
            std::ifstream in(thread.path() / "schedstat");
            double nanoseconds = 0;
            in >> nanoseconds;
            sum += nanoseconds / 1e6;
        }
        return sum;
    }

private:
    std::string socket_;
    pid_t child_ = 0;
};

class Client {
public:
    explicit Client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
            give_up("cannot connect to " + path);
        }
    }
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    ~Client() { ::close(socket_); }

    void ask(const std::string& path) {
        const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
        if (::send(socket_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
            give_up("the dashboard does not listen");
        }
    }
    /// Returns the body of the next response, which states its length.
    std::string body() {
        const std::string head = until("\r\n\r\n");
        const std::size_t at = head.find("Content-Length: ");
        if (!head.starts_with("HTTP/1.1 200") || at == std::string::npos) { give_up(head + buffer_); }
        const std::size_t size = std::stoul(head.substr(at + 16));
        while (buffer_.size() < size) { more(); }
        std::string text = buffer_.substr(0, size);
        buffer_.erase(0, size);
        return text;
    }
    std::string until(const std::string& end) {
        std::size_t at = 0;
        while ((at = buffer_.find(end)) == std::string::npos) { more(); }
        std::string text = buffer_.substr(0, at + end.size());
        buffer_.erase(0, at + end.size());
        return text;
    }

private:
    void more() {
        char block[65536];
        const ssize_t got = ::recv(socket_, block, sizeof block, 0);
        if (got <= 0) { give_up("the dashboard closed the connection"); }
        buffer_.append(block, static_cast<std::size_t>(got));
    }
    int socket_;
    std::string buffer_;
};

double ask_in_ms(Client& client, const std::string& path) {
    return microseconds([&] {
               client.ask(path);
               benchmark::DoNotOptimize(client.body());
           }) /
           1e3;
}

/// Listens for events. Returns the median time from a written record of the task until its event at the listener.
double event_in_ms(Client& listener, LongTask& task) {
    listener.ask("/api/events");
    listener.until("event: hello");
    Samples event;
    for (int round = 0; round < 50; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        event.add(microseconds([&] {
                      task.add(1);
                      listener.until("\"step\": " + std::to_string(task.steps()) + ",");
                  }) /
                  1e3);
    }
    return event.median();
}

void dashboard_of_a_thousand(benchmark::State& state) {
    const WorkFolder folder("dashboard");
    const auto repository = folder.path() / "r";
    make_repository(repository, source_folder() + "/examples/textkit");
    const auto agentforge = repository / ".agentforge";
    const Kept delivered("delivered_and_rebased");
    const Kept paused("paused_at_a_limit");
    constexpr std::uint64_t tasks = 1000;
    for (std::uint64_t number = 1; number < tasks; ++number) {
        const Kept& kept = number % 10 == 0 ? paused : delivered;
        Writer(agentforge, kept, id_of(number)).append_kept(kept.records.size());
    }
    LongTask growing(agentforge, tasks);
    growing.add(100);
    Samples listing;
    for (auto _ : state) {
        const Running dashboard(repository);
        Client client(dashboard.socket());
        for (int round = 0; round < 20; ++round) {
            listing.add(ask_in_ms(client, "/api/tasks?limit=500") + ask_in_ms(client, "/api/tasks?limit=500&offset=500"));
        }
        Client listener(dashboard.socket());
        const double event = event_in_ms(listener, growing);
        constexpr int idle_seconds = 20;
        const double before = dashboard.milliseconds();
        std::this_thread::sleep_for(std::chrono::seconds(idle_seconds));
        const double idle = (dashboard.milliseconds() - before) / (idle_seconds * 1000) * 100;
        state.SetIterationTime(listing.median() / 1e3);
        report(state, {"a record written until it is an event at the client", "ms", event, 0, "", {Aim::Of::value, 100}});
        report(state, {"1,000 tasks listed over HTTP", "ms", listing.median(), 0, "", {Aim::Of::value, 50}});
        report(state,
               {"memory of the dashboard with 1,000 tasks", "MB", dashboard.megabytes("VmRSS:"), 0, "", {Aim::Of::value, 40}});
        report(state, {"… its peak, while it read them", "MB", dashboard.megabytes("VmHWM:"), 0, "", {}});
        report(state, {"… of a core while nothing happens, one client listening", "%", idle, 0, "", {Aim::Of::value, 0.1}});
    }
}
BENCHMARK(dashboard_of_a_thousand)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

void step_of_a_million(benchmark::State& state) {
    const WorkFolder folder("dashboard-long");
    const auto repository = folder.path() / "r";
    make_repository(repository, source_folder() + "/examples/textkit");
    constexpr std::uint64_t steps = 1'000'000;
    LongTask task(repository / ".agentforge", 1);
    task.add(steps - task.steps());
    Samples one;
    Samples page;
    std::mt19937_64 random(1);  // NOLINT: the same numbers in each run.
    for (auto _ : state) {
        const Running dashboard(repository);
        Client client(dashboard.socket());
        for (int round = 0; round < 200; ++round) {
            const std::uint64_t number = random() % steps + 1;
            one.add(ask_in_ms(client, "/api/tasks/" + task.task_id() + "/steps/" + std::to_string(number)));
            page.add(ask_in_ms(client, "/api/tasks/" + task.task_id() + "/steps?before=" + std::to_string(number + 50)));
        }
        state.SetIterationTime(one.median() / 1e3);
        report(state, {"a step of 1,000,000, any of them", "ms", one.median(), 0, "", {Aim::Of::value, 10}});
        report(state, {"… a page of 50", "ms", page.median(), 0, "", {Aim::Of::value, 10}});
        Client listener(dashboard.socket());
        const double event = event_in_ms(listener, task);
        report(state, {"… one more, written until it is an event at the client", "ms", event, 0, "", {Aim::Of::value, 100}});
        Samples found;
        Samples reads;
        const fs::path journal = repository / ".agentforge" / "tasks" / task.task_id() / "actions.yaml";
        const FileDescriptor file(::open(journal.c_str(), O_RDONLY | O_CLOEXEC));
        StepIndex index(journal);
        for (int round = 0; round < 200; ++round) {
            const std::uint64_t number = random() % steps + 1;
            found.add(microseconds([&] { must(index.find(number)); }) / 1e3);
            reads.add(microseconds([&] {
                          char bytes[16UL << 10U];
                          for (const std::size_t size : {std::size_t{8}, sizeof bytes}) {
                              if (::pread(file.get(), bytes, size, static_cast<off_t>(number * 500)) <= 0) {
                                  give_up("the journal cannot be read");
                              }
                          }
                      }) /
                      1e3);
        }
        report(state, {"… by the index alone", "ms", found.median(), reads.median(), "two reads", {Aim::Of::value, 1}});
        report(state, {"… memory of the dashboard", "MB", dashboard.megabytes("VmRSS:"), 0, "", {}});
    }
}
BENCHMARK(step_of_a_million)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

void page_bytes(benchmark::State& state) {
    double bytes = 0;
    for (auto _ : state) {
        bytes = std::stod(shell("for file in '" + source_folder() +
                                "'/kernel/dashboard/page/*; do gzip -9 -c \"$file\"; done | wc -c")) /
                1e3;
        state.SetIterationTime(1e-3);
    }
    report(state, {"the dashboard's page, each file compressed", "kB", bytes, 0, "", {Aim::Of::value, 150}});
}
BENCHMARK(page_bytes)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
