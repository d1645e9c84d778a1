// SPDX-License-Identifier: Apache-2.0
#include "agent/shorten.hpp"

#include "backends/tokens.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

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

/// Level 0 is the tightest. Each level allows 1.4 times the bytes and 1.25 times the items of the one before.
Limits limits_of(unsigned level) {
    double bytes = 40;
    double items = 3;
    for (unsigned i = 0; i < level; ++i) {
        bytes *= 1.4;
        items *= 1.25;
    }
    return {static_cast<std::size_t>(bytes), static_cast<std::size_t>(items), 3UL + level / 2};
}
constexpr unsigned last_level = 24;

json::value limited(const json::value& value, const Limits& limits, std::size_t depth) {
    if (value.is_string()) {
        const auto& text = value.get_string();
        bool cut = false;
        return json::value(shorten_lines({text.data(), text.size()}, limits.string_bytes, 1, cut));
    }
    if (value.is_array()) {
        const json::array& items = value.get_array();
        if (depth >= limits.depth && !items.empty()) { return json::value("… " + std::to_string(items.size()) + " items left out …"); }
        json::array result;
        for (const json::value& item : items) {
            if (result.size() == limits.items) { break; }
            result.push_back(limited(item, limits, depth + 1));
        }
        if (result.size() < items.size()) { result.emplace_back("… " + std::to_string(items.size() - result.size()) + " more left out …"); }
        return result;
    }
    if (value.is_object()) {
        const json::object& fields = value.get_object();
        if (depth >= limits.depth && !fields.empty()) { return json::value("… " + std::to_string(fields.size()) + " fields left out …"); }
        json::object result;
        const std::size_t allowed = limits.items * 4;
        for (const auto& [key, item] : fields) {
            if (result.size() == allowed) { break; }
            result[ellipsis({key.data(), key.size()}, std::max<std::size_t>(limits.string_bytes, 80))] = limited(item, limits, depth + 1);
        }
        if (result.size() < fields.size()) { result["left_out"] = std::to_string(fields.size() - result.size()) + " more fields"; }
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
    if (used + tail_used < max_bytes / 3) { return head_and_tail(text, max_bytes); }
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
        if (level > 0) { before += 2UL * (depth - level) + 3; }     // "x:" and a line end, indented.
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
    // Nothing beyond this many bytes can fit: so a value of megabytes is not written out only to be measured.
    const std::size_t most_bytes = max_tokens * 8;
    const std::size_t raw_bytes = value.is_string() ? value.get_string().size() : json::serialize(value).size();
    if (raw_bytes <= most_bytes) {
        Piece whole = piece_of(name, value, depth);
        if (whole.tokens <= max_tokens) { return whole; }
    }
    std::optional<Piece> best;
    unsigned low = 0;
    unsigned high = last_level + 1;
    while (low < high) {
        const unsigned level = (low + high) / 2;
        Piece candidate = piece_of(name, limited(value, limits_of(level), 0), depth);
        if (candidate.tokens <= max_tokens) {
            best = std::move(candidate);
            low = level + 1;
        } else {
            high = level;
        }
    }
    if (!best) { best = piece_of(name, json::value("… " + std::to_string(raw_bytes) + " bytes left out …"), depth); }
    best->cut = true;
    return *std::move(best);
}

Piece shorten_text_to(std::string_view name, std::string_view text, std::size_t max_tokens, std::uint64_t first_line, unsigned depth) {
    std::size_t bytes = text.size();
    if (bytes > max_tokens * 8) { bytes = max_tokens * 5; }
    for (unsigned attempt = 0; attempt < 12 && (bytes > 20 || bytes == text.size()); ++attempt) {
        bool cut = false;
        Piece piece = piece_of(name, json::value(shorten_lines(text, bytes, first_line, cut)), depth);
        if (piece.tokens <= max_tokens) {
            piece.cut = cut;
            return piece;
        }
        bytes = std::min(bytes, text.size()) * max_tokens / piece.tokens * 19 / 20;
    }
    Piece piece = piece_of(name, json::value("… " + std::to_string(text.size()) + " bytes left out …"), depth);
    piece.cut = true;
    return piece;
}

}  // namespace agentforge::kernel
