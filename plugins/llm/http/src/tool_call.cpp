// SPDX-License-Identifier: Apache-2.0
#include <agentforge_http/tool_call.hpp>

#include <agentforge_http/refusal.hpp>

namespace agentforge::http {

namespace {

json::value parse(std::string_view text, boost::system::error_code& failed) {
    json::parse_options options;
    options.allow_invalid_utf8 = true;
    options.max_depth = 64;
    return json::parse(text, failed, {}, options);
}

}  // namespace

Result<json::object> read_object(std::string_view text, std::string_view what) {
    boost::system::error_code failed;
    json::value value = parse(text, failed);
    if (failed || !value.is_object()) {
        return Error{
            "AF-LLM-408",
            std::string(what) + " is not a JSON object: " + (text.empty() ? std::string("it is empty") : excerpt(text, 200)), "",
            "A retry may succeed; otherwise check llm.base_url.", ErrorKind::transient};
    }
    return std::move(value.get_object());
}

Result<void> take_calls(std::vector<CallPieces> pieces, Completion& completion) {
    for (CallPieces& piece : pieces) {
        boost::system::error_code failed;
        const bool none = piece.arguments.find_first_not_of(" \t\r\n") == std::string::npos;
        json::value value = none ? json::value(json::object()) : parse(piece.arguments, failed);
        if (failed || !value.is_object()) {
            if (completion.stop_reason != StopReason::length) {
                return Error{"AF-LLM-105",
                             "the call of '" + excerpt(piece.name, 80) +
                                 "' was not carried out: its arguments are not a JSON object" +
                                 (failed ? " (" + failed.message() + ")" : "") + ": " + excerpt(piece.arguments, 160),
                             "", "Call it again; escape line ends and quotes inside texts.", ErrorKind::invalid};
            }
            value = json::object();
        }
        completion.tool_calls.push_back({std::move(piece.name), std::move(value.get_object())});
    }
    return {};
}

std::uint64_t count_of(const json::object& object, std::string_view key) {
    const json::value* const value = object.if_contains(key);
    if (value == nullptr) { return 0; }
    if (value->is_uint64()) { return value->get_uint64(); }
    return value->is_int64() && value->get_int64() > 0 ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

const json::object* object_of(const json::object& object, std::string_view key) {
    const json::value* const value = object.if_contains(key);
    return value == nullptr ? nullptr : value->if_object();
}

}  // namespace agentforge::http
