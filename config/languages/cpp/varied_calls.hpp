// SPDX-License-Identifier: Apache-2.0
// Inserted before a C++ source file, whose functions of lists of numbers also call themselves with other lists while tests run.
// Writes one line a call to the file $AGENTFORGE_CALLS (kernel/gates/test_quality/varied_calls.hpp). C++11.
#ifndef AGENTFORGE_VARIED_CALLS_HPP
#define AGENTFORGE_VARIED_CALLS_HPP
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

namespace agentforge_varied_calls {

inline bool& busy() {
    static thread_local bool value = false;
    return value;
}

inline std::string text_of(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

template <class R, typename std::enable_if<std::is_arithmetic<R>::value && !std::is_same<R, bool>::value, int>::type = 0>
std::string told(const R& result, int) {
    return text_of(static_cast<double>(result));
}
template <class R>
auto told(const R& result, int) -> decltype(static_cast<double>(*result), static_cast<bool>(result), std::string()) {
    return static_cast<bool>(result) ? text_of(static_cast<double>(*result)) : std::string("-");
}
template <class R>
std::string told(const R&, ...) {
    return "?";
}

template <class Call>
void one(std::FILE* file, const char* function, const char* kind, const std::vector<double>& given, Call& call) {
    std::string line = std::string(function) + "\t" + kind + "\t";
    for (std::size_t at = 0; at < given.size(); ++at) { line += (at == 0 ? "" : ",") + text_of(given[at]); }
    line += "\t";
    try {
        line += told(call(given), 0);
    } catch (...) { line += "-"; }
    line += "\n";
    std::fwrite(line.data(), 1, line.size(), file);
    std::fflush(file);
}

template <class Call>
void vary(const char* function, const std::vector<double>& given, Call call) {
    static std::atomic<int> made(0);
    const char* path = std::getenv("AGENTFORGE_CALLS");
    if (path == nullptr || busy() || given.size() > 200 || made.fetch_add(1) >= 40) { return; }
    std::FILE* file = std::fopen(path, "a");
    if (file == nullptr) { return; }
    busy() = true;
    one(file, function, "own", given, call);
    if (given.size() > 1) {
        std::vector<double> other(given.begin() + 1, given.end());
        one(file, function, "near", other, call);
        other.assign(given.begin(), given.end() - 1);
        one(file, function, "near", other, call);
        other.assign(given.rbegin(), given.rend());
        one(file, function, "near", other, call);
        other = given;
        other.insert(other.end(), given.begin(), given.end());
        one(file, function, "near", other, call);
        one(file, function, "near", std::vector<double>(), call);
        for (std::size_t at = 0; at < given.size() && at < 6; ++at) {
            for (const double by : {1.0, -1.0}) {
                other = given;
                other[at] += by;
                one(file, function, "near", other, call);
            }
        }
    }
    busy() = false;
    std::fclose(file);
}

}  // namespace agentforge_varied_calls
#endif
