// SPDX-License-Identifier: Apache-2.0
#include "agent/context.hpp"

#include <algorithm>
#include <array>

#include "agent/prompt.hpp"
#include "agent/protocol.hpp"
#include "agent/shorten.hpp"
#include "backends/tokens.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t message_frame_tokens = 24;  ///< For roles and separators around the two messages.
/// For what servers add before native tools: Anthropic counts 313 to 346 tokens, chat completions fewer.
constexpr std::size_t native_tools_frame_tokens = 350;
constexpr std::size_t smallest_file_tokens = 120;  ///< A view that would get less is only listed by name.
constexpr std::size_t shown_hash_digits = 12;
constexpr std::size_t share_step =
    32;  ///< Shares of shortened parts are multiples of it, so that the result is often the same as in the step before.
constexpr std::size_t most_bytes_a_token = 7;  ///< For deep indentation.
constexpr std::size_t most_named = 4;          ///< Files that do not fit.

Error too_small(const std::string& section, std::size_t tokens, std::size_t share, const RunSpec& spec) {
    return {
        "AF-AGENT-013",
        "the fixed part '" + section + "' of agent '" + spec.agent.role + "' takes " + std::to_string(tokens) +
            " tokens; its limit is " + std::to_string(share) + " of " + std::to_string(spec.budget.total),
        spec.agent.source,
        "Shorten it, or raise " +
            std::string(section == "system_prompt" && tokens > share ? "context.budget.system_prompt" : "context.max_tokens") +
            ".",
        ErrorKind::invalid};
}

/// Removes the `description` of every schema inside. They help, but are dropped first if tokens are short.
json::value without_descriptions(const json::value& schema, bool is_property_map = false) {
    if (schema.is_array()) {
        json::array result;
        for (const json::value& item : schema.get_array()) { result.push_back(without_descriptions(item)); }
        return result;
    }
    if (!schema.is_object()) { return schema; }
    json::object result;
    for (const auto& [key, value] : schema.get_object()) {
        if (!is_property_map && (key == "description" || key == "title" || key == "examples")) { continue; }
        result[key] = without_descriptions(value, !is_property_map && key == "properties");
    }
    return result;
}

std::string range_of(const FileMemory& file) {
    if (file.first_line == 0) { return "a part, position not known"; }
    const auto ends = static_cast<std::uint64_t>(std::count(file.content.begin(), file.content.end(), '\n'));
    const std::uint64_t lines = ends + (file.content.empty() || file.content.back() == '\n' ? 0U : 1U);
    std::string text = std::to_string(file.first_line) + "–" + std::to_string(file.first_line + (lines == 0 ? 0 : lines - 1));
    if (file.total_lines > 0) { text += " of " + std::to_string(file.total_lines); }
    return text;
}

/// The next step must see the result of the last one.
json::object last_result_of(const StepRecord& last) {
    json::object result{{"step", last.step},
                        {"action", last.tool.empty() ? std::string_view("(unreadable answer)") : std::string_view(last.tool)}};
    result["result"] = last.success ? "success" : "failure";
    if (!last.error.empty() && !last.output.starts_with(first_line(last.error))) { result["error"] = last.error; }  // Not twice.
    if (last.tool.empty() && !last.completion.text.empty()) { result["your_answer_began"] = ellipsis(last.completion.text, 300); }
    if (!last.summary.empty() && last.summary != last.output && last.output.empty()) { result["summary"] = last.summary; }
    return result;
}

/// The parts of a run's state that say why the stage runs again. They come before the rest of the state.
constexpr std::string_view round_keys[] = {"guidance",   "iteration_context", "feedback",
                                           "resolution", "handed_back",       "previous_errors"};

bool is_round_key(std::string_view key) {
    return std::find(std::begin(round_keys), std::end(round_keys), key) != std::end(round_keys);
}

