// SPDX-License-Identifier: Apache-2.0
#include "plugins/library.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "plugins/sealed.hpp"

namespace agentforge::kernel {

namespace {

std::string library_path(const PluginManifest& manifest) { return manifest.directory + "/" + manifest.library; }

Error cannot_open(const std::string& path, std::string reason, std::string remedy, ErrorKind kind = ErrorKind::unavailable) {
    return {"AF-PLUG-011", "The plugin library cannot be opened: " + std::move(reason), path, std::move(remedy), kind};
}

Error other_fingerprint(const PluginManifest& manifest, std::string_view found) {
    return {"AF-PLUG-012",
            "The plugin `" + manifest.id + "` was built for " + std::string(found) + ", but this host is " +
                agentforge_abi_fingerprint(),
            library_path(manifest),
            "Rebuild the plugin with the compiler, the flags, the Boost version and the AgentForge SDK of this host.",
            ErrorKind::unavailable};
}

Error differs(const PluginManifest& manifest, const std::string& what, std::string_view found, std::string_view expected) {
    return {"AF-PLUG-014",
            "The library of plugin `" + manifest.id + "` and its plugin.json differ in " + what + ": the library says " +
                std::string(found) + ", the manifest " + std::string(expected),
            library_path(manifest), "Make AGENTFORGE_PLUGIN(…) and plugin.json agree, and rebuild.", ErrorKind::invalid};
}

bool read_at(int descriptor, void* target, std::size_t size, std::uint64_t offset) {
    auto* bytes = static_cast<char*>(target);
    while (size > 0) {
        const ssize_t got = pread(descriptor, bytes, size, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) { continue; }
        if (got <= 0) { return false; }
        bytes += got;
        size -= static_cast<std::size_t>(got);
        offset += static_cast<std::uint64_t>(got);
    }
    return true;
}

std::string shown(const char* text) { return text == nullptr ? "nothing" : "`" + ellipsis(text, 120) + "`"; }

/// Loads the libraries beside the plugin's own that it needs, and their dependencies, deepest first. The dynamic linker then
/// finds them by SONAME, whatever the plugin's run path says.
Result<void> load_neighbours(const PluginManifest& manifest, const std::string& path, std::set<std::string>& seen) {
    AF_CHECK(check_elf(path));
    const auto bytes = read_file(path, 1ULL << 30U);
    if (!bytes.ok()) { return cannot_open(path, bytes.error().message, "Make it readable."); }
    for (const std::string& library : needed_libraries(*bytes)) {
        const std::string beside = manifest.directory + "/" + library;
        std::error_code failure;
        if (library.find('/') != std::string::npos || !std::filesystem::is_regular_file(beside, failure) ||
            !seen.insert(library).second) {
            continue;
        }
        AF_CHECK(load_neighbours(manifest, beside, seen));
        if (::dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {  // Never closed, like its plugin.
            const char* const why = ::dlerror();
            return explain_load_failure(why == nullptr ? "" : why, manifest);
        }
    }
    return {};
}

/// True if the folder contains another library than the plugin's own. Most folders do not, so they need not be read twice.
bool brings_libraries(const PluginManifest& manifest) {
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(manifest.directory, failure), end; !failure && entry != end;
         entry.increment(failure)) {
        const std::string name = entry->path().filename().string();
        if (name != manifest.library && name.find(".so") != std::string::npos) { return true; }
    }
    return false;
}

/// Checks the address against the symbol table.
bool is_function(const void* address) {
    Dl_info info{};
    void* entry = nullptr;
    if (::dladdr1(address, &info, &entry, RTLD_DL_SYMENT) == 0 || entry == nullptr) { return true; }
    const unsigned char type = ELF64_ST_TYPE(static_cast<const ElfW(Sym)*>(entry)->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

}  // namespace

Result<void> check_elf(const std::string& path) {
    constexpr const char* rebuild = "Build or install the plugin again.";
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.valid()) {
        const int reason = errno;
        return cannot_open(path, errno_text(reason), "Put the library that plugin.json names next to it, and make it readable.",
                           reason == ENOENT ? ErrorKind::not_found : ErrorKind::io);
    }
    struct stat status {};
    if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return cannot_open(path, "it is not a regular file", rebuild, ErrorKind::invalid);
    }
    const auto size = static_cast<std::uint64_t>(status.st_size);

