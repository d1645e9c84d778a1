// SPDX-License-Identifier: Apache-2.0
#include "replay/replay_watch.hpp"

#include <algorithm>

#include "backends/hashes.hpp"
#include "base/text.hpp"
#include "pipeline/codec.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::size_t most_shown = 400;

std::string outcome_of(const StepRecord& step) {
    return (step.success ? "success: " : "failure: ") +
           ellipsis(first_line(step.success ? step.summary : step.error), most_shown);
}

std::string seen_by_model(const StepRecord& step) {
    return without_volatile_parts(step.summary + "\n" + step.error + "\n" + step.output);
}

std::string short_hash(const std::string& sha256) {
    return sha256.empty() ? "no such file" : "a file with SHA-256 " + sha256.substr(0, 12);
}

/// Returns the step's action, result and changed files as its journal record gives them. The step's blob has them in full.
std::vector<std::string> deed_in_journal(const records::Step& step) {
    const records::ActionResult& result = *step.result;
    std::vector<std::string> deed = {
        *step.action->type, step.action->target.value_or(""),        *step.action->arguments_blob,
        *result.status,     without_volatile_parts(*result.summary), without_volatile_parts(result.error.value_or(""))};
    for (const records::FileChange& change : step.changes.value_or(std::vector<records::FileChange>())) {
        deed.push_back(*change.path + ", before " + short_hash(*change.before_sha256) + ", after " +
                       short_hash(*change.after_sha256));
    }
    return deed;
}

/// Returns who answered first: a replay's answer names the person and the task that it repeats.
json::value first_answer_by(const json::string& by) {
    const std::string_view text(by);
    return json::value(text.substr(0, text.find(repeated_from)));
}

json::value without_volatile(const json::value& value) {
    if (value.is_string()) { return json::value(without_volatile_parts(value.get_string())); }
    if (const json::array* array = value.if_array()) {
        json::array out;
        for (const json::value& item : *array) { out.push_back(without_volatile(item)); }
        return out;
    }
    const json::object* object = value.if_object();
    if (object == nullptr) { return value; }
    json::object out;
    for (const auto& [key, item] : *object) {
        const bool measures_time = key == "duration_ms" || key == "duration_seconds";
        if (key == "resolved_by" && item.is_string()) {
            out[key] = first_answer_by(item.get_string());
        } else if (key != "_artifact_meta" && key != "_metadata" && !measures_time) {
            out[key] = without_volatile(item);
        }
    }
    return out;
}

/// Removes fields that depend on the time of the delivery: a scratch replay signs and publishes nothing, and the branch may have
/// moved.
json::value without_publication(json::value artifact) {
    if (json::object* fields = artifact.if_object(); fields != nullptr && fields->contains("deliverable_type")) {
        fields->erase("signed");
        fields->erase("commit_hooks");  // A clone has no hooks, or others. The tree that they made is compared.
        fields->erase("pr_url");
        fields->erase("drift");
    }
    return artifact;
}

/// Returns the file that both replace as a whole, and whose old contents differ in the replay.
const Change* overwritten(const StepRecord& recorded, const StepRecord& now) {
    for (const Change& change : now.changes) {
        const auto then = std::ranges::find(recorded.changes, change.path, &Change::path);
        if (then != recorded.changes.end() && then->after_sha256 == change.after_sha256 &&
            then->before_sha256 != change.before_sha256) {
            return &change;
        }
    }
    return nullptr;
}

/// `number`: how many gates of this place were measured before. Null: the recording has no such gate.
const records::Gate* recorded_gate(const std::vector<records::Gate>& all, const records::Gate& gate, std::size_t number) {
    // A gate that was measured again after an interruption is in the recording twice. The tree identifies the right one.
    const auto same = std::ranges::find_if(
        all, [&](const records::Gate& one) { return one.tree == gate.tree && *one.partial == *gate.partial; });
    if (same != all.end()) { return &*same; }
    return number < all.size() ? &all[number] : nullptr;
}

}  // namespace

