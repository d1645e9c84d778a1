// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/body.hpp>

#include <algorithm>
#include <charconv>

namespace agentforge::http {

namespace {

constexpr std::size_t longest_line = 16'384;

Error broken() {
    return {"AF-LLM-409", "the answer's chunks are broken", "", "A retry may succeed; otherwise check for a proxy in between.",
            ErrorKind::transient};
}

}  // namespace

bool BodyReader::whole() const {
    switch (framing_) {
        case Framing::length:
            return left_ == 0;
        case Framing::chunked:
            return expect_ == Expect::nothing;
        case Framing::until_close:
            break;
    }
    return false;
}

Result<void> BodyReader::feed(std::string_view part, std::string& body) {
    if (framing_ == Framing::until_close) {
        body += part;
        return {};
    }
    if (framing_ == Framing::length) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, part.size()));
        body += part.substr(0, size);
        left_ -= size;
        surplus_ = surplus_ || size < part.size();
        return {};
    }
    while (!part.empty() && expect_ != Expect::nothing) {
        if (expect_ == Expect::data) {
            const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, part.size()));
            body += part.substr(0, size);
            part.remove_prefix(size);
            left_ -= size;
            if (left_ == 0) { expect_ = Expect::data_end; }
            continue;
        }
        const std::size_t end = part.find('\n');
        line_ += part.substr(0, end);
        if (line_.size() > longest_line) { return broken(); }
        if (end == std::string_view::npos) { return {}; }
        part.remove_prefix(end + 1);
        if (line_.ends_with('\r')) { line_.pop_back(); }
        const std::string line = std::exchange(line_, {});
        if (expect_ == Expect::size) {
            const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), left_, 16);
            const bool clean = stop == line.data() + line.size() || *stop == ';' || *stop == ' ' || *stop == '\t';
            if (error != std::errc() || !clean) { return broken(); }
            expect_ = left_ == 0 ? Expect::trailer : Expect::data;
        } else if (expect_ == Expect::data_end) {
            if (!line.empty()) { return broken(); }
            expect_ = Expect::size;
        } else if (line.empty()) {
            expect_ = Expect::nothing;
        }
    }
    surplus_ = surplus_ || !part.empty();
    return {};
}

}  // namespace agentforge::http