std::string fingerprint(std::string_view text) {
    return std::to_string(text.size()) + "-" + std::to_string(std::hash<std::string_view>{}(text));
}

json::object task_frame(const RunSpec& spec) {
    json::object frame{{"id", spec.place.task_id}, {"goal", spec.goal}};
    json::array criteria;
    for (const std::string& criterion : spec.success_criteria) { criteria.emplace_back(criterion); }
    frame["success_criteria"] = std::move(criteria);
    frame["phase"] = spec.stage;
    json::array constraints;
    for (const std::string& constraint : spec.agent.constraints) { constraints.emplace_back(constraint); }
    frame["constraints"] = std::move(constraints);
    return frame;
}

json::array recent_actions(const Memory& memory) {
    json::array result;
    for (const RecentAction& recent : memory.recent()) {
        result.push_back(json::object{
            {"step", recent.step}, {"action", recent.action}, {"result", recent.result}, {"summary", recent.summary}});
    }
    return result;
}

/// Writes what a step sees. Writes every part once, in the form in which it is sent, and counts that form.
/// Space: each part has its guaranteed share. Space that parts leave over goes to shortened parts, in the order of `Part`.
/// Order of the text: parts that stay the same for a run, then the files, least recently changed first, then parts that every
/// step changes. So a request begins like the one before for as long as possible, and the model's server need not read that
/// again.
class Composer {
public:
    Composer(const RunSpec& spec, const Memory& memory, const json::object& verification, ContextMemo& memo)
        : spec_(spec), memory_(memory), verification_(verification), memo_(memo) {}

    void compose(std::size_t room) {
        room_ = room;
        result_ = full_result();
        guarantee(room);
        hand_out(room);
        write();
        drop_parts_without_room(room);
    }

    /// `actions`: the fixed part `available_actions`.
    [[nodiscard]] std::string text(const std::string& actions, std::vector<std::size_t>& stable_ends) const {
        std::string text = piece(Part::frame).yaml + actions;
        std::string state;
        for (const Part part : {Part::objective, Part::instructions, Part::round, Part::state, Part::agents_md}) {
            state += piece(part).yaml;
        }
        text += state.empty() && views_.empty() ? "current_state: {}\n" : "current_state:\n" + state;
        stable_ends = {text.size()};
        if (!views_.empty()) { text += "  files:\n"; }
        for (const Piece& view : views_) {
            text += view.yaml;
            if (!view.cut) { stable_ends.push_back(text.size()); }
        }
        return text + names_.yaml + piece(Part::verification).yaml + piece(Part::recent).yaml + piece(Part::result).yaml;
    }

    [[nodiscard]] json::object section_tokens() const {
        std::size_t state = head_tokens + piece(Part::files).tokens;
        for (const Part part : {Part::objective, Part::instructions, Part::round, Part::state, Part::agents_md}) {
            state += piece(part).tokens;
        }
        return {{"task_frame", piece(Part::frame).tokens},
                {"current_state", state},
                {"verification_status", piece(Part::verification).tokens},
                {"recent_actions", piece(Part::recent).tokens},
                {"last_result", piece(Part::result).tokens}};
    }
    [[nodiscard]] std::vector<std::string> truncated() const {
        std::vector<std::string> names;
        for (std::size_t part = 0; part < parts; ++part) {
            if (pieces_[part].cut && part != index(Part::files)) { names.emplace_back(part_names[part]); }
        }
        names.insert(names.end(), cut_files_.begin(), cut_files_.end());
        return names;
    }
    [[nodiscard]] std::size_t tokens() const {
        std::size_t sum = head_tokens;
        for (const Piece& piece : pieces_) { sum += piece.tokens; }
        return sum;
    }

private:
    static constexpr std::size_t head_tokens = 8;
    /// The order in which shortened parts get the space left over: failures first.
    enum class Part : unsigned char {
        verification,
        round,
        frame,
        objective,
        instructions,
        result,
        state,
        recent,
        files,
        agents_md
    };
    static constexpr std::size_t parts = 10;
    static constexpr std::string_view part_names[parts] = {"verification_status",
                                                           "current_state.this_round",
                                                           "task_frame",
                                                           "current_state.objective",
                                                           "current_state.instructions",
                                                           "last_result",
                                                           "current_state.state",
                                                           "recent_actions",
                                                           "current_state.files",
                                                           "current_state.agents_md"};
    /// Dropped entirely if there is not even space for the note that says what was left out: the least needed first.
    static constexpr Part least_needed[] = {Part::files,  Part::agents_md, Part::instructions, Part::state,        Part::round,
                                            Part::result, Part::objective, Part::recent,       Part::verification, Part::frame};

