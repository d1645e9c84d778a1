// SPDX-License-Identifier: Apache-2.0
// Hides secrets in text: known values in all their forms first, then what the rules find.
//
// A secret becomes `[REDACTED:<name>:<8 hexadecimal digits>]`: the same value and form give the same placeholder in every run, so
// prompts stay the same bytes from step to step. The digits are a keyed hash. For known values the key is this installation's,
// since a password may be guessed; for what a rule finds it is a constant, so that a recorded run can be replayed elsewhere, and
// no key of those shapes can be guessed.
//
// What is hidden never leaves the process. The workspace puts it back (restore.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/events.hpp"
#include "secrets/rules.hpp"

namespace agentforge::kernel {

struct Secret {
    std::string name;  ///< What the user calls it: a variable, or `file:variable`.
    std::string value;
};

/// A placeholder and the text that it stands for.
struct Hidden {
    std::string placeholder;
    std::string text;
};

/// Immutable; any number of threads may use one. Cost: about a nanosecond a byte where there is nothing to hide.
class Redactor {
public:
    /// Hides nothing.
    Redactor();
    /// `rules` must be usable (check_secret_rules). `key`: this installation's, see redaction_key.
    Redactor(const std::vector<Secret>& known, const std::vector<SecretRule>& rules, std::string key);
    ~Redactor();
    Redactor(const Redactor&) = delete;
    Redactor& operator=(const Redactor&) = delete;

    /// The text without its secrets, or nothing where it has none. What was hidden is added to `hidden`, in the order of the
    /// text. Base64 that is broken into lines (MIME, PEM) is seen through. Redacting twice is redacting once. The number of lines
    /// stays.
    [[nodiscard]] std::optional<std::string> redacted(std::string_view text, std::vector<Hidden>* hidden = nullptr) const;
    [[nodiscard]] std::string redact(std::string text) const;
    /// All texts and keys inside. Git object ids and hashes of their own (40 or 64 hexadecimal digits, all of a text) stay,
    /// unless they are a known value.
    void redact(json::value& value) const;
    void redact(json::object& object) const;
    [[nodiscard]] Error redact(Error error) const;
    /// Whether there is anything to hide; a walk without copies.
    [[nodiscard]] bool finds(const json::value& value) const;
    /// As `redact`, for text that was cut before it came here: what may be part of a known value (6 bytes or more) at its end,
    /// and on either side of a line `[… N bytes left out …]`, goes, too.
    [[nodiscard]] std::string redact_cut(std::string text) const;

private:
    struct State;
    std::unique_ptr<const State> state_;
};

/// The redactor that hides nothing.
[[nodiscard]] const Redactor& nothing_hidden();

/// Passes on events without their secrets.
class RedactingSink final : public EventSink {
public:
    RedactingSink(const Redactor& redactor, EventSink& next) : redactor_(redactor), next_(next) {}
    void event(const Event& event) override;

private:
    const Redactor& redactor_;
    EventSink& next_;
};

}  // namespace agentforge::kernel
