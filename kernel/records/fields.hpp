// SPDX-License-Identifier: Apache-2.0
// Converts the fields of a record between a described struct and JSON.
//
// A struct lists its members once, with BOOST_DESCRIBE_STRUCT; a member's name is its key. Its type says when the key may be
// absent:
//   T                  never: a record without it is refused
//   Added<T>           in records of an older version: reads as T()
//   std::optional<T>   whenever it has no value
// A member without an initializer must be given wherever the struct is created: the build makes -Wmissing-field-initializers an
// error. A struct whose texts are words of a fixed list says which:
//   static constexpr Words words[] = {{"status", {"success", "failure"}}};
// Such a text may also be empty.
#pragma once

#include <array>
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

/// Suffix of the key if the value is in a blob.
inline constexpr std::string_view blob_ending = "_blob";

/// A value of any size. A small one is stored under the key itself, a larger one in a blob whose hash is stored under
/// `<key>_blob`.
struct Kept {
    std::optional<json::value> value;
    std::string blob;  ///< Set if there is no `value`. Empty: the record holds neither.
    [[nodiscard]] bool empty() const noexcept { return !value && blob.empty(); }
    bool operator==(const Kept&) const = default;
};

/// The words that a field may hold besides an empty text.
struct Words {
    std::string_view key;
    std::array<std::string_view, 4> list;
};

template <class T>
concept Described = boost::describe::has_describe_members<T>::value;

/// Returns a member's name without a trailing `_`, which it has if the key is a C++ keyword.
[[nodiscard]] constexpr std::string_view key_of(std::string_view member) noexcept {
    return member.ends_with('_') ? member.substr(0, member.size() - 1) : member;
}

template <class T>
inline constexpr bool is_kept =
    std::is_same_v<T, Kept> || std::is_same_v<T, Added<Kept>> || std::is_same_v<T, std::optional<Kept>>;

/// True if the struct writes this key.
template <Described T>
[[nodiscard]] bool has_key(std::string_view key) {
    bool found = false;
    boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>([&](auto member) {
        using Type = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
        constexpr std::string_view name = key_of(member.name);
        found = found || key == name;
        if constexpr (is_kept<Type>) {
            found =
                found || (key.size() == name.size() + blob_ending.size() && key.starts_with(name) && key.ends_with(blob_ending));
        }
    });
    return found;
}

/// Reads members of described structs. The first key that is missing or has another type is the problem.
class Reader {
public:
    /// `finds_unknown`: looks for keys that no struct knows, which takes time.
    explicit Reader(const json::object& object, bool finds_unknown = false)
        : object_(&object), finds_unknown_(finds_unknown), last_(object.begin()) {}

    /// `Others`: structs whose keys the object has, too.
    template <Described T, Described... Others>
    [[nodiscard]] T read() {
        T out{};
        read_into(out);
        if (!finds_unknown_) { return out; }
        for (std::size_t place = 0; place < object_->size(); ++place) {
            const std::string_view key = (object_->begin() + place)->key();
            if (unknown_.empty() && !was_found(place) && !has_key<T>(key) && !(has_key<Others>(key) || ...)) { unknown_ = key; }
        }
        return out;
    }
    /// An optional member whose key is absent keeps its value.
    template <Described T>
    void read_into(T& out) {
        boost::mp11::mp_for_each<boost::describe::describe_members<T, boost::describe::mod_public>>(
            [&](auto member) { field(key_of(member.name), out.*member.pointer); });
        if constexpr (requires { T::words; }) {
            for (const Words& each : T::words) { check_word(each); }
        }
    }
    [[nodiscard]] bool complete() const noexcept { return problem_.empty(); }
    /// Returns, for instance, "field `stage` must be a string".
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
    /// Returns the first unknown key. Empty: there is none.
    [[nodiscard]] const std::string& unknown() const noexcept { return unknown_; }

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
        const json::value* value = find(key);
        if (value == nullptr || !value->is_object()) { return miss(key, "a map"); }
        out = part<T>(value->get_object());
    }
    template <Described T>
    void field(std::string_view key, std::vector<T>& out) {
        const json::value* value = find(key);
        if (value == nullptr || !value->is_array()) { return miss(key, "a list of maps"); }
        for (const json::value& item : value->get_array()) {
            if (!item.is_object()) { return miss(key, "a list of maps"); }
            out.push_back(part<T>(item.get_object()));
        }
    }
    template <Described T>
    void field(std::string_view key, std::map<std::string, T>& out) {
        const json::value* value = find(key);
        if (value == nullptr || !value->is_object()) { return miss(key, "a map of maps"); }
        for (const auto& [name, item] : value->get_object()) {
            if (!item.is_object()) { return miss(key, "a map of maps"); }
            out.emplace(name, part<T>(item.get_object()));
        }
    }
    template <Described T>
    T part(const json::object& object) {
        Reader inner(object, finds_unknown_);
        T out = inner.read<T>();
        if (problem_.empty()) { problem_ = inner.problem_; }
        if (unknown_.empty()) { unknown_ = inner.unknown_; }
        return out;
    }
    /// Looks first at the member that was found last, and at the one after it: members are written in the order in which a struct
    /// lists them.
    [[nodiscard]] const json::value* find(std::string_view key);
    [[nodiscard]] bool given(std::string_view key);
    [[nodiscard]] bool was_found(std::size_t place) const noexcept { return place < 64 && (found_ >> place & 1U) != 0; }
    void miss(std::string_view key, std::string_view wanted);
    void check_word(const Words& words);

    const json::object* object_;
    bool finds_unknown_;
    json::object::const_iterator last_;  ///< The member that was found last.
    std::uint64_t found_ = 0;            ///< A bit for each of the first 64 members that was found.
    std::string problem_;
    std::string unknown_;
};

/// True if the value is a map with the fields of `T` and no other.
template <Described T>
[[nodiscard]] bool is_one(const json::value& value) {
    if (!value.is_object()) { return false; }
    Reader reader(value.get_object(), true);
    (void)reader.read<T>();
    return reader.complete() && reader.unknown().empty();
}

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