    Elf64_Ehdr header{};
    if (!read_at(file.get(), &header, sizeof(header), 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return cannot_open(path, "it is not a shared library (no ELF header)", rebuild, ErrorKind::invalid);
    }
    constexpr unsigned char this_order = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != this_order) {
        return cannot_open(path, "it was built for another machine", "Build the plugin for this machine.");
    }
    if (header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr)) {
        return cannot_open(path, "it is an ELF file, but not a shared library", rebuild, ErrorKind::invalid);
    }
    // A segment beyond the end of the file is mapped anyway, and kills the process when touched.
    for (unsigned index = 0; index < header.e_phnum; ++index) {
        Elf64_Phdr segment{};
        if (!read_at(file.get(), &segment, sizeof(segment), header.e_phoff + index * sizeof(segment)) ||
            (segment.p_type == PT_LOAD && (segment.p_filesz > size || segment.p_offset > size - segment.p_filesz))) {
            return cannot_open(path, "it is truncated at " + std::to_string(size) + " bytes", rebuild, ErrorKind::corrupt);
        }
    }
    return {};
}

Error explain_load_failure(std::string_view what, const PluginManifest& manifest) {
    // Boost.DLL wraps the text of dlerror and appends the text of an unrelated errno.
    constexpr std::string_view opening = "dlerror system message: ";
    if (const auto begin = what.find(opening); begin != std::string_view::npos) { what.remove_prefix(begin + opening.size()); }
    if (const auto tail = what.rfind("): "); tail != std::string_view::npos) { what = what.substr(0, tail); }

    constexpr std::string_view version = "version `AGENTFORGE_";
    if (const auto begin = what.find(version); begin != std::string_view::npos) {
        const std::string_view rest = what.substr(begin + std::string_view("version `").size());
        return other_fingerprint(manifest, rest.substr(0, rest.find('\'')));
    }
    constexpr std::string_view undefined = "undefined symbol: ";
    if (const auto begin = what.find(undefined); begin != std::string_view::npos) {
        const std::string_view symbol = what.substr(begin + undefined.size());
        return cannot_open(
            library_path(manifest),
            "it needs the symbol `" + std::string(symbol.substr(0, symbol.find_first_of(" ,"))) +
                "`, which neither it nor its libraries define",
            "Link the plugin with -Wl,-z,defs (agentforge_add_plugin does) and name every library it uses in LIBRARIES.");
    }
    constexpr std::string_view missing = ": cannot open shared object file";
    if (const auto end = what.find(missing); end != std::string_view::npos) {
        return cannot_open(library_path(manifest),
                           "it needs the library `" + std::string(what.substr(0, end)) + "`, which is not installed",
                           "Install that library, or rebuild the plugin against the one that is there.");
    }
    std::string text(what);
    if (constexpr std::string_view copy = "/proc/self/fd/";
        text.starts_with(copy)) {  // The name of the sealed copy means nothing to the reader.
        text = library_path(manifest) + text.substr(std::min(text.size(), text.find_first_not_of("0123456789", copy.size())));
    }
    return cannot_open(library_path(manifest), std::move(text), "Build or install the plugin again.");
}

Error entry_is_data(const PluginManifest& manifest) {
    return {"AF-PLUG-013",
            "The symbol `" + std::string(entry_symbol) + "` of plugin `" + manifest.id + "` is data, but it must be a function",
            library_path(manifest), "Put AGENTFORGE_PLUGIN(…) into one of its sources and build it with agentforge_add_plugin.",
            ErrorKind::invalid};
}

