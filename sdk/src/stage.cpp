// SPDX-License-Identifier: Apache-2.0
#include <agentforge/stage.hpp>

#include <exception>

namespace agentforge {

StageResult StageResult::completed(json::object artifact) {
    StageResult result;
    result.status = StageStatus::completed;
    result.artifact = std::move(artifact);
    return result;
}

StageResult StageResult::failed(Error error) {
    StageResult result;
    result.status = StageStatus::failed;
    result.error = std::move(error);
    return result;
}

StageResult StageResult::escalate(EscalationRequest request, std::optional<json::object> partial_artifact) {
    StageResult result;
    result.status = StageStatus::pending;
    result.escalation = std::move(request);
    result.artifact = std::move(partial_artifact);
    return result;
}

StageResult StageResult::cycle(std::string stage, std::string reason) {
    StageResult result;
    result.status = StageStatus::pending;
    result.cycle_to = std::move(stage);
    result.cycle_reason = std::move(reason);
    return result;
}

namespace {

Validation require_fields(const std::vector<std::string>& fields, const json::object& artifact, const char* complaint) {
    Validation validation;
    for (const std::string& field : fields) {
        if (!artifact.contains(field)) { validation.errors.push_back(complaint + field); }
    }
    return validation;
}

}  // namespace

Result<void> Stage::initialize(StageContext&) { return {}; }

Validation Stage::validate_input(StageContext& context) {
    return require_fields(info().required_input_fields, context.input().input_artifact, "Missing required field: ");
}

Validation Stage::validate_output(StageContext&, const json::object& artifact) {
    return require_fields(info().output_fields, artifact, "Missing output field: ");
}

void Stage::finalize(StageContext&, const StageResult&) {}

namespace {

std::string join(const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& text : texts) { joined += (joined.empty() ? "" : "; ") + text; }
    return joined;
}

/// One run of a stage. Tracks the current phase, so that an error can name it.
class Run {
public:
    Run(Stage& stage, StageContext& context) : stage_(stage), context_(context) {}

    StageResult operator()() {
        bool initialized = false;
        StageResult result = guarded([&] { return work(initialized); });
        if (initialized) { finalize(result); }
        return result;
    }

private:
    StageResult work(bool& initialized) {
        phase_ = "initialize";
        if (auto ready = stage_.initialize(context_); !ready.ok()) { return StageResult::failed(std::move(ready).error()); }
        initialized = true;

        phase_ = "validate_input";
        if (auto refusal = judge(stage_.validate_input(context_), "AF-STAGE-002",
                                 "Input validation failed: ", "Correct the stage before it, or the stage's required fields.")) {
            return StageResult::failed(*refusal);
        }

        phase_ = "execute";
        StageResult result = stage_.execute(context_);
        if (auto defect = contradiction(result)) { return StageResult::failed(*defect); }
        if (!result.success()) { return result; }

        phase_ = "validate_output";
        if (auto refusal = judge(stage_.validate_output(context_, *result.artifact), "AF-STAGE-003",
                                 "Output validation failed: ", "The stage runs again while attempts are left.")) {
            StageResult refused = StageResult::failed(*refusal);
            refused.artifact = std::move(result.artifact);  // Keeps the refused artifact for the next attempt to fix.
            refused.metrics = std::move(result.metrics);
            return refused;
        }
        return result;
    }

    std::optional<Error> judge(const Validation& validation, const char* code, const char* complaint, const char* remedy) {
        for (const std::string& warning : validation.warnings) { context_.log(LogLevel::warning, warning, {{"phase", phase_}}); }
        if (validation.valid()) { return std::nullopt; }
        return error(code, complaint + join(validation.errors), remedy, ErrorKind::invalid);
    }

    /// Detects results that execute must not return: ones with no verdict or with two.
    std::optional<Error> contradiction(StageResult& result) {
        constexpr const char* remedy =
            "Return StageResult::completed, failed, escalate or cycle; report it to the stage's author.";
        const bool waits = result.escalated() || !result.cycle_to.empty();
        switch (result.status) {
            case StageStatus::completed:
                if (waits) {
                    return error("AF-STAGE-005", "The stage reported both that it completed and that it must wait", remedy,
                                 ErrorKind::internal);
                }
                if (!result.artifact) { return error("AF-STAGE-004", "No artifact produced", remedy, ErrorKind::invalid); }
                return std::nullopt;
            case StageStatus::failed:
                if (!result.error) {
                    result.error = error("AF-STAGE-006", "The stage failed and gave no reason", remedy, ErrorKind::internal);
                }
                return std::nullopt;
            case StageStatus::pending:
                if (result.escalated() && !result.cycle_to.empty()) {
                    return error("AF-STAGE-005", "The stage asks for a person and for an earlier stage at the same time", remedy,
                                 ErrorKind::internal);
                }
                if (waits) { return std::nullopt; }
                break;
            case StageStatus::skipped:
                return std::nullopt;
            case StageStatus::running:
                break;
        }
        return error("AF-STAGE-005", "The stage returned without a verdict", remedy, ErrorKind::internal);
    }

    void finalize(const StageResult& result) {
        phase_ = "finalize";
        const StageResult end = guarded([&] {
            stage_.finalize(context_, result);
            return StageResult{};
        });
        if (!end.error) { return; }
        // The result stands: the work is done, and only the cleanup failed.
        static_cast<void>(guarded([&] {
            context_.log(LogLevel::error, end.error->message, {{"phase", phase_}, {"code", end.error->code}});
            return StageResult{};
        }));
    }

    template <class Function>
    StageResult guarded(Function&& function) {
        try {
            return function();
        } catch (const std::exception& failure) { return StageResult::failed(thrown(failure.what())); } catch (...) {
            return StageResult::failed(thrown("something that is not a std::exception"));
        }
    }

    Error thrown(const char* what) {
        return error("AF-STAGE-001", std::string("The stage threw in ") + phase_ + ": " + what,
                     "Report it to the stage's author; a stage returns its failures.", ErrorKind::internal);
    }

    Error error(const char* code, std::string message, const char* remedy, ErrorKind kind) {
        return {code, std::move(message), "stage " + context_.input().stage + ", " + phase_, remedy, kind};
    }

    Stage& stage_;
    StageContext& context_;
    const char* phase_ = "initialize";
};

}  // namespace

StageResult run_stage(Stage& stage, StageContext& context) { return Run(stage, context)(); }

}  // namespace agentforge
