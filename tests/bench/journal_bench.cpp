// SPDX-License-Identifier: Apache-2.0
// One append to the journal, compared with its minimum: a write and an fdatasync of the same bytes.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "journal/journal.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

/// Returns a record like that of an agent's step.
json::object step_record(int step) {
    return {{"step", step},
            {"type", "step"},
            {"timestamp", "2026-01-02T15:30:00.123Z"},
            {"agent", {{"role", "software_developer"}, {"version", "1.0.0"}}},
            {"stage", "green"},
            {"run", 1},
            {"run_step", step},
            {"tool", "edit_file"},
            {"success", true},
            {"summary", "replaced one place in textkit/slug.py"},
            {"context_blob", std::string(64, 'a')},
            {"answer_blob", std::string(64, 'b')},
            {"output_blob", std::string(64, 'c')},
            {"tree", std::string(40, 'd')},
            {"usage", {{"input_tokens", 6123}, {"output_tokens", 402}}},
            {"section_tokens", {{"system_prompt", 700}, {"task_frame", 210}, {"current_state", 3100}, {"recent_actions", 640}}}};
}

Journal new_journal(const std::filesystem::path& path, JournalDisk& disk = JournalDisk::system()) {
    return must(
        Journal::create(path, {{"task_id", "task-20260102-bench-00000001"}, {"request", "Add a slugify function"}}, disk));
}

FileDescriptor bare_file(const std::filesystem::path& path) {
    return FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
}

std::size_t line_size(const Record& record) { return to_json_line(record.body).size() + 3; }

double process_cpu() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

void journal_append(benchmark::State& state) {
    const WorkFolder folder("journal");
    Journal journal = new_journal(folder.path() / "actions.yaml");
    const FileDescriptor bare = bare_file(folder.path() / "bare");
    Samples ours;
    Samples floor;
    int step = 0;
    const std::string bytes(line_size(must(journal.append(step_record(0)))), 'x');
    const auto append = [&] { ours.add(microseconds([&] { must(journal.append(step_record(++step))); })); };
    const auto pair = [&] {
        floor.add(microseconds([&] {
            must(write_all(bare.get(), bytes, "bare"));
            if (::fdatasync(bare.get()) != 0) { give_up("fdatasync failed"); }
        }));
    };
    for (auto _ : state) {
        if (step % 2 == 0) {
            pair();
            append();
        } else {
            // Alternates the order.
            append();
            pair();
        }
        state.SetIterationTime(ours.median() / 1e6);
    }
    report(state,
           {"journal append", "µs", ours.median(), floor.median(), "write + fdatasync of the same bytes", {Aim::Of::ratio, 1.5}});
}
BENCHMARK(journal_append)->Iterations(600)->UseManualTime()->Unit(benchmark::kMicrosecond);

/// Neither writes nor syncs, so only our own work is measured.
class NoDisk final : public JournalDisk {
public:
    long write(int descriptor, const char*, std::size_t count) override {
        // Each append checks the size.
        size_ += static_cast<off_t>(count);
        return ::ftruncate(descriptor, start_ + size_) == 0 ? static_cast<long>(count) : -1;
    }
    int sync(int) override { return 0; }
    void start_at(off_t start) { start_ = start; }

private:
    off_t start_ = 0;
    off_t size_ = 0;
};

void journal_append_cpu(benchmark::State& state) {
    const WorkFolder folder("journal-cpu");
    NoDisk disk;
    Journal journal = new_journal(folder.path() / "actions.yaml", disk);
    disk.start_at(static_cast<off_t>(std::filesystem::file_size(folder.path() / "actions.yaml")));
    const FileDescriptor bare = bare_file(folder.path() / "bare");
    off_t size = 0;
    Samples ours;
    Samples floor;
    int step = 0;
    for (auto _ : state) {
        json::object body = step_record(++step);
        const double spent = cpu_microseconds([&] { must(journal.append(std::move(body))); });
        ours.add(spent);
        floor.add(cpu_microseconds([&] { must(::ftruncate(bare.get(), ++size) == 0 ? Result<void>() : Result<void>(Error{})); }));
        state.SetIterationTime(spent / 1e6);
    }
    report(state, {"processor time of an append, no disk",
                   "µs",
                   ours.median(),
                   floor.median(),
                   "growing a file by ftruncate, which stands for the write",
                   {Aim::Of::difference, 30}});
}
BENCHMARK(journal_append_cpu)->Iterations(3000)->UseManualTime()->Unit(benchmark::kMicrosecond);

/// The same with the real disk: the process's total time minus that of the bare write and sync.
void journal_append_process_cpu(benchmark::State& state) {
    constexpr int batch = 100;
    const WorkFolder folder("journal-process-cpu");
    Journal journal = new_journal(folder.path() / "actions.yaml");
    const FileDescriptor bare = bare_file(folder.path() / "bare");
    const std::string bytes(line_size(must(journal.append(step_record(0)))), 'x');
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        std::vector<json::object> bodies;
        for (int step = 0; step < batch; ++step) { bodies.push_back(step_record(step)); }
        double begin = process_cpu();
        for (json::object& body : bodies) { must(journal.append(std::move(body))); }
        ours.add((process_cpu() - begin) / batch);
        begin = process_cpu();
        for (int step = 0; step < batch; ++step) {
            must(write_all(bare.get(), bytes, "bare"));
            if (::fdatasync(bare.get()) != 0) { give_up("fdatasync failed"); }
        }
        floor.add((process_cpu() - begin) / batch);
        state.SetIterationTime(ours.median() / 1e6);
    }
    report(state, {"processor time of an append, real disk",
                   "µs",
                   ours.median(),
                   floor.median(),
                   "write + fdatasync of the same bytes",
                   {Aim::Of::difference, 30}});
}
BENCHMARK(journal_append_process_cpu)->Iterations(9)->UseManualTime()->Unit(benchmark::kMicrosecond);

/// Writes and does not wait for the disk.
class NoSync final : public JournalDisk {
public:
    int sync(int) override { return 0; }
};

void journal_verify(benchmark::State& state) {
    constexpr int records = 100'000;
    constexpr std::uint64_t most_bytes = 1ULL << 30U;
    const WorkFolder folder("journal-verify");
    const auto path = folder.path() / "actions.yaml";
    NoSync disk;
    {
        Journal journal = new_journal(path, disk);
        for (int step = 1; step <= records; ++step) { must(journal.append(step_record(step))); }
    }
    const std::string bytes = must(read_file(path, most_bytes));
    const double per_100_mb = 1e8 / static_cast<double>(bytes.size());
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        std::string hash;
        floor.add(microseconds([&] { hash = sha256(bytes); }) / 1e3 * per_100_mb);
        benchmark::DoNotOptimize(hash);
        ours.add(microseconds([&] { must(Journal::read(path, JournalVisitor())); }) / 1e3 * per_100_mb);
        state.SetIterationTime(ours.median() / 1e3);
    }
    report(state, {"verify a journal of 100,000 records, per 100 MB",
                   "ms",
                   ours.median(),
                   floor.median(),
                   "SHA-256 of the same bytes",
                   {Aim::Of::value, 500}});
}
BENCHMARK(journal_verify)->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