std::string_view to_string(ReplayDifference::Kind kind) noexcept {
    switch (kind) {
        case ReplayDifference::Kind::action:
            return "action";
        case ReplayDifference::Kind::observation:
            return "observation";
        case ReplayDifference::Kind::tree:
            return "tree";
        case ReplayDifference::Kind::verdict:
            return "verdict";
        case ReplayDifference::Kind::artifact:
            return "artifact";
        case ReplayDifference::Kind::missing:
            return "missing";
        case ReplayDifference::Kind::not_reached:
            return "not_reached";
    }
    return "unknown";
}

std::pair<std::string, std::string> first_difference(const std::string& one, const std::string& other, std::size_t max_bytes) {
    const auto [at, there] = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
    const auto line_at = [max_bytes](const std::string& text, std::size_t position) {
        const std::size_t begin = position == 0 ? 0 : text.rfind('\n', position - 1) + 1;
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        // For a long line, shows the part near the difference.
        const std::size_t before = position - begin;
        if (line.size() > max_bytes && before > max_bytes / 2) { line = "…" + line.substr(before - max_bytes / 2); }
        return ellipsis(sanitize_utf8(line), max_bytes);
    };
    return {line_at(one, static_cast<std::size_t>(at - one.begin())),
            line_at(other, static_cast<std::size_t>(there - other.begin()))};
}

bool same_artifact(const json::value& one, const json::value& other) { return without_volatile(one) == without_volatile(other); }

std::optional<ReplayDifference> mismatch_of(const StepRecord& recorded, const StepRecord& now, const std::string& where) {
    if (recorded.success != now.success) {
        return ReplayDifference{ReplayDifference::Kind::action, where, outcome_of(recorded), outcome_of(now), false};
    }
    const Change* const change = overwritten(recorded, now);
    if (change == nullptr) { return std::nullopt; }
    const auto then = std::ranges::find(recorded.changes, change->path, &Change::path);
    return ReplayDifference{ReplayDifference::Kind::action, where + ", which replaces " + change->path,
                            short_hash(then->before_sha256), short_hash(change->before_sha256), false};
}

/// Compares one record of the replay with those of the recording.
class ReplayWatch::Comparison {
public:
    Comparison(ReplayWatch& watch, const TaskState& state, const records::Envelope& envelope)
        : watch_(watch), state_(state), envelope_(envelope) {}

    void operator()(const records::Step& step) {
        const StepPlace place = place_of_step(step, envelope_);
        const auto found = watch_.recorded_.steps.find(place);
        ++watch_.counts_.actions;
        watch_.done_.insert(place);
        const std::string where = "step " + std::to_string(envelope_.step) + " (" + place.stage + ", " + place.role + ", " +
                                  (step.action->type->empty() ? "no action" : *step.action->type) + ")";
        if (found == watch_.recorded_.steps.end()) {
            return report({ReplayDifference::Kind::missing, where, "no such step", "taken", false});
        }
        const auto recorded = watch_.recorded_.whole(found->second.body);
        const auto now = whole(step);
        if (!recorded.ok() || !now.ok()) {
            return report({ReplayDifference::Kind::action, where, recorded.ok() ? "kept" : recorded.error().to_string(),
                           now.ok() ? "kept" : now.error().to_string(), false});
        }
        compare(*recorded, *now, where);
        // The journal names the tree, too: `recorded` is from a blob. Empty in older journals.
        const std::string& named = *found->second.body.tree;
        if (watch_.same_base_ && recorded->tree == now->tree && !named.empty() && named != now->tree) {
            report({ReplayDifference::Kind::tree, where + ", in the journal", named, now->tree, false});
        }
        if (watch_.same_base_ && recorded->tree == now->tree && seen_by_model(*recorded) == seen_by_model(*now)) {
            compare_deeds(found->second.body, step, where + ", in the journal");
        }
    }

