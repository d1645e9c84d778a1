// SPDX-License-Identifier: Apache-2.0
// Finds in a request what it asks to remove, what to make, and what to keep.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agentforge::kernel {

/// What a request to remove something asks to make as well: "and add initials()".
struct Making {
    std::string verb;             ///< In lower case.
    std::set<std::string> words;  ///< Parts of the words after it, in lower case.
    std::set<std::string> calls;  ///< The names written as calls.
};

/// The words of a request to remove something. Understands English only.
///
/// A request may also say what stays: "but keep the error", "without touching save", ", not load", "unknown names are still an
/// error". A word that occurs only in such a clause is *kept*. All functions except `is_kept` ignore these clauses.
class RemovalRequest {
public:
    explicit RemovalRequest(std::string_view request);

    /// True if the request begins with remove, delete or drop. Otherwise everything that it mentions counts as its object.
    [[nodiscard]] bool removes() const noexcept { return removes_; }
    /// True if the request asks for shorter code with the same behaviour: simplify, clean up, deduplicate.
    [[nodiscard]] bool tidies() const noexcept { return tidies_; }
    /// True if the request is about tests, or about text that does not run: comments, documentation, a licence.
    [[nodiscard]] bool is_about_text() const noexcept { return about_text_; }
    /// True if the request says that nothing uses what it names: dead, unused, duplicate code. Then no test can notice.
    [[nodiscard]] bool calls_it_unused() const noexcept { return unused_; }
    /// What the request asks to make as well.
    [[nodiscard]] const std::vector<Making>& also_makes() const noexcept { return makes_; }
    /// True if the request has this word, in any of its usual forms (`print` for "prints").
    [[nodiscard]] bool mentions(std::string_view word) const;
    /// True if this word is part of what the request asks to remove: in "Remove the debug print from load", `debug` and `print`.
    [[nodiscard]] bool is_object(std::string_view word) const;
    /// True if the request says that this stays.
    [[nodiscard]] bool is_kept(std::string_view word) const;
    /// True if the request has exactly this name.
    [[nodiscard]] bool names(const std::string& name) const { return names_.contains(name); }

private:
    bool removes_ = false;
    bool tidies_ = false;
    bool about_text_ = false;
    bool unused_ = false;
    std::vector<Making> makes_;
    std::set<std::string> words_;
    std::set<std::string> object_;
    std::set<std::string> kept_;
    std::set<std::string> names_;
};

/// Returns the parts of a name in lower case: `max`, `items` for `maxItems` and `MAX_ITEMS`.
[[nodiscard]] std::vector<std::string> parts_of_name(std::string_view name);

}  // namespace agentforge::kernel
