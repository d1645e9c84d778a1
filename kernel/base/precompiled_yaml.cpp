// SPDX-License-Identifier: Apache-2.0
#include "base/precompiled_yaml.hpp"

#include "base/json_fields.hpp"

#include <cstddef>
#include <utility>

namespace agentforge::kernel {

namespace {

std::span<const PrecompiledYaml>& documents_in_use() noexcept {
    static std::span<const PrecompiledYaml> documents;
    return documents;
}

void append_number(std::string& out, unsigned number) {
    for (; number >= 0x80; number >>= 7U) { out += static_cast<char>((number & 0x7FU) | 0x80U); }
    out += static_cast<char>(number);
}

/// Returns 0 at the end of the bytes.
unsigned take_number(std::string_view& bytes) noexcept {
    unsigned number = 0;
    for (unsigned shift = 0; !bytes.empty() && shift < 32; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        number |= (byte & 0x7FU) << shift;
        if (byte < 0x80) { break; }
    }
    return number;
}

/// Calls `visit` with the pointer to each value, parents first, in document order.
template <class Visit>
void walk(const json::value& value, std::string& pointer, Visit& visit) {
    visit(std::as_const(pointer));
    const std::size_t length = pointer.size();
    if (value.is_object()) {
        for (const auto& entry : value.get_object()) {
            pointer += '/';
            append_pointer_token(pointer, view(entry.key()));
            walk(entry.value(), pointer, visit);
            pointer.resize(length);
        }
    } else if (value.is_array()) {
        std::size_t index = 0;
        for (const auto& item : value.get_array()) {
            pointer += '/' + std::to_string(index++);
            walk(item, pointer, visit);
            pointer.resize(length);
        }
    }
}

}  // namespace

std::string places_of(const YamlDocument& document) {
    std::string out;
    std::string pointer;
    const auto visit = [&](const std::string& at) {
        const auto found = document.places.find(at);
        const YamlPlace place = found == document.places.end() ? YamlPlace{} : found->second;
        for (const unsigned number : {place.value.line, place.value.column, place.key.line, place.key.column}) {
            append_number(out, number);
        }
    };
    walk(document.value, pointer, visit);
    return out;
}

void use_precompiled_yaml(std::span<const PrecompiledYaml> documents) noexcept { documents_in_use() = documents; }

std::optional<YamlDocument> find_precompiled_yaml(std::string_view text, std::string_view source) {
    for (const PrecompiledYaml& known : documents_in_use()) {
        if (known.text != text) { continue; }
        YamlDocument document;
        document.value = json::parse(known.value);
        document.source = source;
        std::string pointer;
        std::string_view rest = known.places;
        const auto visit = [&](const std::string& at) {
            YamlPlace place;
            for (unsigned* number : {&place.value.line, &place.value.column, &place.key.line, &place.key.column}) {
                *number = take_number(rest);
            }
            if (place.value.line != 0) { document.places.emplace(at, place); }
        };
        walk(document.value, pointer, visit);
        return document;
    }
    return std::nullopt;
}

}  // namespace agentforge::kernel
