// SPDX-License-Identifier: Apache-2.0
#include "telemetry/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentforge::kernel::telemetry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

std::optional<Settings> read(const std::map<std::string, std::string>& environment) {
    std::vector<std::string> unused;
    auto settings = read_settings(environment, unused);
    EXPECT_TRUE(settings.ok()) << settings.error().to_string();
    return settings.ok() ? *settings : std::nullopt;
}

Error refused(const std::map<std::string, std::string>& environment) {
    std::vector<std::string> unused;
    const auto settings = read_settings(environment, unused);
    return settings.ok() ? Error{"none", "it was read", "", "", ErrorKind::invalid} : settings.error();
}

TEST(TelemetrySettings, are_off_without_a_variable) { EXPECT_FALSE(read({{"HOME", "/root"}})); }
TEST(TelemetrySettings, are_off_with_an_empty_endpoint) { EXPECT_FALSE(read({{"OTEL_EXPORTER_OTLP_ENDPOINT", " "}})); }
TEST(TelemetrySettings, are_off_if_the_sdk_is_disabled) {
    EXPECT_FALSE(read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}, {"OTEL_SDK_DISABLED", "TRUE"}}));
}

TEST(TelemetrySettings, the_general_endpoint_gets_a_path_for_each_signal) {
    const auto settings = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318/otlp/"}});
    EXPECT_EQ(settings->of(Signal::traces)->server.text(), "http://collector:4318/otlp/v1/traces");
    EXPECT_EQ(settings->of(Signal::metrics)->server.text(), "http://collector:4318/otlp/v1/metrics");
    EXPECT_EQ(settings->of(Signal::logs)->server.text(), "http://collector:4318/otlp/v1/logs");
}

TEST(TelemetrySettings, a_signals_own_endpoint_is_used_unchanged_and_enables_only_that_signal) {
    const auto settings = read({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4318/spans"}});
    EXPECT_EQ(settings->of(Signal::traces)->server.path, "/spans");
    EXPECT_FALSE(settings->of(Signal::metrics));
    EXPECT_FALSE(settings->of(Signal::logs));
}

TEST(TelemetrySettings, an_exporter_none_turns_a_signal_off) {
    const auto settings = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}, {"OTEL_LOGS_EXPORTER", "none"}});
    EXPECT_TRUE(settings->of(Signal::traces));
    EXPECT_FALSE(settings->of(Signal::logs));
}

TEST(TelemetrySettings, an_exporter_otlp_without_endpoint_sends_to_this_machine) {
    EXPECT_EQ(read({{"OTEL_METRICS_EXPORTER", "otlp"}})->of(Signal::metrics)->server.text(), "http://localhost:4318/v1/metrics");
}

TEST(TelemetrySettings, headers_are_percent_decoded) {
    const auto settings = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"},
                                {"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc, x-team = red"}});
    EXPECT_THAT(settings->of(Signal::logs)->headers, ElementsAre(Pair("authorization", "Bearer abc"), Pair("x-team", "red")));
}

TEST(TelemetrySettings, wrong_headers_are_refused_without_their_value) {
    const Error error = refused({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}, {"OTEL_EXPORTER_OTLP_HEADERS", "hidden-value"}});
    EXPECT_EQ(error.code, "AF-OTEL-001");
    EXPECT_THAT(error.to_string(), Not(HasSubstr("hidden-value")));
}

TEST(TelemetrySettings, a_cut_percent_escape_is_refused) {
    for (const char* const headers : {"a=%", "a=%4", "a=%zz"}) {
        EXPECT_EQ(refused({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}, {"OTEL_EXPORTER_OTLP_HEADERS", headers}}).code,
                  "AF-OTEL-001")
            << headers;
    }
}

TEST(TelemetrySettings, a_header_with_a_line_break_is_refused) {
    EXPECT_EQ(refused({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}, {"OTEL_EXPORTER_OTLP_HEADERS", "a=b%0d%0aHost:%20c"}}).code,
              "AF-OTEL-001");
}

TEST(TelemetrySettings, a_header_set_by_the_request_is_refused_by_name) {
    const Error error =
        refused({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}, {"OTEL_EXPORTER_OTLP_HEADERS", "x-team=red,Content-Length=5"}});
    EXPECT_EQ(error.code, "AF-OTEL-001");
    EXPECT_THAT(error.message, HasSubstr("Content-Length"));
}

TEST(TelemetrySettings, an_unreadable_certificate_is_refused) {
    EXPECT_EQ(refused({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://a:1"}, {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such.pem"}}).where,
              "OTEL_EXPORTER_OTLP_CERTIFICATE");
}

TEST(TelemetrySettings, another_protocol_is_refused_by_name) {
    const Error error = refused({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}});
    EXPECT_THAT(error.message, HasSubstr("OTEL_EXPORTER_OTLP_PROTOCOL is `grpc`"));
}

TEST(TelemetrySettings, an_invalid_number_is_refused) {
    for (const char* const number : {"0", "-1", "many", "1s", "99999999999999999999"}) {
        EXPECT_EQ(refused({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"}, {"OTEL_BSP_MAX_QUEUE_SIZE", number}}).where,
                  "OTEL_BSP_MAX_QUEUE_SIZE")
            << number;
    }
}

TEST(TelemetrySettings, the_service_name_overrides_the_resource_attributes) {
    const auto settings = read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"},
                                {"OTEL_SERVICE_NAME", "forge"},
                                {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other,team=red"}});
    EXPECT_EQ(settings->resource, (json::object{{"service.name", "forge"}, {"team", "red"}}));
}

TEST(TelemetrySettings, variables_without_effect_are_named) {
    std::vector<std::string> unused;
    const std::map<std::string, std::string> environment{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:1"},
                                                         {"OTEL_TRACES_SAMPLER", "traceidratio"},
                                                         {"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key"}};
    EXPECT_TRUE(read_settings(environment, unused).ok());
    EXPECT_THAT(unused, ElementsAre("OTEL_EXPORTER_OTLP_CLIENT_KEY has no effect", "OTEL_TRACES_SAMPLER has no effect"));
}

}  // namespace
}  // namespace agentforge::kernel::telemetry
