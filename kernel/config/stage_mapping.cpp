// SPDX-License-Identifier: Apache-2.0
#include "config/stage_mapping.hpp"

#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "config/pipeline_fields.hpp"

namespace agentforge::kernel {

namespace {

Result<std::map<std::string, StageAgents>> read_stages(const YamlDocument& document) {
    std::map<std::string, StageAgents> out;
    const auto fail = [&](std::string_view pointer, std::string message, std::string remedy) {
        return Error{"AF-PIPE-007", std::move(message), document.where(pointer), std::move(remedy), ErrorKind::invalid};
    };
    const auto* top = document.value.if_object();
    if (top != nullptr) {
        for (const auto& [key, unused] : *top) {
            if (key != "pipeline") {
                return fail("/" + std::string(key) + "#",
                            "`" + ellipsis(key, 60) + "` is not a field of the mapping of stages to agents",
                            "It contains pipeline: {stages: {…}} and nothing else.");
            }
        }
    }
    const auto* pipeline = top == nullptr || top->size() != 1 ? nullptr : top->if_contains("pipeline");
    const auto* inner = pipeline == nullptr ? nullptr : pipeline->if_object();
    const auto* stages = inner == nullptr || inner->size() != 1 ? nullptr : inner->if_contains("stages");
    if (stages == nullptr || !stages->is_object()) {
        return fail("", "the mapping of stages to agents must contain pipeline: {stages: {…}} and nothing else",
                    "See config/orchestration/pipeline.yaml.");
    }
    for (const auto& [key, value] : stages->get_object()) {
        const auto at = "/pipeline/stages/" + std::string(key);
        if (!value.is_object()) {
            return fail(at, "each stage in the mapping must be a map", "Write {primary: <role>, reviewers: []}.");
        }
        PipelineFields fields(value.get_object(), at);
        StageAgents agents;
        std::string primary;
        std::vector<std::string> reviewers;
        std::string mode;
        fields.text_or_null("primary", primary);
        fields.texts("reviewers", reviewers);
        fields.text("review_mode", mode);
        if (auto done = fields.finish(); !done.ok()) {
            return fail(done.error().where, done.error().message, done.error().remedy);
        }
        if (!mode.empty() && mode != "blocking" && mode != "advisory") {
            return fail(at + "/review_mode", "`review_mode` is neither blocking nor advisory", "Write one of the two.");
        }
        if (fields.has("primary")) { agents.primary = primary; }
        if (fields.has("reviewers")) { agents.reviewers = reviewers; }
        if (!mode.empty()) { agents.review_blocking = mode == "blocking"; }
        out.emplace(std::string(key), std::move(agents));
    }
    return out;
}

}  // namespace

Result<StageMapping> read_stage_mapping(const std::string& file) {
    StageMapping out;
    std::error_code ignored;
    if (!file.empty() && std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
        AF_TRY(out.document, load_yaml(file));
        AF_TRY(out.stages, read_stages(*out.document));
    }
    return out;
}

}  // namespace agentforge::kernel
