// SPDX-License-Identifier: Apache-2.0
// Converts values to bytes and back, for caches beside a journal. The compiler lists the fields of a struct, so a new field
// cannot be forgotten.
//
// The bytes do not describe themselves: only the build that wrote them can read them (`fold_fingerprint`).
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/pfr.hpp>

#include <agentforge/json.hpp>

#include "base/text.hpp"
#include "cost/ledger.hpp"
#include "records/fields.hpp"

namespace agentforge::kernel {

namespace bytes_io {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
concept Json = std::is_same_v<T, json::object> || std::is_same_v<T, json::array> || std::is_same_v<T, json::value>;
template <class T>
concept Map = requires(T& map) {
    typename T::mapped_type;
    map.emplace(std::declval<typename T::key_type>(), std::declval<typename T::mapped_type>());
};
template <class T>
concept Set = !Map<T> && requires(T & set) {
    typename T::key_type;
    set.insert(std::declval<typename T::key_type>());
};
template <class T>
concept List = !Map<T> && !Set<T> && !Json<T> && !std::is_same_v<T, std::string> && requires(T & list) {
    list.emplace_back();
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_added = false;
template <class T>
inline constexpr bool is_added<records::Added<T>> = true;
template <class T>
inline constexpr bool is_duration = false;
template <class R, class P>
inline constexpr bool is_duration<std::chrono::duration<R, P>> = true;

}  // namespace bytes_io

class BytesOut {
public:
    template <class T>
    void add(const T& value) {
        using namespace bytes_io;
        if constexpr (Plain<T>) {
            bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
        } else if constexpr (std::is_same_v<T, std::string>) {
            add(std::uint64_t{value.size()});
            bytes_ += value;
        } else if constexpr (Json<T>) {
            add(std::string(json::serialize(value)));
        } else if constexpr (is_optional<T>) {
            add(value.has_value());
            if (value) { add(*value); }
        } else if constexpr (is_added<T>) {
            add(*value);
        } else if constexpr (is_duration<T>) {
            add(value.count());
        } else if constexpr (Map<T>) {
            add(std::uint64_t{value.size()});
            for (const auto& [key, mapped] : value) {
                add(key);
                add(mapped);
            }
        } else if constexpr (Set<T> || List<T>) {
            add(std::uint64_t{value.size()});
            for (const auto& each : value) { add(each); }
        } else if constexpr (std::is_same_v<T, Ledger>) {
            add(value.to_json());
        } else if constexpr (records::Described<T>) {
            boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
                [&](auto member) { add(value.*member.pointer); });
        } else {
            boost::pfr::for_each_field(value, [this](const auto& field) { add(field); });
        }
    }
    [[nodiscard]] std::string release() { return std::move(bytes_); }

private:
    std::string bytes_;
};

/// Each `read` returns false if the bytes do not hold such a value. The output is then invalid.
class BytesIn {
public:
    explicit BytesIn(std::string_view bytes) : bytes_(bytes) {}

    template <class T>
    [[nodiscard]] bool read(T& value) {
        using namespace bytes_io;
        if constexpr (std::is_same_v<T, bool>) {
            return read_bool(value);
        } else if constexpr (Plain<T>) {
            return read_plain(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
            return read_text(value);
        } else if constexpr (Json<T>) {
            return read_json(value);
        } else if constexpr (is_optional<T>) {
            return read_optional(value);
        } else if constexpr (is_added<T>) {
            std::remove_cvref_t<decltype(*value)> held{};
            if (!read(held)) { return false; }
            value = std::move(held);
            return true;
        } else if constexpr (is_duration<T>) {
            typename T::rep count{};
            if (!read(count)) { return false; }
            value = T(count);
            return true;
        } else if constexpr (Map<T>) {
            return read_each([&] {
                typename T::key_type key{};
                typename T::mapped_type mapped{};
                return read(key) && read(mapped) && value.emplace(std::move(key), std::move(mapped)).second;
            });
        } else if constexpr (Set<T>) {
            return read_each([&] {
                typename T::key_type key{};
                return read(key) && value.insert(std::move(key)).second;
            });
        } else if constexpr (List<T>) {
            return read_each([&] { return read(value.emplace_back()); });
        } else if constexpr (std::is_same_v<T, Ledger>) {
            return read_ledger(value);
        } else {
            return read_fields(value);
        }
    }
    [[nodiscard]] bool at_end() const noexcept { return bytes_.empty(); }
    [[nodiscard]] std::string_view rest() const noexcept { return bytes_; }

private:
    bool read_bool(bool& value) {
        char byte = 0;
        if (!read(byte) || (byte != 0 && byte != 1)) { return false; }
        value = byte == 1;
        return true;
    }
    template <class T>
    bool read_plain(T& value) {
        if (bytes_.size() < sizeof value) { return false; }
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_.remove_prefix(sizeof value);
        return true;
    }
    bool read_text(std::string& value) {
        std::uint64_t size = 0;
        if (!read(size) || bytes_.size() < size) { return false; }
        value = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return true;
    }
    template <class T>
    bool read_optional(std::optional<T>& value) {
        bool has = false;
        if (!read(has)) { return false; }
        if (!has) {
            value.reset();
            return true;
        }
        return read(value.emplace());
    }
    bool read_ledger(Ledger& value) {
        json::array entries;
        auto ledger = read(entries) ? Ledger::from_json(entries) : std::nullopt;
        if (ledger) { value = std::move(*ledger); }
        return ledger.has_value();
    }
    template <class T>
    bool read_fields(T& value) {
        bool whole = true;
        if constexpr (records::Described<T>) {
            boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
                [&](auto member) { whole = whole && read(value.*member.pointer); });
        } else {
            boost::pfr::for_each_field(value, [&](auto& field) { whole = whole && read(field); });
        }
        return whole;
    }
    template <class Read>
    bool read_each(const Read& one) {
        std::uint64_t count = 0;
        if (!read(count) || count > bytes_.size()) { return false; }
        for (; count > 0; --count) {
            if (!one()) { return false; }
        }
        return true;
    }
    template <class T>
    bool read_json(T& value) {
        std::string text;
        if (!read(text)) { return false; }
        auto parsed = parse_json(text, "snapshot");
        if (!parsed.ok()) { return false; }
        if constexpr (std::is_same_v<T, json::value>) {
            value = std::move(*parsed);
        } else if constexpr (std::is_same_v<T, json::object>) {
            if (!parsed->is_object()) { return false; }
            value = std::move(parsed->get_object());
        } else {
            if (!parsed->is_array()) { return false; }
            value = std::move(parsed->get_array());
        }
        return true;
    }

    std::string_view bytes_;
};

}  // namespace agentforge::kernel
