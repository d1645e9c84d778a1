// SPDX-License-Identifier: Apache-2.0
// The body of an HTTP/1.1 answer, taken out of its frame (RFC 9112, sections 6 and 7) in pieces of any size. Poco's own
// streams end a body that was cut off like a whole one; this one knows the difference.
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

    /// Appends to `body` what `part` holds of it. Errors (`transient`, AF-LLM-409): a chunk's size that is none.
    [[nodiscard]] Result<void> feed(std::string_view part, std::string& body);
    /// Nothing more belongs to the body. Never for `until_close`.
    [[nodiscard]] bool whole() const;
    /// More came than belongs to the body: the connection is good for nothing else.
    [[nodiscard]] bool surplus() const { return surplus_; }
    /// Whether the connection may end here.
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
