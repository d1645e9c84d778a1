// SPDX-License-Identifier: Apache-2.0
#include "plugins/sealed.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/hash.hpp"
#include "plugins/library.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t most_bytes = 1ULL << 30U;

Error cannot_load(const std::string& path, const std::string& why) {
    return {"AF-PLUG-037", "The plugin's file cannot be loaded in the form that was checked: " + why, path,
            "Put a regular, readable file there, or remove the plugin from the lock.", ErrorKind::io};
}

/// Reads a `T` at `offset`. Returns false beyond the end.
template <class T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& value) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) { return false; }
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return true;
}

struct Sealed {
    FileDescriptor file;
    std::vector<std::string> needed;
};

Result<Sealed> seal_file(const PluginManifest& manifest, const std::string& name) {
    const std::string path = manifest.directory + "/" + name;
    const auto expected = manifest.pinned == nullptr ? FileHashes::const_iterator() : manifest.pinned->find(name);
    if (manifest.pinned == nullptr || expected == manifest.pinned->end()) {
        return file_differs(manifest, name, "not locked", "");
    }
    if (expected->second.starts_with("-> ")) {
        return cannot_load(path, "it is a symbolic link; only the hash of a regular file can be pinned");
    }
    const auto bytes = read_file(path, most_bytes);
    if (!bytes.ok()) {
        return bytes.error().kind == ErrorKind::not_found ? file_differs(manifest, name, "", expected->second)
                                                          : cannot_load(path, bytes.error().message);
    }
    if (const std::string found = sha256(*bytes); found != expected->second) {
        return file_differs(manifest, name, found, expected->second);
    }
    FileDescriptor file(memfd_create(name.substr(0, 200).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file.valid()) { return cannot_load(path, "memfd_create: " + errno_text(errno)); }
    AF_CHECK(write_all(file.get(), *bytes, path));
    if (fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) {
        return cannot_load(path, "sealing: " + errno_text(errno));
    }
    return Sealed{std::move(file), needed_libraries(*bytes)};
}

std::string path_of(const FileDescriptor& file) { return "/proc/self/fd/" + std::to_string(file.get()); }

/// Returns the pinned file with a library's name, after following links inside the folder. "" if there is none.
std::string bundled(const FileHashes& pinned, const std::string& library) {
    namespace fs = std::filesystem;
    for (const auto& [name, hash] : pinned) {
        if (fs::path(name).filename() != library) { continue; }
        std::string target = name;
        for (int links = 0; links < 8; ++links) {
            const auto file = pinned.find(target);
            if (file == pinned.end()) { return ""; }
            if (!file->second.starts_with("-> ")) { return target; }
            target = (fs::path(target).parent_path() / file->second.substr(3)).lexically_normal().string();
        }
    }
    return "";
}

/// Loads the libraries of `needed` that the folder contains, deepest first.
Result<void> load_needed(const PluginManifest& manifest, const std::vector<std::string>& needed, std::set<std::string>& loaded) {
    for (const std::string& library : needed) {
        const std::string name = bundled(*manifest.pinned, library);
        if (name.empty() || !loaded.insert(name).second) { continue; }
        auto sealed = seal_file(manifest, name);
        if (!sealed.ok()) { return sealed.error(); }
        AF_CHECK(check_elf(path_of(sealed->file)));
        AF_CHECK(load_needed(manifest, sealed->needed, loaded));
        if (dlopen(path_of(sealed->file).c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
            const char* const why = dlerror();
            return explain_load_failure(why == nullptr ? "" : why, manifest);
        }
        sealed->file.release();  // The linker knows it by this number.
    }
    return {};
}

}  // namespace

std::vector<std::string> needed_libraries(std::string_view library) {
    std::vector<std::string> names;
    Elf64_Ehdr header{};
    if (!read_at(library, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_phentsize != sizeof(Elf64_Phdr)) {
        return names;
    }
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    for (std::size_t index = 0; index < segments.size(); ++index) {
        if (!read_at(library, header.e_phoff + index * sizeof(Elf64_Phdr), segments[index])) { return names; }
    }
    std::uint64_t strings = 0;
    std::vector<std::uint64_t> wanted;
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type != PT_DYNAMIC) { continue; }
        for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry{};
            if (!read_at(library, segment.p_offset + at, entry) || entry.d_tag == DT_NULL) { break; }
            if (entry.d_tag == DT_NEEDED) { wanted.push_back(entry.d_un.d_val); }
            if (entry.d_tag == DT_STRTAB) { strings = entry.d_un.d_ptr; }
        }
    }
    // The string table is given by its address. The segment loaded at that address gives its offset in the file.
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type != PT_LOAD || strings < segment.p_vaddr || strings - segment.p_vaddr >= segment.p_filesz) { continue; }
        const std::uint64_t table = strings - segment.p_vaddr + segment.p_offset;
        for (const std::uint64_t offset : wanted) {
            if (table >= library.size() || offset >= library.size() - table) { continue; }
            const std::string_view rest = library.substr(table + offset);
            const auto end = rest.find('\0');
            if (end != std::string_view::npos && end > 0 && end < 256) { names.emplace_back(rest.substr(0, end)); }
        }
        break;
    }
    return names;
}

Result<FileDescriptor> seal(const PluginManifest& manifest, const std::string& name) {
    auto sealed = seal_file(manifest, name);
    if (!sealed.ok()) { return sealed.error(); }
    return std::move(sealed->file);
}

Result<std::string> seal_with_needs(const PluginManifest& manifest) {
    auto sealed = seal_file(manifest, manifest.library);
    if (!sealed.ok()) { return sealed.error(); }
    if (auto whole = check_elf(path_of(sealed->file)); !whole.ok()) {
        Error error = std::move(whole).error();
        error.where = manifest.directory + "/" + manifest.library;
        return error;
    }
    std::set<std::string> loaded{manifest.library};
    AF_CHECK(load_needed(manifest, sealed->needed, loaded));
    std::string name = path_of(sealed->file);
    sealed->file.release();
    return name;
}

}  // namespace agentforge::kernel
