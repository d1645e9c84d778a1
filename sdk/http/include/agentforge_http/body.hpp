// SPDX-License-Identifier: Apache-2.0
// Decodes the body of an HTTP/1.1 answer (RFC 9112, sections 6 and 7) that arrives in pieces of any size. Poco's own streams
// cannot tell a truncated body from a complete one; this decoder can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <agentforge/result.hpp>

namespace agentforge::http {

enum class Framing : unsigned char { length = 1, chunked, until_close };

class BodyReader {
public:
    explicit BodyReader(Framing framing, std::uint64_t length = 0) : framing_(framing), left_(length) {}

    /// Appends to `body` what `part` holds of it. Errors (`transient`, AF-LLM-409): an invalid chunk size.
    [[nodiscard]] Result<void> feed(std::string_view part, std::string& body);
    /// True if the body is complete. Never true for `until_close`.
    [[nodiscard]] bool whole() const;
    /// True if bytes follow the body. The connection cannot be used again.
    [[nodiscard]] bool surplus() const { return surplus_; }
    /// True if the connection may end here.
    [[nodiscard]] bool may_end() const { return framing_ == Framing::until_close || whole(); }

private:
    enum class Expect : unsigned char { size = 1, data, data_end, trailer, nothing };

    Framing framing_;
    std::uint64_t left_;
    Expect expect_ = Expect::size;
    std::string line_;
    bool surplus_ = false;
};

}  // namespace agentforge::http
