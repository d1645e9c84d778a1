// SPDX-License-Identifier: Apache-2.0
// What a benchmark reports: a figure beside its floor, both measured in the same run, interleaved.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

namespace agentforge::bench {

/// Values of one quantity; the median is what counts, because other programs disturb single ones.
class Samples {
public:
    void add(double value) { values_.push_back(value); }
    [[nodiscard]] double median() const;
    [[nodiscard]] bool empty() const noexcept { return values_.empty(); }

private:
    std::vector<double> values_;
};

/// Microseconds that `work` takes.
[[nodiscard]] double microseconds(const std::function<void()>& work);
/// The same of this thread's processor time.
[[nodiscard]] double cpu_microseconds(const std::function<void()>& work);

/// What is wished of a figure. Never a test: a table says whether it is met.
struct Aim {
    enum class Of : unsigned char { none = 1, value, ratio, difference };
    Of of = Of::none;
    double at_most = 0;  ///< In the figure's unit, or times the floor.
};

/// One line of the table.
struct Figure {
    std::string name;
    std::string unit;  ///< µs, ms, MB
    double measured = 0;
    double floor = 0;
    std::string floor_is;  ///< What the floor is, in a few words.
    Aim aim;
};

/// Puts a figure into the table and into Google Benchmark's own output, with everything else it is told.
void report(benchmark::State& state, const Figure& figure);
/// The table of all figures reported so far, in Markdown.
[[nodiscard]] std::string table();
/// Whether any aim was missed.
[[nodiscard]] bool any_missed();

}  // namespace agentforge::bench
