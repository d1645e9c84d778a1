// SPDX-License-Identifier: Apache-2.0
// Callbacks for boost::json::basic_parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <agentforge/json.hpp>

namespace agentforge::kernel {

/// Ignores everything. A handler derives from it and declares the callbacks that it needs, which hide these.
struct JsonHandler {
    static constexpr std::size_t max_object_size = json::object::max_size();
    static constexpr std::size_t max_array_size = json::array::max_size();
    static constexpr std::size_t max_key_size = json::string::max_size();
    static constexpr std::size_t max_string_size = json::string::max_size();
    using Error = json::error_code;

    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }
    bool on_object_begin(Error&) { return true; }
    bool on_object_end(std::size_t, Error&) { return true; }
    bool on_array_begin(Error&) { return true; }
    bool on_array_end(std::size_t, Error&) { return true; }
    bool on_key_part(std::string_view, std::size_t, Error&) { return true; }
    bool on_key(std::string_view, std::size_t, Error&) { return true; }
    bool on_string_part(std::string_view, std::size_t, Error&) { return true; }
    bool on_string(std::string_view, std::size_t, Error&) { return true; }
    bool on_number_part(std::string_view, Error&) { return true; }
    bool on_int64(std::int64_t, std::string_view, Error&) { return true; }
    bool on_uint64(std::uint64_t, std::string_view, Error&) { return true; }
    bool on_double(double, std::string_view, Error&) { return true; }
    bool on_bool(bool, Error&) { return true; }
    bool on_null(Error&) { return true; }
    bool on_comment_part(std::string_view, Error&) { return true; }
    bool on_comment(std::string_view, Error&) { return true; }
};

}  // namespace agentforge::kernel
