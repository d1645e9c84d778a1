// SPDX-License-Identifier: Apache-2.0
// A task's worktree of 2,000 files: created, recorded as a tree, recorded again after one write.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/syncs.hpp"
#include "git/repository.hpp"
#include "git/worktree.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;
namespace fs = std::filesystem;

constexpr int file_count = 2000;

std::string name_of(int file) { return "package_" + std::to_string(file % 40) + "/module_" + std::to_string(file) + ".py"; }

std::string text_of(int file) {
    std::string text;
    for (int line = 0; line < 40; ++line) {
        text += "def function_" + std::to_string(file) + "_" + std::to_string(line) + "(): return " + std::to_string(line) + "\n";
    }
    return text;
}

/// The minimum work of a checkout.
void write_files(const fs::path& folder) {
    for (int package = 0; package < 40; ++package) { fs::create_directories(folder / ("package_" + std::to_string(package))); }
    for (int file = 0; file < file_count; ++file) {
        const std::string text = text_of(file);
        const int descriptor = ::open((folder / name_of(file)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (::write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size())) { give_up("cannot write"); }
        ::close(descriptor);
    }
}

/// The minimum work of a snapshot of an unchanged worktree.
void stat_files(const fs::path& folder) {
    struct stat status {};
    for (int file = 0; file < file_count; ++file) {
        if (::lstat((folder / name_of(file)).c_str(), &status) != 0) { give_up("cannot stat"); }
    }
}

void worktree(benchmark::State& state) {
    const WorkFolder folder("git");
    const fs::path repository = folder.path() / "repository";
    write_files(repository);
    make_repository(repository, {});
    const Repository opened = must(Repository::open(repository));
    const std::string commit = must(opened.head_commit());
    Samples making;
    Samples making_floor;
    Samples whole;
    Samples whole_floor;
    Samples one;
    Samples one_syncs;
    int round = 0;
    for (auto _ : state) {
        const fs::path bare = folder.path() / "bare";
        making_floor.add(microseconds([&] { write_files(bare); }) / 1e3);
        fs::remove_all(bare);
        const fs::path path = folder.path() / "state" / "work";
        std::optional<Worktree> tree;
        making.add(microseconds([&] { tree = must(Worktree::ensure(repository, path, "bench", commit)); }) / 1e3);
        must(tree->snapshot());  // Fills the stat cache.
        for (int repeat = 0; repeat < 5; ++repeat) {
            whole_floor.add(microseconds([&] { stat_files(path); }) / 1e3);
            whole.add(microseconds([&] { must(tree->snapshot()); }) / 1e3);
            const std::string file = name_of(repeat * 7);
            write_text(path / file, text_of(++round + 10'000));
            const Syncs before = syncs_so_far();
            one.add(microseconds([&] { must(tree->snapshot_paths({file})); }) / 1e3);
            one_syncs.add((syncs_so_far() - before).microseconds / 1e3);
        }
        tree.reset();
        must(Worktree::remove(repository, path, "bench"));
        state.SetIterationTime(making.median() / 1e3);
    }
    report(state, {"worktree of 2,000 files made", "ms", making.median(), making_floor.median(), "writing the same files", {}});
    report(state,
           {"snapshot of 2,000 files, unchanged", "ms", whole.median(), whole_floor.median(), "lstat of the same files", {}});
    report(state, {"snapshot after one write, by path", "ms", one.median(), one_syncs.median(), "its own fsync calls", {}});
}
BENCHMARK(worktree)->Iterations(7)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace agentforge::bench