    void operator()(const records::CallFinished& call) {
        const auto visit = watch_.recorded_.calls.find({*call.stage, *call.visit});
        if (visit == watch_.recorded_.calls.end() || !visit->second.contains(*call.call)) { return; }
        const records::CallFinished& recorded = visit->second.at(*call.call);
        const std::string where = "call " + std::to_string(*call.call) + " of stage " + *call.stage + " (" + *call.name + ")";
        if (*recorded.outcome != *call.outcome) {
            return report({ReplayDifference::Kind::action, where, *recorded.outcome, *call.outcome, false});
        }
        if (watch_.same_base_ && recorded.tree != call.tree) {
            report({ReplayDifference::Kind::tree, where, recorded.tree.value_or("nothing written"),
                    call.tree.value_or("nothing written"), false});
        }
    }

    void operator()(const records::Gate& gate) {
        ++watch_.counts_.gates;
        const GatePlace place{*gate.stage, state_.stages.empty() ? 0 : state_.stage().visits, gate.gate};
        const std::size_t number = watch_.gates_[place]++;
        const auto found = watch_.recorded_.gates.find(place);
        if (found == watch_.recorded_.gates.end()) { return; }
        const records::Gate* const recorded = recorded_gate(found->second, gate, number);
        if (recorded == nullptr || recorded->passed == gate.passed) { return; }
        const auto verdict = [](const records::Gate& one) {
            return std::string(one.passed ? "passed: " : "failed: ") + ellipsis(one.summary, most_shown);
        };
        const bool other_rules = recorded->inputs != gate.inputs;
        report({ReplayDifference::Kind::verdict,
                "gate " + gate.gate + " of stage " + place.stage +
                    (other_rules ? ", whose settings or rules have changed since" : ""),
                verdict(*recorded), verdict(gate)});
    }

    void operator()(const records::ArtifactAccepted& accepted) {
        ++watch_.counts_.artifacts;
        const std::size_t number = watch_.artifacts_[accepted.stage]++;
        const auto found = watch_.recorded_.artifacts.find(accepted.stage);
        if (!watch_.same_base_ || found == watch_.recorded_.artifacts.end() || number >= found->second.size()) { return; }
        const auto then = watch_.recorded_.kept(records::Kept{std::nullopt, found->second[number].artifact_hash});
        const auto now = artifact(accepted.artifact_hash);
        if (!then.ok() || !now.ok()) { return; }
        const json::value one = without_volatile(without_publication(*then));
        const json::value other = without_volatile(without_publication(*now));
        if (one == other) { return; }
        const auto [recorded, replayed] = first_difference(to_json_pretty(one), to_json_pretty(other), most_shown);
        report({ReplayDifference::Kind::artifact, "artifact of stage " + accepted.stage, recorded, replayed});
    }

    void operator()(const records::ApprovalDecided& decided) { ++watch_.decided_[*decided.stage]; }
    void operator()(const records::EscalationResolved& resolved) { ++watch_.resolved_[*resolved.stage]; }
    template <class Other>
    void operator()(const Other&) {}

private:
    void compare(const StepRecord& recorded, const StepRecord& now, const std::string& where) {
        if (auto mismatch = mismatch_of(recorded, now, where)) { return report(std::move(*mismatch)); }
        if (!watch_.same_base_) { return; }
        if (recorded.tree != now.tree) { return report({ReplayDifference::Kind::tree, where, recorded.tree, now.tree, false}); }
        const std::string then = seen_by_model(recorded);
        const std::string seen = seen_by_model(now);
        if (then == seen) { return; }
        const auto [one, other] = first_difference(then, seen, most_shown);
        report({ReplayDifference::Kind::observation, where, one, other});
    }

    /// Skips fields that older journals lack.
    void compare_deeds(const records::Step& recorded, const records::Step& now, const std::string& where) {
        std::vector<std::string> then = deed_in_journal(recorded);
        std::vector<std::string> done = deed_in_journal(now);
        const std::size_t size = std::max(then.size(), done.size());
        then.resize(size, "no change of a file");
        done.resize(size, "no change of a file");
        for (std::size_t index = 0; index < size; ++index) {
            if (then[index].empty() || then[index] == done[index]) { continue; }
            const auto [one, other] = first_difference(then[index], done[index], most_shown);
            return report({ReplayDifference::Kind::observation, where, one, other});
        }
    }

