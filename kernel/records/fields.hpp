// SPDX-License-Identifier: Apache-2.0
// Converts the fields of a record between a described struct and JSON.
//
// A struct lists its members once, with BOOST_DESCRIBE_STRUCT; a member's name is its key. Its type says when the key may be
// absent:
//   T                  never: a record without it is refused
//   Added<T>           in records of an older version: reads as T()
//   std::optional<T>   whenever it has no value
// A member without an initializer must be given wherever the struct is created: the build makes -Wmissing-field-initializers an
// error.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/describe.hpp>
#include <boost/mp11/algorithm.hpp>

#include <agentforge/json.hpp>

namespace agentforge::kernel::records {

/// A value that every record written now has, and that records of older versions may lack.
template <class T>
class Added {
public:
    Added() = default;
    template <class U>
    requires std::convertible_to<U&&, T> Added(U&& value)
        : value_(std::forward<U>(value)) {}  // NOLINT: a record is written with plain values.
    const T& operator*() const noexcept { return value_; }
    const T* operator->() const noexcept { return &value_; }
    bool operator==(const Added&) const = default;

private:
    T value_{};
};

/// A value of any size. A small one is stored under the key itself, a larger one in a blob whose hash is stored under
/// `<key>_blob`.
struct Kept {
    std::optional<json::value> value;
    std::string blob;  ///< Set if there is no `value`. Empty: the record holds neither.
    [[nodiscard]] bool empty() const noexcept { return !value && blob.empty(); }
    bool operator==(const Kept&) const = default;
};

template <class T>
concept Described = boost::describe::has_describe_members<T>::value;

/// Returns a member's name without a trailing `_`, which it has if the key is a C++ keyword.
[[nodiscard]] constexpr std::string_view key_of(std::string_view member) noexcept {
    return member.ends_with('_') ? member.substr(0, member.size() - 1) : member;
}

/// Reads members of described structs. The first key that is missing or has another type is the problem.
class Reader {
public:
    explicit Reader(const json::object& object) : object_(&object) {}

    template <Described T>
    [[nodiscard]] T read() {
        T out{};
        read_into(out);
        return out;
    }
    /// An optional member whose key is absent keeps its value.
    template <Described T>
    void read_into(T& out) {
        boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
            [&](auto member) { field(key_of(member.name), out.*member.pointer); });
    }
    [[nodiscard]] bool complete() const noexcept { return problem_.empty(); }
    /// Returns, for instance, "field `stage` must be a text".
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    template <class T>
    void field(std::string_view key, std::optional<T>& out) {
        if constexpr (std::is_same_v<T, Kept>) {
            Kept kept;
            field(key, kept);
            if (!kept.empty()) { out = std::move(kept); }
        } else if (given(key)) {
            field(key, out.emplace());
        }
    }
    template <class T>
    void field(std::string_view key, Added<T>& out) {
        if (!std::is_same_v<T, Kept> && !given(key)) { return; }
        T value{};
        field(key, value);
        out = std::move(value);
    }
    void field(std::string_view key, Kept& out);
    void field(std::string_view key, std::string& out);
    void field(std::string_view key, bool& out);
    void field(std::string_view key, std::uint64_t& out);
    void field(std::string_view key, unsigned& out);
    void field(std::string_view key, std::vector<std::string>& out);
    void field(std::string_view key, json::object& out);
    void field(std::string_view key, json::array& out);
    void field(std::string_view key, json::value& out);
    template <Described T>
    void field(std::string_view key, T& out) {
        const json::value* value = object_->if_contains(key);
        if (value == nullptr || !value->is_object()) { return miss(key, "a map"); }
        out = part<T>(value->get_object());
    }
    template <Described T>
    void field(std::string_view key, std::vector<T>& out) {
        const json::value* value = object_->if_contains(key);
        if (value == nullptr || !value->is_array()) { return miss(key, "a list of maps"); }
        for (const json::value& item : value->get_array()) {
            if (!item.is_object()) { return miss(key, "a list of maps"); }
            out.push_back(part<T>(item.get_object()));
        }
    }
    template <Described T>
    void field(std::string_view key, std::map<std::string, T>& out) {
        const json::value* value = object_->if_contains(key);
        if (value == nullptr || !value->is_object()) { return miss(key, "a map of maps"); }
        for (const auto& [name, item] : value->get_object()) {
            if (!item.is_object()) { return miss(key, "a map of maps"); }
            out.emplace(name, part<T>(item.get_object()));
        }
    }
    template <Described T>
    T part(const json::object& object) {
        Reader inner(object);
        T out = inner.read<T>();
        if (problem_.empty()) { problem_ = inner.problem_; }
        return out;
    }
    [[nodiscard]] bool given(std::string_view key) const;
    void miss(std::string_view key, std::string_view wanted);

    const json::object* object_;
    std::string problem_;
};

template <Described T>
[[nodiscard]] json::object to_fields(const T& from);

void write_field(json::object& out, std::string_view key, const Kept& value);
void write_field(json::object& out, std::string_view key, const std::vector<std::string>& value);
template <class T>
requires std::constructible_from<json::value, const T&>
void write_field(json::object& out, std::string_view key, const T& value) { out[key] = json::value(value); }
template <Described T>
void write_field(json::object& out, std::string_view key, const T& value) {
    out[key] = to_fields(value);
}
template <Described T>
void write_field(json::object& out, std::string_view key, const std::vector<T>& value) {
    json::array list;
    for (const T& each : value) { list.emplace_back(to_fields(each)); }
    out[key] = std::move(list);
}
template <Described T>
void write_field(json::object& out, std::string_view key, const std::map<std::string, T>& value) {
    json::object map;
    for (const auto& [name, each] : value) { map[name] = to_fields(each); }
    out[key] = std::move(map);
}
template <class T>
void write_field(json::object& out, std::string_view key, const std::optional<T>& value) {
    if (value) { write_field(out, key, *value); }
}
template <class T>
void write_field(json::object& out, std::string_view key, const Added<T>& value) {
    write_field(out, key, *value);
}

/// Writes the members in their order.
template <Described T>
json::object to_fields(const T& from) {
    json::object out;
    boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
        [&](auto member) { write_field(out, key_of(member.name), from.*member.pointer); });
    return out;
}

}  // namespace agentforge::kernel::records
