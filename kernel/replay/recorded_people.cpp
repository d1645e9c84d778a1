// SPDX-License-Identifier: Apache-2.0
#include "replay/recorded_people.hpp"

#include "pipeline/people/iteration.hpp"

namespace agentforge::kernel {

namespace {

template <class Map>
const typename Map::mapped_type::value_type* nth(const Map& map, const std::string& stage, std::size_t number) {
    const auto found = map.find(stage);
    return found == map.end() || number >= found->second.size() ? nullptr : &found->second[number];
}

class RecordedPeople final : public EscalationHandler {
public:
    RecordedPeople(const RecordedTask& recorded, const ReplayWatch& watch, const EscalationStore& store)
        : recorded_(recorded), watch_(watch), store_(store) {}

    [[nodiscard]] std::string name() const override { return "journal"; }

    [[nodiscard]] Result<void> notify(const Escalation& escalation, CallContext&) override {
        const records::EscalationResolved* const resolved =
            nth(recorded_.resolutions, escalation.stage, watch_.resolved(escalation.stage));
        if (resolved == nullptr) { return {}; }
        AF_TRY(const json::value answer, recorded_.kept(records::Kept{std::nullopt, resolved->resolution_blob}));
        Resolution resolution{resolved->abort, answer.is_object() ? answer.get_object() : json::object(),
                              repeated(*resolved->resolved_by)};
        resolution.context.erase("resolved_by");
        resolution.context.erase("resolved_at");
        return store_.resolve(escalation.id, resolution);
    }

    [[nodiscard]] Result<void> notify_approval(const ApprovalRequest& request, CallContext&) override {
        return kind_of(request.id) == QuestionKind::action ? decide_action(request) : approve(request);
    }

    [[nodiscard]] Result<std::optional<Resolution>> wait_for_resolution(const Escalation&, CallContext&) override {
        return std::optional<Resolution>();
    }
    [[nodiscard]] Result<std::optional<Approval>> wait_for_approval(const ApprovalRequest&, CallContext&) override {
        return std::optional<Approval>();
    }

private:
    /// The journal must not say that a person was asked again. A deadline that passed is not a person.
    [[nodiscard]] std::string repeated(const std::string& by) const {
        return by == "deadline" ? by : by + std::string(repeated_from) + recorded_.state.task_id;
    }

    [[nodiscard]] Result<void> approve(const ApprovalRequest& request) {
        const RecordedApproval* const recorded = nth(recorded_.approvals, request.stage, watch_.decided(request.stage));
        if (recorded == nullptr || recorded->tree != watch_.tree()) { return {}; }
        AF_TRY(const json::value shown, recorded_.kept(records::Kept{std::nullopt, recorded->decided.artifact_hash}));
        if (!same_artifact(shown, request.artifact)) { return {}; }
        ArtifactDecision decision;
        decision.decision = records::decision_of(recorded->decided);
        // The replay has the longer pipeline from the beginning.
        if (decision.decision == "extend") { decision.decision = "approve"; }
        // Journals of older versions have remarks on approvals.
        if (!decision.approved()) { decision.feedback = *recorded->decided.feedback; }
        decision.issues = issues_of(*recorded->decided.issues);
        decision.artifact_hash = request.artifact_hash;
        decision.decided_by = repeated(*recorded->decided.decided_by);
        return store_.decide_artifact(request.id, decision);
    }

    [[nodiscard]] Result<void> decide_action(const ApprovalRequest& request) {
        const auto text = [&](std::string_view key) { return std::string(request.artifact.at(key).as_string()); };
        const auto number = [&](std::string_view key) { return request.artifact.at(key).to_number<unsigned>(); };
        const auto found =
            recorded_.decisions.find({text("stage"), number("visit"), number("run"), text("role"), number("step"), text("mode")});
        if (found == recorded_.decisions.end()) { return {}; }
        const records::ActionDecided& decided = found->second;
        ActionDecision decision{decided.decision != "rejected", std::nullopt, *decided.feedback, request.artifact_hash,
                                repeated(*decided.decided_by)};
        if (decided.edited) {
            AF_TRY(const json::value edited, recorded_.kept(*decided.edited));
            if (edited.is_object()) { decision.edited = edited.get_object(); }
        }
        return store_.decide_action(request.id, decision);
    }

    const RecordedTask& recorded_;
    const ReplayWatch& watch_;
    const EscalationStore& store_;
};

}  // namespace

std::shared_ptr<EscalationHandler> make_recorded_people(const RecordedTask& recorded, const ReplayWatch& watch,
                                                        const EscalationStore& store) {
    return std::make_shared<RecordedPeople>(recorded, watch, store);
}

}  // namespace agentforge::kernel
