// SPDX-License-Identifier: Apache-2.0
// RED: declares the specified interfaces (a skeleton that does nothing), then has failing tests written. The kernel's `red` gate
// measures what "failing" means.
#include <agentforge/json_fields.hpp>
#include <agentforge/plugin.hpp>
#include <agentforge/stage_helpers.hpp>

namespace {

using namespace agentforge;

class RedStage final : public ToolBasedStage {
public:
    [[nodiscard]] StageInfo info() const override {
        StageInfo info;
        info.name = "red";
        info.description = "Declares the specified interfaces and has tests written that fail.";
        info.output_contract = "test_suite";
        info.output_fields = {"test_files"};
        return info;
    }

    [[nodiscard]] Validation validate_input(StageContext& context) override {
        return require_artifacts(context.input(), {"specification"});
    }

    [[nodiscard]] std::string user_message(StageContext&) override {
        return "Write tests that fail because the specified behaviour does not exist yet.\n"
               "The interfaces of the specification are declared already; each raises its skeleton marker. Every requirement whose "
               "verification_method is test needs at least one new test; a test that must pass before and after is a guard (kind: guard). "
               "Tests must fail at an assertion or at the marker, not at an import or a typo. Follow the patterns of the existing tests. "
               "Leave existing tests as they are; only one that the specification names in outdated_tests, or that was handed back, is changed to what holds now: delete its file and create it anew, with that change alone. "
               "Where you have several tests for a requirement, put some, with other values, into a second file that needs nothing of the first "
               "(test_x and test_x_more): the kernel holds one file back from those who implement, and runs it. "
               "Run them, then hand in the suite with `complete`: each file with its tests, their requirement_ref and acceptance criterion.";
    }

    [[nodiscard]] StageResult execute(StageContext& context) override {
        const std::vector<SkeletonInterface> interfaces = declared(context.input().artifacts.find("specification")->second);
        if (!interfaces.empty()) {
            auto written = context.write_skeleton(interfaces);
            if (!written.ok()) { return StageResult::failed(std::move(written).error()); }
        }
        return ToolBasedStage::execute(context);
    }

private:
    static std::vector<SkeletonInterface> declared(const json::object& specification) {
        std::vector<SkeletonInterface> interfaces;
        const json::value* list = specification.if_contains("interfaces");
        if (list == nullptr || !list->is_array()) { return interfaces; }
        for (const json::value& entry : list->get_array()) {
            if (!entry.is_object()) { continue; }
            SkeletonInterface declared{text_of(entry.get_object(), "name"), text_of(entry.get_object(), "file"),
                                       text_of(entry.get_object(), "signature")};
            // A test cannot call an interface without a declaration (an event, a file format).
            if (!declared.file.empty() && !declared.signature.empty()) { interfaces.push_back(std::move(declared)); }
        }
        return interfaces;
    }
};

}  // namespace

AGENTFORGE_PLUGIN("agentforge.stage.red", "0.1.0", "Apache-2.0", agentforge::provides_stage<RedStage>("red"))
