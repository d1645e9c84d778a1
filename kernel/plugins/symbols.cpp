// SPDX-License-Identifier: Apache-2.0
#include "plugins/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "base/files.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t library_limit_bytes = 1ULL << 30U;
constexpr std::size_t symbol_limit = 2'000'000;

class Elf {
public:
    explicit Elf(std::string bytes) : bytes_(std::move(bytes)) {}

    template <class T>
    [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
        if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) { return std::nullopt; }
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    [[nodiscard]] std::string text(const Elf64_Shdr& strings, std::uint64_t offset) const {
        if (offset >= strings.sh_size || strings.sh_offset > bytes_.size() ||
            bytes_.size() - strings.sh_offset < strings.sh_size) {
            return {};
        }
        const char* begin = bytes_.data() + strings.sh_offset + offset;
        return {begin, strnlen(begin, strings.sh_size - offset)};
    }

private:
    std::string bytes_;
};

struct Sections {
    std::vector<Elf64_Shdr> all;
    [[nodiscard]] const Elf64_Shdr* first(std::uint32_t type) const {
        for (const Elf64_Shdr& section : all) {
            if (section.sh_type == type) { return &section; }
        }
        return nullptr;
    }
    [[nodiscard]] const Elf64_Shdr* linked(const Elf64_Shdr& section) const {
        return section.sh_link < all.size() ? &all[section.sh_link] : nullptr;
    }
};

/// Maps version indices to names: versions that the library needs, and those that it defines.
std::map<std::uint16_t, std::string> version_names(const Elf& elf, const Sections& sections) {
    std::map<std::uint16_t, std::string> names;
    if (const Elf64_Shdr* needs = sections.first(SHT_GNU_verneed); needs != nullptr && sections.linked(*needs) != nullptr) {
        std::uint64_t offset = needs->sh_offset;
        for (unsigned index = 0; index < needs->sh_info; ++index) {
            const auto need = elf.at<Elf64_Verneed>(offset);
            if (!need) { break; }
            std::uint64_t inner = offset + need->vn_aux;
            for (unsigned version = 0; version < need->vn_cnt; ++version) {
                const auto aux = elf.at<Elf64_Vernaux>(inner);
                if (!aux) { break; }
                names[aux->vna_other & 0x7fffU] = elf.text(*sections.linked(*needs), aux->vna_name);
                if (aux->vna_next == 0) { break; }
                inner += aux->vna_next;
            }
            if (need->vn_next == 0) { break; }
            offset += need->vn_next;
        }
    }
    return names;
}

Error unreadable(const std::string& path, const std::string& why) {
    return Error{"AF-PLUG-011", "The plugin library cannot be opened: " + why, path, "Build or install the plugin again.",
                 ErrorKind::invalid};
}

Result<Sections> read_sections(const Elf& elf, const std::string& path) {
    const auto header = elf.at<Elf64_Ehdr>(0);
    if (!header || header->e_shoff == 0 || header->e_shentsize != sizeof(Elf64_Shdr)) {
        return unreadable(path, "it has no section table, so its symbols cannot be read");
    }
    Sections sections;
    for (unsigned index = 0; index < header->e_shnum; ++index) {
        const auto section = elf.at<Elf64_Shdr>(header->e_shoff + index * sizeof(Elf64_Shdr));
        if (!section) { return unreadable(path, "its section table is cut off"); }
        sections.all.push_back(*section);
    }
    return sections;
}

/// Returns nothing for a symbol that no other object can use.
std::optional<DynamicSymbol> symbol_of(const Elf& elf, const Elf64_Shdr& strings, const Elf64_Sym& symbol) {
    const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
    const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
    if (binding == STB_LOCAL || type == STT_SECTION || type == STT_FILE) { return std::nullopt; }
    DynamicSymbol one;
    one.name = elf.text(strings, symbol.st_name);
    one.defined = symbol.st_shndx != SHN_UNDEF;
    one.weak = binding == STB_WEAK;
    one.function = type == STT_FUNC || type == STT_GNU_IFUNC;
    one.data = type == STT_OBJECT || type == STT_COMMON || type == STT_TLS;
    return one.name.empty() ? std::nullopt : std::optional(std::move(one));
}

