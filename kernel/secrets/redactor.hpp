// SPDX-License-Identifier: Apache-2.0
// Hides secrets in text: first known values in all their forms, then the matches of the rules.
//
// A secret becomes `[REDACTED:<name>:<8 hexadecimal digits>]`. The same value and form give the same placeholder in every run, so
// prompts stay the same from step to step. The digits are a keyed hash. For known values the key belongs to this installation,
// because a password may be guessable. For matches of a rule it is a constant, so a recorded run can be replayed elsewhere; keys
// of those shapes cannot be guessed.
//
// Hidden text never leaves the process. The workspace restores it (restore.hpp).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "base/event_sink.hpp"
#include "secrets/rules.hpp"

namespace agentforge::kernel {

struct Secret {
    std::string name;  ///< The user's name for it: a variable, or `file:variable`.
    std::string value;
};

/// A placeholder and the text that it replaces.
struct Hidden {
    std::string placeholder;
    std::string text;
};

/// Immutable; any number of threads may use one. Cost: about a nanosecond a byte if there is nothing to hide.
class Redactor {
public:
    /// Hides nothing.
    Redactor();
    /// `rules` must be valid (check_secret_rules). `key`: this installation's, see redaction_key.
    Redactor(const std::vector<Secret>& known, const std::vector<SecretRule>& rules, std::string key);
    ~Redactor();
    Redactor(const Redactor&) = delete;
    Redactor& operator=(const Redactor&) = delete;

    /// Returns the text without its secrets, or nothing if it has none. Adds what was hidden to `hidden`, in text order. Also
    /// finds secrets in base64 that is broken into lines (MIME, PEM). Idempotent. Keeps the number of lines.
    [[nodiscard]] std::optional<std::string> redacted(std::string_view text, std::vector<Hidden>* hidden = nullptr) const;
    [[nodiscard]] std::string redact(std::string text) const;
    /// Redacts all texts and keys in the value. Keeps git object ids and hashes (a text of exactly 40 or 64 hexadecimal digits),
    /// unless they are a known value.
    void redact(json::value& value) const;
    void redact(json::object& object) const;
    [[nodiscard]] Error redact(Error error) const;
    /// True if there is something to hide. Walks the value without copying.
    [[nodiscard]] bool finds(const json::value& value) const;
    /// As `redact`, for text that was truncated before. Also hides possible parts of a known value (6 bytes or more) at the end
    /// of the text and on either side of a line `[… N bytes left out …]`.
    [[nodiscard]] std::string redact_cut(std::string text) const;

private:
    struct State;
    std::unique_ptr<const State> state_;
};

/// Returns the redactor that hides nothing.
[[nodiscard]] const Redactor& nothing_hidden();

/// Forwards events without their secrets.
class RedactingSink final : public EventSink {
public:
    RedactingSink(const Redactor& redactor, EventSink& next) : redactor_(redactor), next_(next) {}
    void event(const Event& event) override;

private:
    const Redactor& redactor_;
    EventSink& next_;
};

}  // namespace agentforge::kernel
