// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/undefined_symbols.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <vector>

#include "plugins/symbols.hpp"

namespace agentforge::kernel {

namespace {

struct NeededLibraries {
    std::vector<void*> handles;  ///< Never closed.
    std::vector<std::string> missing;
};

NeededLibraries open_needed(const DynamicLibrary& library) {
    NeededLibraries libraries;
    for (const std::string& needed : library.needed) {
        void* handle = nullptr;
        for (const std::string& folder : library.search) {
            if (handle == nullptr) { handle = ::dlopen((folder + "/" + needed).c_str(), RTLD_LAZY | RTLD_LOCAL); }
        }
        if (handle == nullptr) { handle = ::dlopen(needed.c_str(), RTLD_LAZY | RTLD_LOCAL); }
        if (handle == nullptr) {
            libraries.missing.push_back(needed);
        } else {
            libraries.handles.push_back(handle);
        }
    }
    return libraries;
}

/// Returns the symbols that neither the program nor the opened libraries define, in readable form.
std::vector<std::string> undefined_symbols(const DynamicLibrary& library, const std::vector<void*>& handles) {
    const auto provided = [&](const DynamicSymbol& symbol) {
        if (::dlsym(RTLD_DEFAULT, symbol.name.c_str()) != nullptr) { return true; }
        return std::ranges::any_of(handles, [&](void* handle) {
            return (!symbol.version.empty() && ::dlvsym(handle, symbol.name.c_str(), symbol.version.c_str()) != nullptr) ||
                   ::dlsym(handle, symbol.name.c_str()) != nullptr;
        });
    };
    std::vector<std::string> undefined;
    for (const DynamicSymbol& symbol : library.symbols) {
        if (!symbol.defined && !symbol.weak && !provided(symbol)) { undefined.push_back(readable_symbol(symbol.name)); }
    }
    return undefined;
}

void report_unresolved(const PluginCalls& calls, const std::string& why, const std::string& remedy, const std::string& found,
                       const std::string& expected) {
    calls.finding("undefined", CheckStatus::error,
                  {"AF-PLUG-011", "The plugin library cannot be opened: " + why, calls.library(), remedy, ErrorKind::unavailable},
                  found, expected);
}

void report_undefined(const PluginCalls& calls, const std::vector<std::string>& symbols) {
    std::string names;
    for (std::size_t index = 0; index < std::min<std::size_t>(symbols.size(), 5); ++index) {
        names += (index == 0 ? "`" : ", `") + symbols[index] + "`";
    }
    if (symbols.size() > 5) { names += " and " + std::to_string(symbols.size() - 5) + " more"; }
    report_unresolved(
        calls,
        "it needs the symbol" + std::string(symbols.size() == 1 ? " " : "s ") + names +
            ", which neither it nor its libraries define",
        "Link the plugin with -Wl,-z,defs (agentforge_add_plugin does) and name every library it uses in LIBRARIES.", names,
        "nothing undefined");
}

}  // namespace

bool check_undefined_symbols(const PluginCalls& calls) {
    const auto contents = read_symbols(calls.library());
    if (!contents.ok()) {
        calls.finding("undefined", CheckStatus::error, contents.error());
        return false;
    }
    const NeededLibraries libraries = open_needed(*contents);
    for (const std::string& library : libraries.missing) {
        report_unresolved(calls, "it needs the library `" + library + "`, which is not installed",
                          "Install that library, or rebuild the plugin against the one that is there.", "no " + library,
                          library + " in the library path");
    }
    const std::vector<std::string> missing = undefined_symbols(*contents, libraries.handles);
    // The symbols of a missing library are missing with it.
    if (!missing.empty() && libraries.missing.empty()) { report_undefined(calls, missing); }
    if (!missing.empty() || !libraries.missing.empty()) { return false; }
    calls.pass("undefined", "each symbol that it needs is there");
    return true;
}

}  // namespace agentforge::kernel
