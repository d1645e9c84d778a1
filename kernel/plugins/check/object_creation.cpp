// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/object_creation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "plugins/check/check_inputs.hpp"
#include "plugins/check/schema_sample.hpp"

namespace agentforge::kernel {

namespace {

struct Made {
    void* object = nullptr;
    std::string reason;   ///< The factory's message.
    bool called = false;  ///< The call returned.
};

/// `room`: the size of the buffer for the factory's message, at most 1,024.
Made create_once(PluginCalls& calls, const AgentforgeFactory& factory, const char* settings, std::string_view input,
                 std::size_t room = 1024) {
    constexpr char canary = 0x5A;
    std::array<char, 1024 + 64> buffer{};
    buffer.fill(canary);
    if (room > 0) { buffer[0] = '\0'; }
    Made made;
    made.called = calls.make({"create", "create", input},
                             [&] { made.object = factory.create(settings, room == 0 ? nullptr : buffer.data(), room); });
    const auto beyond =
        std::find_if(buffer.begin() + static_cast<std::ptrdiff_t>(room), buffer.end(), [&](char c) { return c != canary; });
    if (beyond != buffer.end()) {
        calls.wrong_result("create", CheckStatus::error,
                           "wrote beyond the " + std::to_string(room) + " bytes that it was given for its message", "more",
                           std::to_string(room) + " bytes at the most", "Write at most `error_size` bytes, NUL included.");
    }
    if (room > 0) {
        const std::size_t length = strnlen(buffer.data(), room);
        if (made.called && made.object == nullptr && length == room) {
            calls.wrong_result("create", CheckStatus::error, "left its message without a NUL",
                               "no NUL in " + std::to_string(room) + " bytes", "a string that ends in NUL",
                               "End the message with NUL.");
        }
        made.reason = sanitize_utf8({buffer.data(), length});
    }
    return made;
}

/// Reports it if no settings lead to an object.
void* create_first(PluginCalls& calls, const AgentforgeFactory& factory) {
    const json::object& schema = calls.manifest().config_schema;
    const auto create_with_sample = [&](SampleOf properties, const char* input) {
        return create_once(calls, factory, json::serialize(schema_sample(schema, properties)).c_str(), input);
    };
    Made made = create_once(calls, factory, "{}", "no settings");
    std::string tried = "no settings";
    if (made.called && made.object == nullptr && !schema.empty()) {
        tried += " and with settings made from its config_schema";
        made = create_with_sample(SampleOf::required_properties, "the required settings");
        if (made.called && made.object == nullptr) { made = create_with_sample(SampleOf::all_properties, "all settings"); }
    }
    if (made.called && made.object == nullptr) {
        calls.finding(
            "create", CheckStatus::error,
            {"AF-PLUG-016",
             "The plugin `" + calls.manifest().id + "` could not make its " + calls.object() + " with " + tried + ": " +
                 (made.reason.empty() ? "it gave no reason" : made.reason),
             calls.library(),
             made.reason.empty()
                 ? "Write a message into `error` before null is returned."
                 : "Make it work without settings, or give its config_schema a `default` or `examples` for what it needs.",
             ErrorKind::invalid},
            "null", "an object");
    }
    return made.object;
}

void create_and_destroy(PluginCalls& calls, const AgentforgeFactory& factory, const std::string& settings, const char* input,
                        std::size_t room = 1024) {
    const Made made = create_once(calls, factory, settings.c_str(), input, room);
    if (made.object != nullptr) { destroy_object(calls, factory, made.object, input); }
}

std::string huge_settings() {
    std::string text = "{";
    for (std::size_t index = 0; index < huge_entries; ++index) {
        text += (index == 0 ? "\"entry_" : ",\"entry_") + std::to_string(index) + "\":\"" + std::string(1024, 'x') + "\"";
    }
    return text + "}";
}

/// Gives input that the host never passes, but that a hand-written factory must survive.
void try_broken_settings(PluginCalls& calls, const AgentforgeFactory& factory) {
    create_and_destroy(calls, factory, "{\"no_such_setting\":1}", "a setting that does not exist");
    create_and_destroy(calls, factory, "[1]", "settings that are not an object");
    create_and_destroy(calls, factory, "{\"", "settings that are not JSON");
    create_and_destroy(calls, factory, huge_settings(), "huge settings");
    create_and_destroy(calls, factory, "[1]", "broken settings and no room for a message", 0);
    create_and_destroy(calls, factory, "[1]", "broken settings and room for 8 bytes", 8);
}

}  // namespace

void* create_object(PluginCalls& calls, const AgentforgeFactory& factory) {
    void* object = create_first(calls, factory);
    if (object == nullptr) { return nullptr; }
    try_broken_settings(calls, factory);
    calls.pass("create", "it is created, and broken settings are accepted or refused properly");
    return object;
}

bool destroy_object(PluginCalls& calls, const AgentforgeFactory& factory, void* object, std::string_view input) {
    return calls.make({"destroy", "destroy", input}, [&] { factory.destroy(object); });
}

}  // namespace agentforge::kernel
