// SPDX-License-Identifier: Apache-2.0
// Reads the fields of pipeline templates, and makes their errors.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

namespace agentforge::kernel {

/// `pointer`: the JSON pointer of the faulty part, which the caller resolves to a place in a file.
[[nodiscard]] Error pipeline_error(std::string_view code, std::string pointer, std::string message, std::string remedy);
/// Returns the error for a key whose value is not one of the words that it may have.
[[nodiscard]] Error unknown_word(const std::string& pointer, std::string_view key, std::string_view said,
                                 const std::vector<std::string>& words);
/// Returns the words with commas between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& words);

/// Reads the fields of one object strictly: each is requested once, and a field that was not requested is an error. A field that
/// is absent leaves its target unchanged.
class PipelineFields {
public:
    PipelineFields(const json::object& object, std::string pointer) : object_(object), pointer_(std::move(pointer)) {}

    void text(std::string_view key, std::string& into);
    /// Null reads as empty text.
    void text_or_null(std::string_view key, std::string& into);
    void boolean(std::string_view key, bool& into);
    void boolean(std::string_view key, std::optional<bool>& into);
    void number(std::string_view key, unsigned& into);
    /// `timeout_seconds` in files for people, `timeout_ms` in task.yaml.
    void timeout(std::chrono::milliseconds& into);
    void texts(std::string_view key, std::vector<std::string>& into);
    [[nodiscard]] const json::object* object(std::string_view key);
    [[nodiscard]] const json::array* array(std::string_view key);
    [[nodiscard]] bool has(std::string_view key) const { return object_.contains(key); }
    /// Returns the first error.
    [[nodiscard]] Result<void> finish();

private:
    const json::value* take(std::string_view key);
    void mismatch(std::string_view key, std::string_view expected);

    const json::object& object_;
    std::string pointer_;
    std::set<std::string, std::less<>> seen_;
    std::optional<Error> error_;
};

}  // namespace agentforge::kernel
