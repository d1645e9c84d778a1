// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/sse.hpp>

namespace agentforge::http {

Result<bool> EventReader::feed(std::string_view part, const std::function<Result<bool>(const Event&)>& use) {
    while (!part.empty()) {
        if (after_cr_) {
            after_cr_ = false;
            if (part.front() == '\n') {
                part.remove_prefix(1);
                continue;
            }
        }
        const std::size_t end = part.find_first_of("\r\n");
        line_ += part.substr(0, end);
        if (line_.size() + event_.data.size() > max_event_bytes_) {
            return Error{"AF-LLM-412", "an event of the stream is longer than " + std::to_string(max_event_bytes_) + " bytes", "",
                         "Lower llm.max_output_tokens, or use a server that streams in small pieces.", ErrorKind::unavailable};
        }
        if (end == std::string_view::npos) { return true; }
        after_cr_ = part[end] == '\r';
        part.remove_prefix(end + 1);
        AF_TRY(const bool more, line(use));
        if (!more) { return false; }
    }
    return true;
}

Result<bool> EventReader::line(const std::function<Result<bool>(const Event&)>& use) {
    std::string_view text = line_;
    if (first_line_ && text.starts_with("\xEF\xBB\xBF")) { text.remove_prefix(3); }
    first_line_ = false;
    Result<bool> more = true;
    if (text.empty()) {
        const Event complete = std::exchange(event_, {});
        if (std::exchange(has_data_, false)) { more = use(complete); }
    } else if (text.front() != ':') {
        const std::size_t colon = text.find(':');
        const std::string_view field = text.substr(0, colon);
        std::string_view value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
        if (value.starts_with(' ')) { value.remove_prefix(1); }
        if (field == "data") {
            if (has_data_) { event_.data += '\n'; }
            event_.data += value;
            has_data_ = true;
        } else if (field == "event") {
            event_.type = value;
        }
    }
    line_.clear();
    return more;
}

}  // namespace agentforge::http
