// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/sse.hpp>

#include <vector>

#include "fuzz/check.hpp"
#include "fuzz/targets.hpp"

namespace agentforge::fuzz {
namespace {

constexpr std::size_t bound = 200;  // Small, so inputs reach it.

struct Heard {
    std::vector<std::pair<std::string, std::string>> events;
    std::string error;
    bool operator==(const Heard&) const = default;
};

class Listener {
public:
    /// Returns false after an error; nothing more is fed.
    bool feed(std::string_view part) {
        const auto fed = reader_.feed(part, [this](const http::Event& event) -> Result<bool> {
            must(event.type.size() <= bound && event.data.size() <= bound, "an event is no longer than the bound");
            heard.events.emplace_back(event.type, event.data);
            return true;
        });
        if (!fed.ok()) { heard.error = fed.error().code; }
        return fed.ok();
    }
    Heard heard;

private:
    http::EventReader reader_{bound};
};

}  // namespace

void events(std::string_view bytes) {
    if (bytes.empty()) { return; }
    const std::size_t step = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    Listener whole;
    whole.feed(bytes);
    must(whole.heard.error.empty() || whole.heard.error == "AF-LLM-412",
         "the only error is AF-LLM-412, not " + whole.heard.error);
    Listener single;
    for (std::size_t at = 0; at < bytes.size() && single.feed(bytes.substr(at, 1)); ++at) {}
    must(single.heard == whole.heard, "byte by byte gives the same events");
    // Pieces of varying sizes, including empty ones.
    Listener pieces;
    for (std::size_t at = 0, turn = step; at < bytes.size(); ++turn) {
        const std::size_t size = turn % 3 == 0 ? 0 : (turn * step) % 11 + 1;
        if (!pieces.feed(bytes.substr(at, size))) { break; }
        at += size;
    }
    must(pieces.heard == whole.heard, "pieces give the same events");
}

}  // namespace agentforge::fuzz