Result<std::vector<DynamicSymbol>> read_table(const Elf& elf, const Sections& sections, const std::string& path) {
    const Elf64_Shdr* table = sections.first(SHT_DYNSYM);
    if (table == nullptr || sections.linked(*table) == nullptr) { return unreadable(path, "it has no dynamic symbol table"); }
    std::vector<DynamicSymbol> symbols;
    const auto names = version_names(elf, sections);
    const Elf64_Shdr* versions = sections.first(SHT_GNU_versym);
    const std::size_t count = std::min<std::size_t>(table->sh_size / sizeof(Elf64_Sym), symbol_limit);
    for (std::size_t index = 1; index < count; ++index) {
        const auto entry = elf.at<Elf64_Sym>(table->sh_offset + index * sizeof(Elf64_Sym));
        if (!entry) { return unreadable(path, "its dynamic symbol table is cut off"); }
        auto symbol = symbol_of(elf, *sections.linked(*table), *entry);
        if (!symbol) { continue; }
        if (versions != nullptr) {
            if (const auto version = elf.at<std::uint16_t>(versions->sh_offset + index * sizeof(std::uint16_t))) {
                if (const auto known = names.find(*version & 0x7fffU); known != names.end()) { symbol->version = known->second; }
            }
        }
        symbols.push_back(std::move(*symbol));
    }
    return symbols;
}

/// Splits DT_RUNPATH at its colons. Replaces `$ORIGIN` by `origin`.
void add_search_folders(std::vector<std::string>& folders, const std::string& text, const std::string& origin) {
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(':', begin), text.size());
        std::string folder = text.substr(begin, end - begin);
        for (const char* word : {"${ORIGIN}", "$ORIGIN"}) {
            if (const auto at = folder.find(word); at != std::string::npos) { folder.replace(at, std::strlen(word), origin); }
        }
        if (!folder.empty()) { folders.push_back(std::move(folder)); }
        begin = end + 1;
    }
}

/// Reads which libraries it needs, and the folders to search for them.
Result<void> read_dynamic_section(DynamicLibrary& library, const Elf& elf, const Sections& sections, const std::string& path) {
    const Elf64_Shdr* dynamic = sections.first(SHT_DYNAMIC);
    if (dynamic == nullptr || sections.linked(*dynamic) == nullptr) { return unreadable(path, "it has no dynamic section"); }
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Dyn) <= dynamic->sh_size; offset += sizeof(Elf64_Dyn)) {
        const auto entry = elf.at<Elf64_Dyn>(dynamic->sh_offset + offset);
        if (!entry || entry->d_tag == DT_NULL) { break; }
        const std::string text = elf.text(*sections.linked(*dynamic), entry->d_un.d_val);
        if (entry->d_tag == DT_NEEDED) { library.needed.push_back(text); }
        if (entry->d_tag != DT_RUNPATH && entry->d_tag != DT_RPATH) { continue; }
        add_search_folders(library.search, text, std::filesystem::path(path).parent_path().string());
    }
    return {};
}

}  // namespace

Result<DynamicLibrary> read_symbols(const std::string& path) {
    auto bytes = read_file(path, library_limit_bytes);
    if (!bytes.ok()) { return unreadable(path, bytes.error().message); }
    const Elf elf(std::move(*bytes));
    AF_TRY(const Sections sections, read_sections(elf, path));
    DynamicLibrary library;
    AF_TRY(library.symbols, read_table(elf, sections, path));
    AF_CHECK(read_dynamic_section(library, elf, sections, path));
    return library;
}

std::string readable_symbol(const std::string& name) {
    if (!name.starts_with("_Z")) { return name; }
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
    return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

}  // namespace agentforge::kernel
