// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <agentforge/artifact.hpp>
#include <agentforge/plugin.hpp>

#include <array>
#include <cstring>
#include <stdexcept>

namespace agentforge {
namespace {

StageArtifact sample() {
    StageArtifact artifact;
    artifact.stage_name = "intake";
    artifact.artifact_type = "intake_record";
    artifact.created_at = "2026-01-02T15:30:00Z";
    artifact.data = {{"request_id", "REQ-1"}};
    artifact.metadata = {{"iteration", 0}};
    return artifact;
}

TEST(TestStageArtifact, to_dict_includes_metadata) {
    EXPECT_EQ(
        json::serialize(sample().to_json()),
        R"({"_artifact_meta":{"stage_name":"intake","artifact_type":"intake_record","version":"1.0","created_at":"2026-01-02T15:30:00Z"},)"
        R"("request_id":"REQ-1","_metadata":{"iteration":0}})");
}

TEST(TestStageArtifact, from_dict_restores_artifact) {
    const auto restored = StageArtifact::from_json(sample().to_json());
    ASSERT_TRUE(restored.ok());
    EXPECT_EQ(restored->to_json(), sample().to_json());
}

TEST(TestStageArtifact, missing_envelope_takes_the_defaults) {
    const auto restored = StageArtifact::from_json({{"a", 1}});
    ASSERT_TRUE(restored.ok());
    EXPECT_EQ(restored->stage_name, "unknown");
    EXPECT_EQ(restored->version, "1.0");
    EXPECT_EQ(restored->data, (json::object{{"a", 1}}));
}

TEST(TestStageArtifact, data_cannot_replace_the_envelope) {
    StageArtifact artifact = sample();
    artifact.data["_artifact_meta"] = "forged";
    EXPECT_EQ(artifact.to_json(), sample().to_json());
}

struct Broken {
    const char* name;
    const char* text;
    const char* field;
};
class ArtifactEnvelopeBroken : public testing::TestWithParam<Broken> {};

TEST_P(ArtifactEnvelopeBroken, is_refused_and_its_field_named) {
    const auto restored = StageArtifact::from_json(json::parse(GetParam().text).as_object());
    ASSERT_FALSE(restored.ok());
    EXPECT_EQ(restored.error().code, "AF-STAGE-030");
    EXPECT_EQ(restored.error().where, GetParam().field);
}

INSTANTIATE_TEST_SUITE_P(
    TestStageArtifact, ArtifactEnvelopeBroken,
    testing::Values(Broken{"meta_is_a_list", R"({"_artifact_meta": []})", "_artifact_meta"},
                    Broken{"metadata_is_a_text", R"({"_metadata": "x"})", "_metadata"},
                    Broken{"version_is_a_number", R"({"_artifact_meta": {"version": 1}})", "_artifact_meta.version"},
                    Broken{"unknown_field", R"({"_artifact_meta": {"verion": "1"}})", "_artifact_meta.verion"}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(ToolResult, done_is_a_success) {
    const ToolResult result = ToolResult::done("out", "did it", {{"n", 1}});
    EXPECT_TRUE(result.success);
    EXPECT_EQ(result.output, "out");
    EXPECT_EQ(result.summary, "did it");
    EXPECT_EQ(result.data, (json::object{{"n", 1}}));
}

TEST(ToolResult, failed_tells_the_model_the_whole_error) {
    const ToolResult result = ToolResult::failed({"AF-X-001", "no such file", "a.py", "List the folder.", ErrorKind::not_found});
    EXPECT_FALSE(result.success);
    EXPECT_EQ(result.output, "AF-X-001: no such file (a.py)\n  List the folder.");
    EXPECT_EQ(result.summary, "no such file");
}

class TakesSettings : public Tool {
public:
    explicit TakesSettings(json::object settings) {
        if (settings.contains("bad")) { throw std::invalid_argument("`bad` is unknown"); }
    }
    ToolSpec spec() const override { return {}; }
    ToolResult call(const json::object&, ToolContext&) override { return {}; }
};

class TakesNone : public Tool {
public:
    ToolSpec spec() const override { return {}; }
    ToolResult call(const json::object&, ToolContext&) override { return {}; }
};

/// Returns the factory's error for a configuration. Empty if it made an object.
std::string refusal(const AgentforgeFactory& factory, const char* config) {
    std::array<char, 64> error{};
    void* object = factory.create(config, error.data(), error.size());
    if (object != nullptr) { factory.destroy(object); }
    return error.data();
}

TEST(PluginFactory, makes_an_object_with_settings) {
    EXPECT_EQ(refusal(provides_tool<TakesSettings>("t"), R"({"good": 1})"), "");
}
TEST(PluginFactory, null_settings_are_none) { EXPECT_EQ(refusal(provides_tool<TakesSettings>("t"), nullptr), ""); }
TEST(PluginFactory, refusal_of_the_constructor_is_passed_on) {
    EXPECT_EQ(refusal(provides_tool<TakesSettings>("t"), R"({"bad": 1})"), "`bad` is unknown");
}
TEST(PluginFactory, settings_for_a_class_that_takes_none_are_refused) {
    EXPECT_EQ(refusal(provides_tool<TakesNone>("t"), R"({"any": 1})"), "settings were given, but it takes none");
}
TEST(PluginFactory, settings_that_are_not_an_object_are_refused) {
    EXPECT_EQ(refusal(provides_tool<TakesSettings>("t"), "[]"), "the settings are not a JSON object");
}
TEST(PluginFactory, long_message_is_cut_to_the_buffer) {
    std::array<char, 4> buffer{'x', 'x', 'x', 'x'};
    detail::report_create_failure(buffer.data(), buffer.size(), "longer");
    EXPECT_STREQ(buffer.data(), "lon");
}

TEST(AbiFingerprint, library_and_compiler_agree) { EXPECT_STREQ(agentforge_abi_fingerprint(), AGENTFORGE_ABI_FINGERPRINT); }

}  // namespace
}  // namespace agentforge
