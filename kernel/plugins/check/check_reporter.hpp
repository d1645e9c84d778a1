// SPDX-License-Identifier: Apache-2.0
// What the child of `plugins check` reports to its parent: one JSON object a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/json.hpp>
#include <agentforge/result.hpp>

#include "plugins/check/check.hpp"

namespace agentforge::kernel {

/// What in the plugin a line is about. Empty parts do not apply.
struct CheckPlace {
    std::string object;  ///< ``tool `x` ``
    std::string method;
    std::string input;
};

/// Writes each line at once, because the next call may end the process. Ignores errors: a lost parent needs no report.
class CheckReporter {
public:
    /// `descriptor` must stay open as long as the reporter is used.
    explicit CheckReporter(int descriptor) : descriptor_(descriptor) {}

    void fact(std::string_view name, const json::value& value) const;
    /// A call begins. If no other line follows, it ended the process.
    void call_begins(std::uint64_t number, std::string_view step, const CheckPlace& place) const;
    void pass(std::string_view step, const CheckPlace& place, std::string_view message) const;
    void finding(std::string_view step, const CheckPlace& place, CheckStatus status, const Error& error,
                 std::string_view found = {}, std::string_view expected = {}) const;
    /// Reports that the call did not return in time. Does not allocate: the hung thread may hold the allocator's lock.
    void hang() const noexcept;
    /// The check is complete. `calls`: the number of calls that returned.
    void done(std::uint64_t calls) const;

private:
    void line(const json::object& record) const;
    void write_text(std::string_view text) const noexcept;

    int descriptor_;
};

}  // namespace agentforge::kernel