/// The plugin must be built for this host's SDK. Errors: AF-PLUG-012.
Result<void> check_build(const AgentforgeDescriptor& descriptor, const PluginManifest& manifest) {
    // Size and ABI version come first and never move. Nothing else may be read before they agree.
    if (descriptor.abi_version != AGENTFORGE_ABI_VERSION) {
        return Error{"AF-PLUG-012",
                     "The plugin `" + manifest.id + "` was built for SDK ABI " + std::to_string(descriptor.abi_version) +
                         ", but this host has SDK ABI " + std::to_string(AGENTFORGE_ABI_VERSION),
                     library_path(manifest),
                     descriptor.abi_version > AGENTFORGE_ABI_VERSION
                         ? "Install a newer AgentForge, or rebuild the plugin with the SDK of this host."
                         : "Rebuild the plugin with the AgentForge SDK of this host.",
                     ErrorKind::unavailable};
    }
    if (descriptor.size != sizeof(AgentforgeDescriptor)) {
        return Error{"AF-PLUG-012",
                     "The descriptor of plugin `" + manifest.id + "` has " + std::to_string(descriptor.size) +
                         " bytes, but that of SDK ABI " + std::to_string(AGENTFORGE_ABI_VERSION) + " has " +
                         std::to_string(sizeof(AgentforgeDescriptor)),
                     library_path(manifest), "Rebuild the plugin with the AgentForge SDK of this host.", ErrorKind::unavailable};
    }
    for (const char* fingerprint : {descriptor.fingerprint, descriptor.linked_fingerprint}) {
        if (fingerprint == nullptr || std::string_view(fingerprint) != agentforge_abi_fingerprint()) {
            return other_fingerprint(manifest, fingerprint == nullptr ? "an unknown build" : ellipsis(fingerprint, 200));
        }
    }
    return {};
}

/// Checks that the descriptor matches the plugin's manifest.
Result<void> check_against_manifest(const AgentforgeDescriptor& descriptor, const PluginManifest& manifest) {
    const auto same = [](const char* text, const std::string& expected) { return text != nullptr && expected == text; };
    if (!same(descriptor.id, manifest.id)) { return differs(manifest, "the id", shown(descriptor.id), "`" + manifest.id + "`"); }
    if (!same(descriptor.version, manifest.version)) {
        return differs(manifest, "the version", shown(descriptor.version), "`" + manifest.version + "`");
    }
    if (!same(descriptor.licence, manifest.licence)) {
        return differs(manifest, "the licence", shown(descriptor.licence), "`" + manifest.licence + "`");
    }
    if (descriptor.factories == nullptr) {
        return differs(manifest, "what is provided", "there are no factories (null)",
                       "that there are " + std::to_string(manifest.provides.size()));
    }
    if (descriptor.factory_count != manifest.provides.size()) {
        return differs(manifest, "the number of things provided", std::to_string(descriptor.factory_count),
                       std::to_string(manifest.provides.size()));
    }
    return {};
}

Error broken_factory(const PluginManifest& manifest, std::uint32_t index, const std::string& found, const std::string& expected) {
    return {
        "AF-PLUG-014",
        "Factory " + std::to_string(index) + " of plugin `" + manifest.id + "` has " + found + ", but it must have " + expected,
        library_path(manifest),
        "Create it with agentforge::provides_tool or a similar function, and rebuild the plugin with the SDK of this host.",
        ErrorKind::invalid};
}

/// Marks the manifest's entry for this factory as seen. Returns false if the manifest has none, or no other one.
bool find_in_manifest(const AgentforgeFactory& factory, const PluginManifest& manifest, std::vector<bool>& seen) {
    const auto kind = static_cast<PluginKind>(factory.kind);
    for (std::size_t entry = 0; entry < manifest.provides.size(); ++entry) {
        if (!seen[entry] && manifest.provides[entry].kind == kind && manifest.provides[entry].name == factory.name) {
            seen[entry] = true;
            return true;
        }
    }
    return false;
}

/// `seen`: the entries of the manifest that earlier factories have used.
Result<void> check_factory(const AgentforgeFactory& factory, std::uint32_t index, const PluginManifest& manifest,
                           const Interfaces& interfaces, std::vector<bool>& seen) {
    if (factory.size != sizeof(AgentforgeFactory)) {
        return broken_factory(manifest, index, std::to_string(factory.size) + " bytes",
                              std::to_string(sizeof(AgentforgeFactory)));
    }
    if (factory.name == nullptr) { return broken_factory(manifest, index, "no name (null)", "one"); }
    if (factory.create == nullptr || factory.destroy == nullptr) {
        return broken_factory(manifest, index,
                              "no " + std::string(factory.create == nullptr ? "create" : "destroy") + " function (null)", "one");
    }
    const auto kind = static_cast<PluginKind>(factory.kind);
    if (!find_in_manifest(factory, manifest, seen)) {
        const bool known = factory.kind >= static_cast<std::uint32_t>(PluginKind::stage) &&
                           factory.kind <= static_cast<std::uint32_t>(PluginKind::escalation);
        const std::string what = known ? std::string(to_string(kind)) + " " + shown(factory.name)
                                       : shown(factory.name) + " of the unknown kind " + std::to_string(factory.kind);
        return differs(manifest, "what is provided", "it provides " + what, "does not");
    }
    const Interfaces::Support support = interfaces.support(kind, factory.interface_version);
    if (support.has) { return {}; }
    const bool newer = factory.interface_version > support.newest;
    return Error{"AF-PLUG-015",
                 "The " + std::string(to_string(kind)) + " " + shown(factory.name) + " of plugin `" + manifest.id +
                     "` has version " + std::to_string(factory.interface_version) +
                     " of its interface, but this host takes version " + support.versions,
                 library_path(manifest),
                 newer ? "Install a newer AgentForge, or a version of the plugin that is made for this one."
                       : "Install a newer version of the plugin, or rebuild it with the SDK of this host.",
                 ErrorKind::unavailable};
}

