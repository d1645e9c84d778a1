// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string_view>

#include <benchmark/benchmark.h>

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "bench/plugins_bench.hpp"
#include "task/snapshot_file.hpp"

int main(int argc, char** argv) {
    // Excludes the user's configuration.
    ::setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
    ::setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"}) { ::unsetenv(name); }
    agentforge::kernel::set_snapshot_key([] { return std::string("benchmarks"); });
    if (argc == 2 && std::string_view(argv[1]).starts_with("--child=")) {
        return agentforge::bench::run_child(std::string_view(argv[1]).substr(8));
    }
    const agentforge::bench::WorkFolder temporary("tmp");
    ::setenv("TMPDIR", temporary.path().c_str(), 1);
    ::setenv("HOME", temporary.path().c_str(), 1);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) { return 2; }
    benchmark::RunSpecifiedBenchmarks();
    const std::string table = agentforge::bench::table();
    std::cout << "\n" << table;
    if (const char* file = std::getenv("BENCH_TABLE")) { std::ofstream(file) << table; }
    return 0;
}
