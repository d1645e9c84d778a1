// SPDX-License-Identifier: Apache-2.0
#include "gates/removal/removal_review.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gates/removal/code_vocabulary.hpp"

namespace agentforge::kernel {

RemovalReview::RemovalReview(const RemovalRequest& request, const CodeRules& rules, const std::vector<ChangedText>& files,
                             const std::vector<std::string>& others)
    : change_(RemovalReader(request, rules, files, others).take()), removes_(request.removes()) {
    asked_found_ = std::ranges::any_of(change_.pieces, [](const Piece& piece) { return piece.is_asked; });
    link();
    // What decides something comes first: it is the most likely to be missed.
    std::ranges::stable_partition(change_.pieces, [](const Piece& piece) { return piece.decides; });
}

void RemovalReview::link() {
    std::set<std::string> names;
    const auto shares = [](const Piece& piece, const std::set<std::string>& with) {
        return std::ranges::any_of(piece.vanished, [&](const auto& name) { return with.contains(name); });
    };
    std::set<std::string> slots;
    for (bool grown = true; grown;) {
        grown = false;
        for (auto& piece : change_.pieces) {
            if (piece.is_linked) { continue; }
            const bool noticed = piece.is_tried && piece.reaction == Reaction::noticed;
            const bool goes = piece.is_asked || shares(piece, names) || slots.contains(piece.slot);
            if (!noticed && (piece.is_kept || !goes)) { continue; }
            piece.is_linked = grown = true;
            names.insert(piece.vanished.begin(), piece.vanished.end());
            if (!piece.slot.empty()) { slots.insert(piece.slot); }
        }
    }
    // Calls of a removed definition that raises no error, if that seems to be what the request is about.
    if (asked_found_) { return; }
    std::set<std::string> harmless;
    for (const auto& piece : change_.pieces) {
        if (piece.kind == Piece::Kind::definition && !piece.decides) {
            harmless.insert(piece.vanished.begin(), piece.vanished.end());
        }
    }
    for (auto& piece : change_.pieces) {
        piece.is_excused = piece.kind == Piece::Kind::lines && !piece.decides && !piece.is_kept && shares(piece, harmless);
    }
}

bool RemovalReview::is_accounted_for(const Piece& piece) const {
    if (piece.is_linked || piece.kind == Piece::Kind::import) { return true; }
    if (!removes_) { return !piece.is_lost_check; }
    if (piece.is_kept) { return false; }
    return piece.kind == Piece::Kind::lines ? piece.is_excused : !piece.is_body || !asked_found_;
}

std::size_t RemovalReview::next_piece() const {
    const auto needs_test = [&](const Piece& piece) { return !piece.is_tried && !is_accounted_for(piece); };
    // Calls come first: they are put back together with what they call.
    auto found = std::ranges::find_if(change_.pieces,
                                      [&](const Piece& piece) { return piece.kind == Piece::Kind::lines && needs_test(piece); });
    if (found == change_.pieces.end()) { found = std::ranges::find_if(change_.pieces, needs_test); }
    return static_cast<std::size_t>(found - change_.pieces.begin());
}

std::set<std::size_t> RemovalReview::with_what_it_needs(std::size_t piece) const {
    std::set<std::size_t> needed{piece};
    const auto& file = change_.pieces[piece].lines.file;
    std::set<std::string> names = change_.pieces[piece].lacking;
    std::map<std::string, std::set<std::string>> uses{{file, change_.pieces[piece].uses}};  // By file.
    std::set<std::string> slots{change_.pieces[piece].slot};
    for (bool grown = true; grown;) {
        grown = false;
        for (std::size_t at = 0; at < change_.pieces.size(); ++at) {
            const auto& other = change_.pieces[at];
            if (needed.contains(at) || (other.is_linked && other.kind != Piece::Kind::import)) { continue; }
            const bool is_import = other.kind == Piece::Kind::import;
            const bool frame = is_import && other.imported.empty() && (other.lacking.empty() || change_.restores_includes) &&
                               other.lines.file == file && names_of_code(other.code).size() <= 1;
            const bool imports = uses[other.lines.file].contains(other.imported);
            const bool shares = std::ranges::any_of(other.given, [&](const auto& name) { return names.contains(name); });
            const bool passes = !other.slot.empty() && slots.contains(other.slot);
            if (!frame && !imports && !passes && (!shares || !other.imported.empty())) { continue; }
            needed.insert(at);
            names.insert(other.lacking.begin(), other.lacking.end());
            if (!is_import) { uses[other.lines.file].insert(other.uses.begin(), other.uses.end()); }
            slots.insert(other.slot);
            grown = true;
        }
    }
    return needed;
}

std::optional<PutBack> RemovalReview::next() const {
    const auto chosen = next_piece();
    if (chosen == change_.pieces.size()) { return std::nullopt; }
    PutBack result{change_.pieces[chosen].lines, {}};
    std::map<std::string, std::map<std::size_t, std::map<std::uint64_t, std::string>>> lines;  // By file, place and former line.
    std::map<std::string, std::set<std::size_t>> replaced;
    for (const auto index : with_what_it_needs(chosen)) {
        const auto& piece = change_.pieces[index];
        auto& here = lines[piece.lines.file][piece.place][piece.lines.line];
        if (!piece.imported.empty()) {
            here += piece.written;  // One line may import several names.
        } else {
            here = here.empty() || piece.whole_line.empty() ? piece.written : piece.whole_line;
        }
        replaced[piece.lines.file].insert(piece.replaced.begin(), piece.replaced.end());
    }
    for (const auto& [file, places] : lines) {
        std::string text;
        const auto& whole = change_.whole.at(file);
        const auto now = lines_of(whole);
        for (std::size_t at = 0; at <= now.size(); ++at) {
            if (const auto here = places.find(at); here != places.end()) {
                for (const auto& [line, written] : here->second) { text += written; }
            }
            if (at < now.size() && !replaced[file].contains(at)) { text += std::string(now[at]) + "\n"; }
        }
        result.files[file] = std::move(text);
    }
    return result;
}

void RemovalReview::record(Reaction reaction) {
    const auto chosen = next_piece();
    if (chosen == change_.pieces.size()) { return; }
    for (const auto index : with_what_it_needs(chosen)) {
        auto& piece = change_.pieces[index];
        if (piece.kind == Piece::Kind::import || piece.is_tried) { continue; }
        piece.is_tried = true;
        // A definition that others need is not what they were put back for.
        piece.reaction = index == chosen || piece.kind == Piece::Kind::lines ? reaction : Reaction::unknown;
    }
    link();
}

std::vector<RemovedLines> RemovalReview::unaccounted() const {
    std::vector<RemovedLines> found;
    for (const auto& piece : change_.pieces) {
        if (piece.is_tried && piece.reaction == Reaction::unnoticed && !is_accounted_for(piece)) { found.push_back(piece.lines); }
    }
    return found;
}

bool RemovalReview::shows_what_was_asked() const {
    return change_.other_file_asked || std::ranges::any_of(change_.pieces, [](const Piece& piece) {
               return piece.is_asked || piece.is_excused || (piece.is_tried && piece.reaction != Reaction::unnoticed);
           });
}

bool RemovalReview::leaves_what_was_asked() const {
    if (shows_what_was_asked() || change_.replaced_asked) { return false; }
    return change_.had_object || (change_.pieces.empty() && !change_.replaced_other);
}

bool RemovalReview::removed_by_name(const RemovalRequest& request) const {
    std::set<std::string> names;
    std::set<const Piece*> found;
    // Only the names that a definition defines, without its parameters: two functions may both have a `text`.
    const auto shares = [&](const Piece& piece) { return declares_one_of(piece.lines.text, names); };
    for (bool grown = true; grown;) {
        grown = false;
        for (const auto& piece : change_.pieces) {
            if (piece.kind == Piece::Kind::import || found.contains(&piece)) { continue; }
            const bool is_file = change_.whole.at(piece.lines.file).empty();
            const bool named = std::ranges::any_of(piece.given, [&](const auto& name) { return request.names(name); }) ||
                               (is_file && request.names(file_stem(piece.lines.file)));
            if (!named && !shares(piece)) { continue; }
            found.insert(&piece);
            names.insert(piece.given.begin(), piece.given.end());
            grown = true;
        }
    }
    return !found.empty() && std::ranges::all_of(change_.pieces, [&](const Piece& piece) {
        return piece.kind != Piece::Kind::definition || found.contains(&piece);
    });
}

bool RemovalReview::removes_name_with(const std::string& word) const {
    return std::ranges::any_of(change_.pieces, [&](const Piece& piece) { return piece.parts.contains(word); });
}

}  // namespace agentforge::kernel
