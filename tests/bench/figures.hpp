// SPDX-License-Identifier: Apache-2.0
// The result of a benchmark: a figure and its floor, both measured in the same run, interleaved.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace agentforge::bench {

/// Values of one quantity. The median counts, because other programs disturb single values.
class Samples {
public:
    void add(double value) { values_.push_back(value); }
    [[nodiscard]] double median() const;
    [[nodiscard]] bool empty() const noexcept { return values_.empty(); }

private:
    std::vector<double> values_;
};

/// Returns the microseconds that `work` takes.
[[nodiscard]] double microseconds(const std::function<void()>& work);
/// The same in processor time of this thread.
[[nodiscard]] double cpu_microseconds(const std::function<void()>& work);

/// The target of a figure. Never a test: a table says whether it is met.
struct Aim {
    enum class Of : unsigned char { none = 1, value, ratio, difference };
    Of of = Of::none;
    double at_most = 0;  ///< In the figure's unit, or as a multiple of the floor.
};

/// One row of the table.
struct Figure {
    std::string name;
    std::string unit;  ///< µs, ms or MB.
    double measured = 0;
    double floor = 0;
    std::string floor_is;  ///< A short description of the floor.
    Aim aim;
};

/// Adds a figure to the table and to Google Benchmark's own output.
void report(benchmark::State& state, const Figure& figure);
/// Returns the table of all figures so far, in Markdown.
[[nodiscard]] std::string table();
/// True if any aim was missed.
[[nodiscard]] bool any_missed();

}  // namespace agentforge::bench
