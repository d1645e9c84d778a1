// SPDX-License-Identifier: Apache-2.0
// The cost of hiding secrets in text without any, the usual case: a prompt's bytes are searched once.
#include "secrets/redactor.hpp"

#include "base/hash.hpp"
#include "bench/figures.hpp"
#include "bench/places.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

/// `line`: repeated in the text, with a number appended.
void redact(benchmark::State& state, const char* name, const std::string& line) {
    std::vector<Secret> known;
    for (int i = 0; i < 10; ++i) {
        known.push_back({"KEY_" + std::to_string(i), "kR4tY7uI0pL3jH6gF9dS2aZx8Cv5Bn2Mq1We4" + std::to_string(1000 + i)});
    }
    const Redactor redactor(known, must(load_secret_rules(AGENTFORGE_SOURCE_DIR "/config/secrets/rules.yaml")), "k");
    std::string text;
    for (int number = 0; text.size() < 32UL * 1024; ++number) {
        text += line + std::to_string(number) + "]  # one more line of a file\n";
    }
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        floor.add(microseconds([&] { benchmark::DoNotOptimize(sha256(text)); }));
        const double spent = microseconds([&] {
            if (redactor.redacted(text)) { give_up("the text holds a secret"); }
        });
        ours.add(spent);
        state.SetIterationTime(spent / 1e6);
    }
    report(state, {name, "µs", ours.median(), floor.median(), "SHA-256 of the same bytes", {}});
}

void redact_a_prompt(benchmark::State& state) {
    redact(state, "looking for secrets in a prompt of 32 KiB", "    return words(text)[");
}
/// The most expensive case: each line is decoded separately.
void redact_escapes(benchmark::State& state) {
    redact(state, "looking for secrets in 32 KiB with an escape in every line", "    return words(\"%s\\n\")[");
}
BENCHMARK(redact_escapes)->Iterations(1000)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(redact_a_prompt)->Iterations(1000)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace agentforge::bench
