// SPDX-License-Identifier: Apache-2.0
#include "replay/recorded_model.hpp"

#include <algorithm>

#include "base/ids.hpp"
#include "pipeline/codec.hpp"

namespace agentforge::kernel {

namespace {

/// True if the role's model called tools natively: then the journal has its calls separate from its text.
bool calls_tools(const RecordedTask& recorded, const std::string& role) {
    for (const auto& [place, answers] : recorded.answers) {
        if (place.role != role) { continue; }
        const auto value = recorded.kept(answers.front().answer);
        if (value.ok() && value->is_object() && !completion_from_json(value->get_object()).tool_calls.empty()) { return true; }
    }
    return false;
}

class RecordedModel final : public ModelClient {
public:
    RecordedModel(const RecordedTask& recorded, ReplayWatch& watch, const std::string& role)
        : recorded_(recorded), watch_(watch) {
        info_.name = "journal";
        info_.description = "the answers that the journal of " + recorded.state.task_id + " holds";
        info_.native_tool_calls = calls_tools(recorded, role);
        info_.offline = true;
    }

    [[nodiscard]] Result<Completion> complete(ModelRequest request, CallContext&) override {
        if (const auto mismatch = watch_.mismatch()) { return does_not_fit(request.place.task_id, *mismatch); }
        const StepPlace place{request.place.stage, request.place.visit, request.place.run, request.place.role,
                              request.place.step};
        const auto found = recorded_.answers.find(place);
        if (found == recorded_.answers.end()) { return without_answer(request.place.task_id, place); }
        if (!has_step(place) && !recorded_.failed_visits.contains({place.stage, place.visit})) {
            return ends_here(request.place.task_id, place, "the process was killed before it recorded");
        }
        AF_TRY(const json::value value, recorded_.kept(answer_for(found->second, request.frame_hash)));
        if (!value.is_object()) { return ends_here(request.place.task_id, place); }
        Completion completion = completion_from_json(value.get_object());
        if (!completion.diagnostics.contains("workspace_tree")) { return completion; }
        return Error{"AF-RPLY-005",
                     "the model of role `" + place.role +
                         "` worked agentically: the file changes of its command are not actions that can be repeated",
                     "stage " + place.stage, "use `agentforge diff` and `agentforge apply` of the recorded task",
                     ErrorKind::unavailable};
    }
    [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }

private:
    [[nodiscard]] bool has_step(const StepPlace& place) const {
        const auto step = recorded_.steps.lower_bound(place);  // A review's mode sorts after the answer's empty one.
        if (step == recorded_.steps.end()) { return false; }
        StepPlace found = step->first;
        found.mode.clear();
        return found == place;
    }

    /// A role may review its own work in the same place of the same visit. Its prompt distinguishes the two.
    static const records::Kept& answer_for(const std::vector<RecordedAnswer>& answers, const std::string& frame_hash) {
        const auto same = std::ranges::find(answers, frame_hash, &RecordedAnswer::frame_hash);
        return same == answers.end() ? answers.front().answer : same->answer;
    }

    [[nodiscard]] Error does_not_fit(const std::string& task_id, const ReplayDifference& mismatch) const {
        return Error{std::string(does_not_fit_code),
                     mismatch.where + " does not fit here; recorded: " + mismatch.recorded + "; now: " + mismatch.now,
                     "replay of " + recorded_.state.task_id,
                     "compare both, then continue after it with `agentforge replay " + short_id(task_id) +
                         " --continue`, or with a model: `agentforge resume " + short_id(task_id) + "`",
                     ErrorKind::unavailable};
    }

    [[nodiscard]] Error ends_here(const std::string& task_id, const StepPlace& place,
                                  const std::string& why = "it has no answer for") const {
        return Error{std::string(recording_ends_code),
                     "the recording of " + recorded_.state.task_id + " ends here: " + why + " step " +
                         std::to_string(place.step) + " of role `" + place.role + "`, stage `" + place.stage + "`, visit " +
                         std::to_string(place.visit),
                     "replay of " + recorded_.state.task_id,
                     "continue with a model: `agentforge resume " + short_id(task_id) + "`", ErrorKind::unavailable};
    }

    /// An unusable answer is recorded only in the step that told the model so. A visit may have ended without an answer.
    [[nodiscard]] Error without_answer(const std::string& task_id, const StepPlace& place) const {
        const auto step = recorded_.steps.find(place);
        if (step != recorded_.steps.end() && step->second.body.result->error) {
            const std::string& error = *step->second.body.result->error;
            const std::size_t end = error.find(": ");
            if (end != std::string::npos) {
                return Error{error.substr(0, end), error.substr(end + 2), "", "", ErrorKind::invalid};
            }
        }
        const auto failed = recorded_.failed_visits.find({place.stage, place.visit});
        return failed == recorded_.failed_visits.end() ? ends_here(task_id, place) : failed->second;
    }

    const RecordedTask& recorded_;
    ReplayWatch& watch_;
    BackendInfo info_;
};

}  // namespace

std::unique_ptr<ModelClient> make_recorded_model(const RecordedTask& recorded, ReplayWatch& watch, const std::string& role) {
    return std::make_unique<RecordedModel>(recorded, watch, role);
}

}  // namespace agentforge::kernel
