// SPDX-License-Identifier: Apache-2.0
#include "agent/shorten.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "backends/tokens.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t close_enough = 96;  ///< Tokens that may stay unused without searching for a tighter fit.
constexpr std::size_t longest_gap = 320;  ///< Bytes that whole lines may leave unused. Beyond this, a long line is cut inside.

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        lines.push_back(text.substr(0, end == std::string_view::npos ? text.size() : end + 1));
        text.remove_prefix(lines.back().size());
    }
    return lines;
}

struct Limits {
    std::size_t string_bytes;
    std::size_t items;
    std::size_t depth;
};

/// Level 0 is the tightest. Each level allows 4 % more bytes and 2.6 % more items than the one before.
Limits limits_of(unsigned level) {
    return {static_cast<std::size_t>(40 * std::pow(1.04, level)), static_cast<std::size_t>(3 * std::pow(1.026, level)),
            3UL + level / 17};
}
constexpr unsigned last_level = 206;

/// Applies the limits of a level, and those of the next level to the first values in text order. So nearly all space is used, and
/// what comes first keeps more.
class Limiter {
public:
    /// `quarters`: how far the limits of the value after those are on the way to the next level.
    Limiter(unsigned level, std::size_t looser, unsigned quarters)
        : tight_(limits_of(level)), loose_(limits_of(level + 1)), between_(tight_), looser_(looser) {
        between_.string_bytes += (loose_.string_bytes - tight_.string_bytes) * quarters / 4;
    }

    json::value operator()(const json::value& value, std::size_t depth = 0) {
        const std::size_t index = seen_++;
        if (index == looser_) { return limited(value, between_, depth); }
        return limited(value, index < looser_ ? loose_ : tight_, depth);
    }
    [[nodiscard]] std::size_t seen() const noexcept { return seen_; }

private:
    json::value limited(const json::value& value, const Limits& limits, std::size_t depth);

    Limits tight_;
    Limits loose_;
    Limits between_;
    std::size_t looser_;
    std::size_t seen_ = 0;
};

json::value Limiter::limited(const json::value& value, const Limits& limits, std::size_t depth) {
    if (value.is_string()) {
        const auto& text = value.get_string();
        bool cut = false;
        return json::value(shorten_lines({text.data(), text.size()}, limits.string_bytes, 1, cut));
    }
    if (value.is_array()) {
        const json::array& items = value.get_array();
        if (depth >= limits.depth && !items.empty()) {
            return json::value("… " + std::to_string(items.size()) + " items left out …");
        }
        json::array result;
        for (const json::value& item : items) {
            if (result.size() == limits.items) { break; }
            result.push_back((*this)(item, depth + 1));
        }
        if (result.size() < items.size()) {
            result.emplace_back("… " + std::to_string(items.size() - result.size()) + " more left out …");
        }
        return result;
    }
    if (value.is_object()) {
        const json::object& fields = value.get_object();
        if (depth >= limits.depth && !fields.empty()) {
            return json::value("… " + std::to_string(fields.size()) + " fields left out …");
        }
        json::object result;
        const std::size_t allowed = limits.items * 4;
        for (const auto& [key, item] : fields) {
            if (result.size() == allowed) { break; }
            result[ellipsis({key.data(), key.size()}, std::max<std::size_t>(limits.string_bytes, 80))] = (*this)(item, depth + 1);
        }
        if (result.size() < fields.size()) {
            result["left_out"] = std::to_string(fields.size() - result.size()) + " more fields";
        }
        return result;
    }
    return value;
}

}  // namespace

std::string shorten_lines(std::string_view text, std::size_t max_bytes, std::uint64_t first_line, bool& cut) {
    if (text.size() <= max_bytes) { return std::string(text); }
    cut = true;
    const std::vector<std::string_view> lines = lines_of(text);
    const std::size_t head_bytes = max_bytes * 3 / 5;
    const std::size_t tail_bytes = max_bytes - head_bytes;
    std::size_t head = 0;
    std::size_t used = 0;
    while (head < lines.size() && used + lines[head].size() <= head_bytes) { used += lines[head++].size(); }
    std::size_t tail = lines.size();
    std::size_t tail_used = 0;
    while (tail > head && tail_used + lines[tail - 1].size() <= tail_bytes) { tail_used += lines[--tail].size(); }
    while (head < tail && used + tail_used + lines[head].size() <= max_bytes) { used += lines[head++].size(); }
    if (used + tail_used < max_bytes / 3 || used + tail_used + longest_gap < max_bytes) { return head_and_tail(text, max_bytes); }
    std::string result;
    for (std::size_t i = 0; i < head; ++i) { result += lines[i]; }
    const std::uint64_t from = first_line + head;
    const std::uint64_t to = first_line + tail - 1;
    result += from == to ? "… line " + std::to_string(from) + " left out …\n"
                         : "… lines " + std::to_string(from) + "–" + std::to_string(to) + " left out …\n";
    for (std::size_t i = tail; i < lines.size(); ++i) { result += lines[i]; }
    return result;
}

