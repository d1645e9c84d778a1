// SPDX-License-Identifier: Apache-2.0
#include "bench/figures.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace agentforge::bench {

namespace {

std::vector<Figure>& figures() {
    static std::vector<Figure> all;
    return all;
}

std::string number(double value) {
    char text[64];
    int decimals = 0;
    if (value < 10) {
        decimals = 2;
    } else if (value < 100) {
        decimals = 1;
    }
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

double judged(const Figure& figure) {
    switch (figure.aim.of) {
        case Aim::Of::ratio:
            return figure.measured / figure.floor;
        case Aim::Of::difference:
            return figure.measured - figure.floor;
        default:
            return figure.measured;
    }
}

std::string aim_text(const Figure& figure) {
    switch (figure.aim.of) {
        case Aim::Of::none:
            return "";
        case Aim::Of::value:
            return "≤ " + number(figure.aim.at_most) + " " + figure.unit;
        case Aim::Of::ratio:
            return "≤ " + number(figure.aim.at_most) + " × floor";
        case Aim::Of::difference:
            return "≤ floor + " + number(figure.aim.at_most) + " " + figure.unit;
    }
    return "";
}

bool met(const Figure& figure) { return figure.aim.of == Aim::Of::none || judged(figure) <= figure.aim.at_most; }

double cpu_now() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

double Samples::median() const {
    if (values_.empty()) { return 0; }
    std::vector<double> sorted = values_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return *middle;
}

double microseconds(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

double cpu_microseconds(const std::function<void()>& work) {
    const double begin = cpu_now();
    work();
    return cpu_now() - begin;
}

void report(benchmark::State& state, const Figure& figure) {
    state.counters["measured"] = figure.measured;
    state.counters["floor"] = figure.floor;
    state.counters["ratio"] = figure.floor > 0 ? figure.measured / figure.floor : 0;
    state.SetLabel(figure.unit + ", floor: " + figure.floor_is);
    figures().push_back(figure);
}

std::string table() {
    std::string text = "| figure | measured | floor | ratio | floor is | aim | met |\n|---|---:|---:|---:|---|---|---|\n";
    for (const Figure& figure : figures()) {
        text += "| " + figure.name + " | " + number(figure.measured) + " " + figure.unit + " | ";
        text += figure.floor > 0 ? number(figure.floor) + " " + figure.unit + " | " + number(figure.measured / figure.floor)
                                 : std::string("– | –");
        text += " | " + figure.floor_is + " | " + aim_text(figure) + " | ";
        if (figure.aim.of != Aim::Of::none) { text += met(figure) ? "yes" : "NO"; }
        text += " |\n";
    }
    return text;
}

bool any_missed() {
    return std::any_of(figures().begin(), figures().end(), [](const Figure& figure) { return !met(figure); });
}

}  // namespace agentforge::bench
