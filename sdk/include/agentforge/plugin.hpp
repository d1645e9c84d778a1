// SPDX-License-Identifier: Apache-2.0
// Turns a shared library into a plugin: one exported C symbol returns a descriptor.
//
//   AGENTFORGE_PLUGIN("org.example.my-tool", "1.0.0", "Apache-2.0",
//                     agentforge::provides_tool<MyTool>("my_tool"))
//
// Rules:
//  * A plugin exports nothing else. No exception crosses the boundary. Libraries stay loaded until the host exits.
//  * The build must match the host's fingerprint (see abi.hpp). The dynamic linker refuses another build before any
//    constructor runs, and the host compares the fingerprint in the descriptor.
//  * The host calls `info()`, `spec()` and `name()` once, when it creates the object. They return the name that the
//    factory gives.
//  * A class with a constructor that takes `json::object` receives its settings there. A class without one has no
//    settings, and giving it any is an error. Either constructor may throw to refuse.
#pragma once

#include <agentforge/abi.hpp>
#include <agentforge/escalation.hpp>
#include <agentforge/llm_backend.hpp>
#include <agentforge/stage.hpp>
#include <agentforge/tool.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <new>

namespace agentforge {

enum class PluginKind : std::uint32_t { stage = 1, tool = 2, llm = 3, escalation = 4 };

/// Interface versions, one for each interface. A published interface never changes; a new one is added beside it.
inline constexpr std::uint32_t stage_interface_version = 1;
inline constexpr std::uint32_t tool_interface_version = 1;
inline constexpr std::uint32_t llm_interface_version = 1;
inline constexpr std::uint32_t llm_v2_interface_version = 2;  ///< LLMBackendV2
inline constexpr std::uint32_t escalation_interface_version = 1;

extern "C" {

/// Creates one object of the factory's kind. `config_json` is the plugin's settings as JSON text. On failure returns null and
/// writes a message of at most `error_size` bytes, including the NUL.
using AgentforgeCreate = void* (*)(const char* config_json, char* error, std::size_t error_size);
using AgentforgeDestroy = void (*)(void* object);

struct AgentforgeFactory {
    std::uint32_t size;  ///< sizeof(AgentforgeFactory) of the plugin's build.
    std::uint32_t kind;  ///< PluginKind
    std::uint32_t interface_version;
    const char* name;         ///< Name of the stage, tool, backend or handler.
    AgentforgeCreate create;  ///< Returns a Stage*, Tool*, LLMBackend*, LLMBackendV2* or EscalationHandler*, as kind and
                              ///< interface_version say.
    AgentforgeDestroy destroy;
};

struct AgentforgeDescriptor {
    std::uint32_t size;              ///< sizeof(AgentforgeDescriptor) of the plugin's build.
    std::uint32_t abi_version;       ///< AGENTFORGE_ABI_VERSION
    const char* fingerprint;         ///< AGENTFORGE_ABI_FINGERPRINT of the plugin's own translation unit.
    const char* linked_fingerprint;  ///< From agentforge_abi_fingerprint(); the reference binds the plugin to the symbol version.
    const char* id;                  ///< Reverse-domain id, the same as in plugin.json.
    const char* version;
    const char* licence;  ///< SPDX expression.
    const AgentforgeFactory* factories;
    std::uint32_t factory_count;
};

/// Type of the one symbol that a plugin exports.
using AgentforgeEntry = const AgentforgeDescriptor* (*)();

}  // extern "C"

inline constexpr const char* entry_symbol = "agentforge_plugin";

/// Version of this SDK. The host checks a manifest's `sdk` range against it.
inline constexpr const char* sdk_version = "0.1.0";

namespace detail {

/// Writes `what` into the buffer, truncated to its size and always NUL-terminated.
void report_create_failure(char* buffer, std::size_t size, const char* what) noexcept;
/// Parses the settings. Null and empty text mean no settings. Throws std::invalid_argument if the text is not a JSON object.
json::object parse_config(const char* text);

template <class Interface, class Implementation>
void* create_object(const char* config_json, char* error, std::size_t error_size) noexcept {
    try {
        if constexpr (std::is_constructible_v<Implementation, json::object>) {
            return static_cast<Interface*>(new Implementation(parse_config(config_json)));
        } else {
            if (!parse_config(config_json).empty()) {
                report_create_failure(error, error_size, "settings were given, but it takes none");
                return nullptr;
            }
            return static_cast<Interface*>(new Implementation());
        }
    } catch (const std::exception& failure) { report_create_failure(error, error_size, failure.what()); } catch (...) {
        report_create_failure(error, error_size, "an exception that is not a std::exception");
    }
    return nullptr;
}

template <class Interface>
void destroy_object(void* object) noexcept {
    try {
        delete static_cast<Interface*>(object);
    } catch (...) {  // A destructor that throws is a defect of the plugin. The host goes on.
    }
}

template <class Interface, class Implementation>
constexpr AgentforgeFactory factory(PluginKind kind, std::uint32_t version, const char* name) {
    return {sizeof(AgentforgeFactory), static_cast<std::uint32_t>(kind), version, name, &create_object<Interface, Implementation>,
            &destroy_object<Interface>};
}

}  // namespace detail

template <class T>
constexpr AgentforgeFactory provides_stage(const char* name) {
    return detail::factory<Stage, T>(PluginKind::stage, stage_interface_version, name);
}
template <class T>
constexpr AgentforgeFactory provides_tool(const char* name) {
    return detail::factory<Tool, T>(PluginKind::tool, tool_interface_version, name);
}
template <class T>
constexpr AgentforgeFactory provides_llm(const char* name) {
    return detail::factory<LLMBackend, T>(PluginKind::llm, llm_interface_version, name);
}
template <class T>
constexpr AgentforgeFactory provides_llm_v2(const char* name) {
    return detail::factory<LLMBackendV2, T>(PluginKind::llm, llm_v2_interface_version, name);
}
template <class T>
constexpr AgentforgeFactory provides_escalation(const char* name) {
    return detail::factory<EscalationHandler, T>(PluginKind::escalation, escalation_interface_version, name);
}

}  // namespace agentforge

/// Defines the one symbol of a plugin. Arguments: id, version, licence, then one or more factories.
#define AGENTFORGE_PLUGIN(plugin_id, plugin_version, plugin_licence, ...)                                                   \
    extern "C" __attribute__((visibility("default"), used)) const ::agentforge::AgentforgeDescriptor* agentforge_plugin() { \
        static const ::agentforge::AgentforgeFactory factories[] = {__VA_ARGS__};                                           \
        static const ::agentforge::AgentforgeDescriptor descriptor = {                                                      \
            sizeof(::agentforge::AgentforgeDescriptor),                                                                     \
            AGENTFORGE_ABI_VERSION,                                                                                         \
            AGENTFORGE_ABI_FINGERPRINT,                                                                                     \
            ::agentforge_abi_fingerprint(),                                                                                 \
            plugin_id,                                                                                                      \
            plugin_version,                                                                                                 \
            plugin_licence,                                                                                                 \
            factories,                                                                                                      \
            static_cast<std::uint32_t>(sizeof(factories) / sizeof(factories[0]))};                                          \
        return &descriptor;                                                                                                 \
    }