    static constexpr std::size_t index(Part part) noexcept { return static_cast<std::size_t>(part); }
    [[nodiscard]] const Piece& piece(Part part) const noexcept { return pieces_[index(part)]; }
    [[nodiscard]] std::size_t& share(Part part) noexcept { return shares_[index(part)]; }

    // ------------------------------------------------------------------------------------- room --

    /// True if a text of this size fits no budget, so that it need not be written and counted.
    [[nodiscard]] bool exceeds_every_budget(std::size_t bytes) const noexcept { return bytes > room_ * most_bytes_a_token; }
    [[nodiscard]] Piece oversized_piece() const { return {"", spec_.budget.total * 4, true}; }

    void guarantee(std::size_t room) {
        const TokenBudget& budget = spec_.budget;
        for (std::size_t part = 0; part < parts; ++part) { wants_[part] = full_cost(static_cast<Part>(part)); }
        std::size_t left = room > head_tokens ? room - head_tokens : 0;
        const auto give = [&](Part part, std::size_t most) {
            share(part) = std::min({wants_[index(part)], most, left});
            left -= share(part);
        };
        give(Part::frame, std::min(budget.task_frame, left / 4));
        give(Part::verification, std::min(budget.verification_status, left / 4));
        give(Part::recent, std::min(budget.recent_actions, left / 3));
        const std::size_t state = std::min(budget.current_state, left);
        const std::size_t before = left;
        give(Part::objective, state / 8);
        give(Part::instructions, state / 4);
        give(Part::round, state / 4);
        give(Part::agents_md, state / 5);
        const std::size_t rest = state - std::min(state, before - left);
        give(Part::state, rest * 2 / 5);
        give(Part::result, rest * 2 / 5);
        give(Part::files, rest / 5);
    }