Piece piece_of(std::string_view name, json::value value, unsigned depth) {
    std::size_t before = 0;
    for (unsigned level = 0; level <= depth; ++level) {
        json::object map;
        map[level == 0 ? name : std::string_view("x")] = std::move(value);
        value = std::move(map);
        if (level > 0) { before += 2UL * (depth - level) + 3; }  // "x:" and a line end, indented.
    }
    Piece piece;
    piece.yaml = to_yaml(value);
    piece.yaml.erase(0, before);
    piece.tokens = estimate_tokens(piece.yaml);
    return piece;
}

Piece item_piece_of(json::value item, unsigned depth) {
    json::array list;
    list.push_back(std::move(item));
    Piece piece = piece_of("x", std::move(list), depth);
    piece.yaml.erase(0, 2UL * depth + 3);
    piece.tokens = estimate_tokens(piece.yaml);
    return piece;
}

Piece shorten_to(std::string_view name, const json::value& value, std::size_t max_tokens, unsigned depth) {
    // Nothing longer can fit, so a value of megabytes is not written out only to be measured.
    const std::size_t most_bytes = max_tokens * 8;
    const std::size_t raw_bytes = value.is_string() ? value.get_string().size() : json::serialize(value).size();
    if (raw_bytes <= most_bytes) {
        Piece whole = piece_of(name, value, depth);
        if (whole.tokens <= max_tokens) { return whole; }
    }
    std::optional<Piece> best;
    std::size_t values = 0;
    const auto fits = [&](unsigned level, std::size_t looser, unsigned quarters = 0) {
        Limiter limiter(level, looser, quarters);
        Piece candidate = piece_of(name, limiter(value), depth);
        if (candidate.tokens > max_tokens) { return false; }
        values = limiter.seen();
        best = std::move(candidate);
        return true;
    };
    unsigned low = 0;
    unsigned high = last_level + 1;
    while (low < high) {
        const unsigned level = (low + high) / 2;
        if (fits(level, 0)) {
            low = level + 1;
        } else {
            high = level;
        }
    }
    if (best && low <= last_level) {
        std::size_t fewest = 0;
        for (std::size_t most = values; fewest < most && max_tokens - best->tokens > close_enough;) {
            const std::size_t looser = (fewest + most + 1) / 2;
            if (fits(low - 1, looser)) {
                fewest = looser;
            } else {
                most = looser - 1;
            }
        }
        for (unsigned quarters = 3; quarters > 0 && max_tokens - best->tokens > close_enough && !fits(low - 1, fewest, quarters);
             --quarters) {}
    }
    if (!best) { best = piece_of(name, json::value("… " + std::to_string(raw_bytes) + " bytes left out …"), depth); }
    best->cut = true;
    return *std::move(best);
}

Piece shorten_text_to(std::string_view name, std::string_view text, std::size_t max_tokens, std::uint64_t first_line,
                      unsigned depth) {
    // Interpolates between what fits and what does not, from the cost of the previous text.
    std::optional<Piece> best;
    std::size_t fitting = 0;
    std::size_t too_much = text.size() + 1;
    std::size_t bytes = text.size() > max_tokens * 8 ? max_tokens * 4 : text.size();
    for (unsigned attempt = 0; attempt < 16 && (bytes > 20 || bytes == text.size()); ++attempt) {
        bool cut = false;
        Piece piece = piece_of(name, json::value(shorten_lines(text, bytes, first_line, cut)), depth);
        piece.cut = cut;
        const std::size_t cost = std::max<std::size_t>(piece.tokens, 1);
        if (cost <= max_tokens) {
            fitting = bytes;
            best = std::move(piece);
            if (!cut || max_tokens - cost <= close_enough) { break; }
        } else {
            too_much = bytes;
        }
        if (too_much <= fitting + 8) { break; }
        const std::size_t guess = bytes * max_tokens / cost;
        const std::size_t margin = (too_much - fitting) / 8;
        bytes = std::clamp(guess - guess / 50, fitting + margin, too_much - 1 - margin);
    }
    if (best) { return *std::move(best); }
    Piece piece = piece_of(name, json::value("… " + std::to_string(text.size()) + " bytes left out …"), depth);
    piece.cut = true;
    return piece;
}

}  // namespace agentforge::kernel
