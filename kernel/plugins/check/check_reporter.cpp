// SPDX-License-Identifier: Apache-2.0
#include "plugins/check/check_reporter.hpp"

#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

void CheckReporter::fact(std::string_view name, const json::value& value) const { line({{"r", "fact"}, {name, value}}); }

void CheckReporter::call_begins(std::uint64_t number, std::string_view step, const CheckPlace& place) const {
    line(
        {{"r", "at"}, {"n", number}, {"step", step}, {"object", place.object}, {"method", place.method}, {"input", place.input}});
}

void CheckReporter::pass(std::string_view step, const CheckPlace& place, std::string_view message) const {
    line({{"r", "pass"}, {"step", step}, {"object", place.object}, {"message", message}});
}

void CheckReporter::finding(std::string_view step, const CheckPlace& place, CheckStatus status, const Error& error,
                            std::string_view found, std::string_view expected) const {
    line({{"r", "finding"},
          {"step", step},
          {"status", to_string(status)},
          {"object", place.object},
          {"method", place.method},
          {"input", place.input},
          {"code", error.code},
          {"message", ellipsis(sanitize_utf8(error.message), 2000)},
          {"where", ellipsis(sanitize_utf8(error.where), 500)},
          {"remedy", error.remedy},
          {"found", ellipsis(sanitize_utf8(found), 500)},
          {"expected", expected}});
}

void CheckReporter::hang() const noexcept { write_text("{\"r\":\"hang\"}\n"); }

void CheckReporter::done(std::uint64_t calls) const { line({{"r", "done"}, {"calls", calls}}); }

void CheckReporter::line(const json::object& record) const { write_text(to_json_line(record) + "\n"); }

void CheckReporter::write_text(std::string_view text) const noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written < 0 && errno == EINTR) { continue; }
        if (written <= 0) { return; }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace agentforge::kernel