    void hand_out(std::size_t room) {
        std::size_t spare = room > head_tokens ? room - head_tokens : 0;
        for (const std::size_t share : shares_) { spare -= share; }
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t more = std::min(spare, wants_[part] - shares_[part]);
            shares_[part] += more;
            spare -= more;
        }
    }

    /// Writes parts in the order of `Part`. Lines and items stay whole; space that a shortened part cannot use goes to the next
    /// one.
    void write() {
        std::size_t unused = 0;
        for (std::size_t part = 0; part < parts; ++part) {
            const std::size_t room = std::min(wants_[part], shares_[part] + unused);
            pieces_[part] = wants_[part] <= room ? full_piece(static_cast<Part>(part)) : cut(static_cast<Part>(part), room);
            unused = shares_[part] + unused - std::min(shares_[part] + unused, pieces_[part].tokens);
        }
    }

    void drop_parts_without_room(std::size_t room) {
        for (const Part part : least_needed) {
            if (tokens() <= room) { return; }
            if (piece(part).tokens == 0) { continue; }
            pieces_[index(part)] = Piece{"", 0, true};
            if (part != Part::files) { continue; }
            views_.clear();
            names_ = {};
            cut_files_ = {"current_state.files"};
        }
    }

    // ------------------------------------------------------------------------------------ parts --

    /// Returns the cost of the unshortened part. 0: there is none.
    std::size_t full_cost(Part part) {
        if (part == Part::files) { return full_cost_of_files(); }
        return full_piece(part).tokens;
    }

    const Piece& full_piece(Part part) {
        switch (part) {
            case Part::verification:
                return memo_.piece("verification/" + status_key(),
                                   [&] { return piece_of("verification_status", json::value(verification_)); });
            case Part::round:
                return full_value("this_round", [&] { return round_value(); });
            case Part::frame:
                return memo_.piece("task_frame", [&] { return full_piece_of("task_frame", json::value(task_frame(spec_)), 0); });
            case Part::objective:
                return full_text("objective", spec_.run.objective);
            case Part::instructions:
                return full_text("instructions", spec_.run.instructions);
            case Part::result:
                return result_;
            case Part::state:
                return full_value("state", [&] { return state_value(); });
            case Part::recent:
                return recent_;
            case Part::files:
                break;
            case Part::agents_md:
                return full_text("agents_md", spec_.agents_md);
        }
        choose_views(wants_[index(Part::files)]);
        return files_;
    }

    Piece cut(Part part, std::size_t room) {
        const std::string share = "/" + std::to_string(room - room % share_step);
        room -= room % share_step;
        const auto text = [&](std::string_view name, const std::string& whole) {
            return memo_.piece(std::string(name) + share, [&] { return shorten_text_to(name, whole, room, 1, 1); });
        };
        switch (part) {
            case Part::verification:
                return memo_.piece("verification" + share + status_key(),
                                   [&] { return shorten_to("verification_status", json::value(verification_), room); });
            case Part::round:
                return memo_.piece("this_round" + share, [&] { return shorten_to("this_round", round_value(), room, 1); });
            case Part::frame:
                return memo_.piece("task_frame" + share,
                                   [&] { return shorten_to("task_frame", json::value(task_frame(spec_)), room); });
            case Part::objective:
                return text("objective", spec_.run.objective);
            case Part::instructions:
                return text("instructions", spec_.run.instructions);
            case Part::result:
                return cut_result(room);
            case Part::state:
                return memo_.piece("state" + share, [&] { return shorten_to("state", state_value(), room, 1); });
            case Part::recent:
                return shorten_to("recent_actions", json::value(recent_actions(memory_)), room);
            case Part::files:
                break;
            case Part::agents_md:
                return text("agents_md", spec_.agents_md);
        }
        choose_views(room);
        return files_;
    }

    [[nodiscard]] std::string status_key() const { return json::serialize(json::value(verification_)); }

    [[nodiscard]] Piece full_piece_of(std::string_view name, json::value value, unsigned depth) const {
        return exceeds_every_budget(json::serialize(value).size()) ? oversized_piece() : piece_of(name, std::move(value), depth);
    }
    /// Caches the part under its name: it does not change during a run.
    const Piece& full_text(std::string_view name, const std::string& text) {
        return memo_.piece(std::string(name), [&] {
            if (text.empty()) { return Piece{}; }
            return exceeds_every_budget(text.size()) ? oversized_piece() : piece_of(name, json::value(text), 1);
        });
    }
    template <typename Make>
    const Piece& full_value(std::string_view name, Make&& make) {
        return memo_.piece(std::string(name), [&] {
            json::value value = make();
            return value.get_object().empty() ? Piece{} : full_piece_of(name, std::move(value), 1);
        });
    }

    [[nodiscard]] json::value round_value() const {
        json::object round;
        for (const std::string_view key : round_keys) {
            if (const json::value* value = spec_.run.state.if_contains(key)) { round[key] = *value; }
        }
        return json::value(std::move(round));
    }
    [[nodiscard]] json::value state_value() const {
        json::object others;
        for (const auto& [key, value] : spec_.run.state) {
            if (!is_round_key(key)) { others[key] = value; }
        }
        return json::value(std::move(others));
    }

    // ------------------------------------------------------------------------------ last result --

    [[nodiscard]] Piece result_head() const { return piece_of("last_result", json::value(last_result_of(*memory_.last())), 0); }

    /// Returns a piece of 0 tokens if there is no result.
    [[nodiscard]] Piece full_result() const {
        if (!memory_.last()) { return {}; }
        Piece whole = result_head();
        const std::string& output = memory_.last()->output;
        if (output.empty()) { return whole; }
        if (exceeds_every_budget(output.size())) { return oversized_piece(); }
        const Piece shown = piece_of("output", json::value(output), 1);
        whole.yaml += shown.yaml;
        whole.tokens += shown.tokens;
        return whole;
    }

    [[nodiscard]] Piece cut_result(std::size_t max_tokens) const {
        const StepRecord& last = *memory_.last();
        Piece head = result_head();
        if (last.output.empty() || head.tokens + 40 > max_tokens) {
            json::object result = last_result_of(last);
            if (!last.output.empty()) { result["output"] = last.output; }
            return shorten_to("last_result", json::value(std::move(result)), max_tokens);
        }
        std::uint64_t first_line = 1;
        if (last.tool == "read_file" && !memory_.files().empty() && memory_.files().front().step == last.step) {
            first_line = std::max<std::uint64_t>(1, memory_.files().front().first_line);
        }
        const Piece shown = shorten_text_to("output", last.output, max_tokens - head.tokens, first_line, 1);
        head.yaml += shown.yaml;
        head.tokens += shown.tokens;
        head.cut = shown.cut;
        return head;
    }

    // ------------------------------------------------------------------------------------ views --

    /// True if the last result shows the file, which then needs no view.
    [[nodiscard]] bool shown_by_last(const FileMemory& file) const {
        return memory_.last() && memory_.last()->tool == "read_file" && file.step == memory_.last()->step;
    }

    static std::string key_of(const FileMemory& file) {
        return "file/" + file.path + "/" + std::to_string(file.first_line) + "/" + std::to_string(file.total_lines) + "/" +
               file.sha256 + "/" + fingerprint(file.content);
    }

    [[nodiscard]] static Piece view_head(const FileMemory& file) {
        json::object view{{"path", file.path}, {"lines", range_of(file)}};
        if (!file.sha256.empty()) { view["sha256"] = file.sha256.substr(0, shown_hash_digits); }
        return item_piece_of(json::value(std::move(view)), 1);
    }

    /// Returns a view of at most this many tokens.
    [[nodiscard]] static Piece view(const FileMemory& file, std::size_t max_tokens) {
        Piece head = view_head(file);
        const Piece content = shorten_text_to("content", file.content, max_tokens > head.tokens ? max_tokens - head.tokens : 0,
                                              std::max<std::uint64_t>(1, file.first_line), 3);
        head.yaml += content.yaml;
        head.tokens += content.tokens;
        head.cut = content.cut;
        return head;
    }

    const Piece& full_view(const FileMemory& file) {
        return memo_.piece(key_of(file), [&] {
            return exceeds_every_budget(file.content.size()) ? oversized_piece() : view(file, spec_.budget.total * 4);
        });
    }

    /// Returns the cost of full views of all files, or more than the space if they cannot fit.
    [[nodiscard]] std::size_t full_cost_of_files() {
        std::size_t want = 0;
        for (const FileMemory& file : memory_.files()) {
            if (shown_by_last(file)) { continue; }
            if (want > room_ || exceeds_every_budget(file.content.size())) { return room_ * 4; }
            want += full_view(file).tokens + (want == 0 ? head_tokens : 0);
        }
        return want;
    }

    /// The most recently used files get the space. Whole views come first, in the order of their last change; a shortened one
    /// comes last.
    void choose_views(std::size_t max_tokens) {
        views_.clear();
        names_ = {};
        cut_files_.clear();
        std::vector<std::pair<unsigned, const Piece*>> shown;
        const FileMemory* cut = nullptr;
        std::vector<std::string> named;
        std::size_t used = head_tokens;
        for (const FileMemory& file : memory_.files()) {
            if (shown_by_last(file)) { continue; }
            // A short file may still fit where a long one would be cut to nothing.
            const std::size_t left = cut == nullptr && max_tokens > used ? max_tokens - used : 0;
            const Piece* const whole = file.content.size() > left * most_bytes_a_token ? nullptr : &full_view(file);
            if (whole != nullptr && whole->tokens <= left) {
                used += whole->tokens;
                shown.emplace_back(file.changed, whole);
            } else if (cut == nullptr && left >= smallest_file_tokens + share_step + view_head(file).tokens) {
                cut = &file;
            } else {
                named.push_back(file.path + " " + range_of(file));
            }
        }
        std::reverse(shown.begin(), shown.end());
        std::stable_sort(shown.begin(), shown.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
        for (const auto& entry : shown) { views_.push_back(*entry.second); }
        const std::size_t kept = used + (cut != nullptr ? smallest_file_tokens + view_head(*cut).tokens : 0);
        if (!named.empty()) { list_names(std::move(named), max_tokens - std::min(max_tokens, kept)); }
        if (cut != nullptr) {
            const std::size_t left = max_tokens - used - names_.tokens;
            const std::size_t share = left - left % share_step;
            views_.push_back(memo_.piece(key_of(*cut) + "/" + std::to_string(share), [&] { return view(*cut, share); }));
            used += views_.back().tokens;
            cut_files_.push_back("current_state.files." + cut->path);
        }
        files_.tokens = (views_.empty() ? 0 : used) + names_.tokens;
        files_.cut = !cut_files_.empty();
    }

    void list_names(std::vector<std::string> named, std::size_t max_tokens) {
        cut_files_.emplace_back("current_state.files");
        const std::size_t more = named.size() > most_named ? named.size() - most_named : 0;
        if (more > 0) { named.resize(most_named); }
        json::array names(named.begin(), named.end());
        if (more > 0) { names.emplace_back("… " + std::to_string(more) + " more"); }
        Piece piece = piece_of("files_seen_but_not_shown", json::value(std::move(names)), 1);
        if (piece.tokens <= max_tokens) { names_ = std::move(piece); }
    }

    const RunSpec& spec_;
    const Memory& memory_;
    const json::object& verification_;
    ContextMemo& memo_;
    std::size_t room_ = 0;
    Piece result_;
    const Piece recent_ = piece_of("recent_actions", json::value(recent_actions(memory_)));
    std::array<std::size_t, parts> wants_{};
    std::array<std::size_t, parts> shares_{};
    std::array<Piece, parts> pieces_;
    Piece files_;  ///< Cost of all of them.
    std::vector<Piece> views_;
    Piece names_;  ///< The files that do not fit.
    std::vector<std::string> cut_files_;
};

}  // namespace