Result<void> check_descriptor(const AgentforgeDescriptor* descriptor, const PluginManifest& manifest,
                              const Interfaces& interfaces) {
    if (descriptor == nullptr) {
        return Error{"AF-PLUG-014",
                     "The entry `" + std::string(entry_symbol) + "` of plugin `" + manifest.id +
                         "` returned null, but it must return a descriptor",
                     library_path(manifest), "Define the entry with AGENTFORGE_PLUGIN(…).", ErrorKind::invalid};
    }
    AF_CHECK(check_build(*descriptor, manifest));
    AF_CHECK(check_against_manifest(*descriptor, manifest));
    // Checks that there are as many factories as in the manifest, each listed there and none twice. Then both sets are equal.
    std::vector<bool> seen(manifest.provides.size(), false);
    for (std::uint32_t index = 0; index < descriptor->factory_count; ++index) {
        AF_CHECK(check_factory(descriptor->factories[index], index, manifest, interfaces, seen));
    }
    return {};
}

Result<const AgentforgeDescriptor*> open_library(const PluginManifest& manifest, const Interfaces& interfaces) {
    struct Opened {
        std::mutex mutex;
        std::map<std::string, const AgentforgeDescriptor*, std::less<>> descriptors;
    };
    static auto* const opened = new Opened;  // Never destroyed: plugins outlive every static object.

    const std::string path = library_path(manifest);
    const std::lock_guard lock(opened->mutex);
    if (const auto known = opened->descriptors.find(path); known != opened->descriptors.end()) {
        AF_CHECK(check_descriptor(known->second, manifest, interfaces));  // The manifest may have been edited since.
        return known->second;
    }
    std::string opened_by = path;
    if (manifest.pinned == nullptr) {
        AF_CHECK(check_elf(path));
        std::set<std::string> seen{manifest.library};
        if (brings_libraries(manifest)) { AF_CHECK(load_neighbours(manifest, path, seen)); }
    } else {
        AF_CHECK(check_pinned_files(manifest));
        auto sealed = seal_with_needs(manifest);
        if (!sealed.ok()) { return sealed.error(); }
        opened_by = std::move(*sealed);
    }
    try {
        namespace dll = boost::dll;
        // rtld_now: everything is resolved, or refused, before a constructor runs. rtld_local: plugins do not see each other's
        // symbols. The pointer is never deleted, even if a check below fails: see the header.
        static auto* const handles = new std::vector<dll::shared_library*>;
        handles->push_back(new dll::shared_library(opened_by, dll::load_mode::rtld_now | dll::load_mode::rtld_local));
        dll::shared_library& library = *handles->back();
        if (!library.has(entry_symbol)) {
            return Error{"AF-PLUG-013", "The library of plugin `" + manifest.id + "` does not export `" + entry_symbol + "`",
                         path, "Put AGENTFORGE_PLUGIN(…) into one of its sources and build it with agentforge_add_plugin.",
                         ErrorKind::invalid};
        }
        auto& entry = library.get<const AgentforgeDescriptor*()>(entry_symbol);
        if (!is_function(reinterpret_cast<const void*>(&entry))) { return entry_is_data(manifest); }
        const AgentforgeDescriptor* descriptor = entry();
        AF_CHECK(check_descriptor(descriptor, manifest, interfaces));
        opened->descriptors.emplace(path, descriptor);
        return descriptor;
    } catch (const std::exception& failure) { return explain_load_failure(failure.what(), manifest); } catch (...) {
        return cannot_open(path, "it threw while it was loaded", "Report it to the plugin's author.");
    }
}

}  // namespace agentforge::kernel
