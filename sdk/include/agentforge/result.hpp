// SPDX-License-Identifier: Apache-2.0
// Errors are values: everything that can fail across the SDK returns a Result.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace agentforge {

/// The kind of a failure. It tells the caller what it may do next.
enum class ErrorKind : unsigned char {
    invalid = 1,  ///< The input breaks a rule. The same call fails again.
    not_found,    ///< A named object does not exist.
    denied,       ///< A policy forbids it.
    conflict,     ///< It already exists, or was changed concurrently.
    io,           ///< The operating system refused.
    timeout,      ///< A deadline passed.
    cancelled,    ///< The caller cancelled the call.
    transient,    ///< A retry may succeed (network, overload).
    unavailable,  ///< A required program, plugin, feature or person is missing.
    corrupt,      ///< Stored data does not verify.
    internal      ///< The program broke one of its own promises: a defect to report.
};

/// One failure, complete enough to show to a person as it is.
///
/// `code` is stable (`AF-<AREA>-<NNN>`, listed in docs/errors.md). `message` says in one sentence what happened. `where` names
/// file, line and field, if there are any. `remedy` says in one sentence what to do.
struct Error {
    std::string code;
    std::string message;
    std::string where;
    std::string remedy;
    ErrorKind kind = ErrorKind::invalid;

    /// Formats the error as `AF-X-001: message (where). remedy`.
    [[nodiscard]] std::string to_string() const {
        std::string text = code + ": " + message;
        if (!where.empty()) { text += " (" + where + ")"; }
        if (!remedy.empty()) { text += "\n  " + remedy; }
        return text;
    }
};

/// A value or an Error. Reading the one that it does not hold is a defect and aborts with a message.
template <class T>
class [[nodiscard]] Result {
public:
    using value_type = T;

    template <class U = T>
    requires(std::is_constructible_v<T, U&&> && !std::is_same_v<std::remove_cvref_t<U>, Result> &&
             !std::is_same_v<std::remove_cvref_t<U>, Error>) Result(U&& value)
        : state_(std::in_place_index<0>, std::forward<U>(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] T& value() & {
        require(0);
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] const T& value() const& {
        require(0);
        return *std::get_if<0>(&state_);
    }
    [[nodiscard]] T&& value() && {
        require(0);
        return std::move(*std::get_if<0>(&state_));
    }
    [[nodiscard]] Error& error() & {
        require(1);
        return *std::get_if<1>(&state_);
    }
    [[nodiscard]] const Error& error() const& {
        require(1);
        return *std::get_if<1>(&state_);
    }
    [[nodiscard]] Error&& error() && {
        require(1);
        return std::move(*std::get_if<1>(&state_));
    }

    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    [[nodiscard]] T value_or(T fallback) && { return ok() ? std::move(*std::get_if<0>(&state_)) : std::move(fallback); }

private:
    void require(std::size_t index) const {
        if (state_.index() == index) { return; }
        if (index == 0) {
            std::fprintf(stderr, "agentforge: the value of a failed Result was read: %s\n",
                         std::get_if<1>(&state_)->to_string().c_str());
        } else {
            std::fputs("agentforge: the error of a successful Result was read\n", stderr);
        }
        std::abort();
    }

    std::variant<T, Error> state_;
};

/// Success without a value, or an Error.
template <>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;

    Result() = default;
    Result(Error error) : error_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const noexcept { return error_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }

    [[nodiscard]] const Error& error() const& {
        require();
        return *std::get_if<1>(&error_);
    }
    [[nodiscard]] Error&& error() && {
        require();
        return std::move(*std::get_if<1>(&error_));
    }

private:
    void require() const {
        if (error_.index() == 1) { return; }
        std::fputs("agentforge: the error of a successful Result was read\n", stderr);
        std::abort();
    }

    std::variant<std::monostate, Error> error_;
};

}  // namespace agentforge

#define AGENTFORGE_CONCAT_INNER(a, b) a##b
#define AGENTFORGE_CONCAT(a, b) AGENTFORGE_CONCAT_INNER(a, b)

/// `AF_TRY(auto value, expression);` declares `value` from the Result, or returns the error.
#define AF_TRY(declaration, expression) AF_TRY_IMPL(AGENTFORGE_CONCAT(af_result_, __LINE__), declaration, expression)
#define AF_TRY_IMPL(result, declaration, expression)        \
    auto result = (expression);                             \
    if (!result.ok()) { return std::move(result).error(); } \
    declaration = std::move(result).value()

/// Returns the error of a Result whose value is not needed.
#define AF_CHECK(expression)                                                                            \
    do {                                                                                                \
        if (auto af_checked = (expression); !af_checked.ok()) { return std::move(af_checked).error(); } \
    } while (false)