Result<FixedParts> fix_parts(const RunSpec& spec, const std::vector<ToolSpec>& offered, bool native_tool_calls) {
    FixedParts fixed;
    fixed.system =
        spec.run.system_prompt.empty() ? build_system_prompt(spec, offered, native_tool_calls) : spec.run.system_prompt;
    fixed.system_tokens = estimate_tokens(fixed.system);
    fixed.frame_tokens = message_frame_tokens;
    const TokenBudget& budget = spec.budget;
    if (fixed.system_tokens > budget.system_prompt) {
        return too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec);
    }
    if (!spec.run.text_answer && native_tool_calls) {
        for (const ToolSpec& tool : offered) { fixed.tools.push_back({tool.name, tool.description, tool.parameters}); }
        const auto count = [&fixed] {
            fixed.tools_tokens = 0;
            for (const ToolDescription& tool : fixed.tools) { fixed.tools_tokens += estimate_tokens(tool); }
        };
        fixed.frame_tokens += native_tools_frame_tokens;
        count();
        // Decided once for a run: the server recognises the tools only while none of their bytes changes.
        const std::size_t limit = budget.total * 1000 / std::max(1000U, spec.calibration_permille);
        const std::size_t others = budget.task_frame + budget.verification_status + budget.current_state / 2;
        if (fixed.tools_tokens > budget.available_actions &&
            fixed.frame_tokens + fixed.system_tokens + fixed.tools_tokens + others > limit) {
            for (ToolDescription& tool : fixed.tools) {
                tool.parameters = without_descriptions(json::value(tool.parameters)).get_object();
            }
            fixed.shortened = true;
            count();
        }
    } else if (!spec.run.text_answer) {
        Piece actions = piece_of("available_actions", json::value(describe_actions(offered)));
        fixed.actions = std::move(actions.yaml);
        fixed.actions_tokens = actions.tokens;
    }
    const std::size_t actions = fixed.tools_tokens + fixed.actions_tokens;
    const std::size_t others =
        fixed.frame_tokens + fixed.system_tokens + std::min<std::size_t>(budget.task_frame, 60) + budget.verification_status / 2;
    const std::size_t wanted = budget.current_state / 4;
    if (others + actions + wanted > budget.total) {
        return actions > budget.available_actions ? too_small("available_actions", actions, budget.available_actions, spec)
                                                  : too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec);
    }
    return fixed;
}

Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory,
                                   const json::object& verification, ContextMemo& memo) {
    memo.next();
    const TokenBudget& budget = spec.budget;
    const std::size_t limit = budget.total * 1000 / memory.calibration_permille();
    std::vector<std::string> truncated;
    const std::size_t fixed_tokens = fixed.frame_tokens + fixed.system_tokens + fixed.tools_tokens + fixed.actions_tokens;
    if (fixed.shortened) { truncated.emplace_back("tools"); }
    if (fixed_tokens + 100 > limit) {
        const bool actions = fixed.tools_tokens + fixed.actions_tokens > budget.available_actions;
        return actions ? too_small("available_actions", fixed.tools_tokens + fixed.actions_tokens, budget.available_actions, spec)
                       : too_small("system_prompt", fixed.system_tokens, budget.system_prompt, spec);
    }
    const std::size_t left = limit - fixed_tokens;
    BuiltContext built;
    built.section_tokens =
        json::object{{"frame", fixed.frame_tokens}, {"system_prompt", fixed.system_tokens}, {"tools", fixed.tools_tokens}};
    Composer composer(spec, memory, verification, memo);
    composer.compose(left);
    for (std::string& name : composer.truncated()) { truncated.push_back(std::move(name)); }
    for (const auto& [name, tokens] : composer.section_tokens()) { built.section_tokens[name] = tokens; }
    if (!fixed.actions.empty()) { built.section_tokens["available_actions"] = fixed.actions_tokens; }
    const std::size_t total = fixed_tokens + composer.tokens();
    built.text = composer.text(fixed.actions, built.stable_ends);
    if (total > limit) {
        return Error{"AF-AGENT-017",
                     "the context of step " + std::to_string(memory.steps() + 1) + " costs " + std::to_string(total) +
                         " tokens; the budget is " + std::to_string(limit),
                     "", "This is a defect of the context builder: report it with the task's journal.", ErrorKind::internal};
    }
    built.section_tokens["total"] = total;
    built.section_tokens["calibration_permille"] = memory.calibration_permille();
    json::array cut;
    for (const std::string& name : truncated) { cut.emplace_back(name); }
    built.section_tokens["truncated"] = std::move(cut);
    return built;
}

Result<BuiltContext> build_context(const RunSpec& spec, const FixedParts& fixed, const Memory& memory,
                                   const json::object& verification) {
    ContextMemo memo;
    return build_context(spec, fixed, memory, verification, memo);
}

}  // namespace agentforge::kernel