    [[nodiscard]] Result<json::value> artifact(const std::string& blob) const {
        AF_TRY(const std::string text, watch_.blobs_->get(blob));
        return parse_json(text, "blob " + blob);
    }

    [[nodiscard]] Result<StepRecord> whole(const records::Step& step) const {
        AF_TRY(const json::value value, artifact(*step.record_blob));
        return recorded_step(value);
    }

    void report(ReplayDifference difference) { watch_.differences_.push_back(std::move(difference)); }

    ReplayWatch& watch_;
    const TaskState& state_;
    const records::Envelope& envelope_;
};

ReplayWatch::ReplayWatch(const RecordedTask& recorded, const TaskStore& store, bool same_base, RecordObserver* next)
    : recorded_(recorded), store_(store), same_base_(same_base), next_(next) {}

void ReplayWatch::recorded(const TaskState& state, const StageState* left, const records::AnyRecord& record) {
    if (next_ != nullptr) { next_->recorded(state, left, record); }
    const std::lock_guard guard(mutex_);
    if (!blobs_) { blobs_ = std::make_unique<BlobStore>(store_.paths(state.task_id).blobs()); }
    tree_ = state.tree;
    std::visit(Comparison(*this, state, record.envelope), record.body);
}

Result<void> ReplayWatch::catch_up(const std::vector<Record>& records) {
    RecordObserver* const next = std::exchange(next_, nullptr);  // It was observed when it was recorded.
    TaskState state;
    for (const Record& record : records) {
        AF_TRY(const records::AnyRecord typed, fold_and_read(state, record.body));
        recorded(state, nullptr, typed);
    }
    next_ = next;
    const std::lock_guard guard(mutex_);
    accepted_ = differences_.size();
    return {};
}

void ReplayWatch::finish(const TaskState& state) {
    const std::lock_guard guard(mutex_);
    std::uint64_t missing = 0;
    std::uint64_t first = 0;
    std::string where;
    for (const auto& [place, step] : recorded_.steps) {
        if (done_.contains(place)) { continue; }
        if (missing++ > 0 && step.number >= first) { continue; }
        first = step.number;
        where = "step " + std::to_string(first) + " (" + place.stage + ", " + place.role + ")";
    }
    if (missing > 0) {
        const bool ended = state.status == TaskStatus::completed || state.status == TaskStatus::aborted;
        differences_.push_back(
            {ended ? ReplayDifference::Kind::missing : ReplayDifference::Kind::not_reached, where,
             missing == 1 ? "1 step" : std::to_string(missing) + " steps; this is the first",
             ended ? std::string("not taken") : "the replay stopped before it (" + std::string(to_string(state.status)) + ")",
             true});
    }
    const std::string& then = recorded_.tree_at_end;
    const std::string now = delivered_tree(state);
    if (same_base_ && then != now) {
        differences_.push_back({ReplayDifference::Kind::tree, "the tree at the end", then, now, true});
    }
}

std::optional<ReplayDifference> ReplayWatch::mismatch() const {
    const std::lock_guard guard(mutex_);
    const auto found = std::find_if(differences_.begin() + static_cast<std::ptrdiff_t>(accepted_), differences_.end(),
                                    [](const ReplayDifference& one) { return !one.fits; });
    return found == differences_.end() ? std::optional<ReplayDifference>() : *found;
}

std::vector<ReplayDifference> ReplayWatch::differences() const {
    const std::lock_guard guard(mutex_);
    return differences_;
}

ReplayCounts ReplayWatch::counts() const {
    const std::lock_guard guard(mutex_);
    return counts_;
}

std::size_t ReplayWatch::decided(const std::string& stage) const {
    const std::lock_guard guard(mutex_);
    const auto found = decided_.find(stage);
    return found == decided_.end() ? 0 : found->second;
}

std::size_t ReplayWatch::resolved(const std::string& stage) const {
    const std::lock_guard guard(mutex_);
    const auto found = resolved_.find(stage);
    return found == resolved_.end() ? 0 : found->second;
}

std::string ReplayWatch::tree() const {
    const std::lock_guard guard(mutex_);
    return tree_;
}

}  // namespace agentforge::kernel
