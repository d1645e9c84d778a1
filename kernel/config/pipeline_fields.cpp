// SPDX-License-Identifier: Apache-2.0
#include "config/pipeline_fields.hpp"

#include <utility>

#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

std::optional<std::uint64_t> integer(const json::value& value) {
    if (value.is_uint64()) { return value.get_uint64(); }
    if (value.is_int64() && value.get_int64() >= 0) { return static_cast<std::uint64_t>(value.get_int64()); }
    return std::nullopt;
}

}  // namespace

Error pipeline_error(std::string_view code, std::string pointer, std::string message, std::string remedy) {
    return Error{std::string(code), std::move(message), std::move(pointer), std::move(remedy), ErrorKind::invalid};
}

std::string joined(const std::vector<std::string>& words) {
    std::string all;
    for (const std::string& word : words) { all += (all.empty() ? "" : ", ") + word; }
    return all;
}

Error unknown_word(const std::string& pointer, std::string_view key, std::string_view said,
                   const std::vector<std::string>& words) {
    const auto near = nearest(said, words);
    return pipeline_error("AF-PIPE-001", pointer,
                          "`" + std::string(key) + "` is `" + ellipsis(said, 60) + "`, which does not exist",
                          near.empty() ? "Write one of " + joined(words) + "." : "Did you mean `" + near + "`?");
}

void PipelineFields::text(std::string_view key, std::string& into) {
    if (const auto* value = take(key)) {
        if (value->is_string()) {
            into = view(value->get_string());
        } else {
            mismatch(key, "a string");
        }
    }
}

void PipelineFields::text_or_null(std::string_view key, std::string& into) {
    if (const auto* value = object_.if_contains(key); value != nullptr && value->is_null()) {
        seen_.emplace(key);
        into.clear();
        return;
    }
    text(key, into);
}

void PipelineFields::boolean(std::string_view key, bool& into) {
    if (const auto* value = take(key)) {
        if (value->is_bool()) {
            into = value->get_bool();
        } else {
            mismatch(key, "true or false");
        }
    }
}

void PipelineFields::boolean(std::string_view key, std::optional<bool>& into) {
    bool value = false;
    if (!object_.contains(key)) { return; }
    boolean(key, value);
    into = value;
}

void PipelineFields::number(std::string_view key, unsigned& into) {
    if (const auto* value = take(key)) {
        const auto count = integer(*value);
        if (count && *count <= 1'000'000) {
            into = static_cast<unsigned>(*count);
        } else {
            mismatch(key, "a whole number from 0 to 1000000");
        }
    }
}

void PipelineFields::timeout(std::chrono::milliseconds& into) {
    if (const auto* value = take("timeout_seconds")) {
        const auto count = integer(*value);
        if (count && *count <= 604'800) {
            into = std::chrono::seconds(*count);
        } else {
            mismatch("timeout_seconds", "a whole number of seconds, at most 604800");
        }
    }
    if (const auto* value = take("timeout_ms")) {
        const auto count = integer(*value);
        if (count && *count <= 604'800'000) {
            into = std::chrono::milliseconds(*count);
        } else {
            mismatch("timeout_ms", "a whole number of milliseconds, at most 604800000");
        }
    }
}

void PipelineFields::texts(std::string_view key, std::vector<std::string>& into) {
    const auto* value = take(key);
    if (value == nullptr) { return; }
    into.clear();
    if (!value->is_array()) {
        mismatch(key, "a list of strings");
        return;
    }
    for (const auto& item : value->get_array()) {
        if (!item.is_string()) {
            mismatch(key, "a list of strings");
            return;
        }
        into.emplace_back(view(item.get_string()));
    }
}

const json::object* PipelineFields::object(std::string_view key) {
    const auto* value = take(key);
    if (value == nullptr) { return nullptr; }
    if (!value->is_object()) {
        mismatch(key, "a map");
        return nullptr;
    }
    return &value->get_object();
}

const json::array* PipelineFields::array(std::string_view key) {
    const auto* value = take(key);
    if (value == nullptr) { return nullptr; }
    if (!value->is_array()) {
        mismatch(key, "a list");
        return nullptr;
    }
    return &value->get_array();
}

Result<void> PipelineFields::finish() {
    if (error_) { return *error_; }
    for (const auto& [key, value] : object_) {
        const std::string_view name(key.data(), key.size());
        if (!seen_.contains(name)) {
            const auto near = nearest(name, {seen_.begin(), seen_.end()});
            return pipeline_error("AF-PIPE-001", pointer_ + "/" + std::string(name),
                                  "`" + ellipsis(name, 60) + "` is not a field of a pipeline here",
                                  near.empty() ? "Remove it." : "Did you mean `" + near + "`?");
        }
    }
    return {};
}

const json::value* PipelineFields::take(std::string_view key) {
    seen_.emplace(key);
    return object_.if_contains(key);
}

void PipelineFields::mismatch(std::string_view key, std::string_view expected) {
    if (!error_) {
        error_ = pipeline_error("AF-PIPE-001", pointer_ + "/" + std::string(key), "`" + std::string(key) + "` has a wrong value",
                                "It must be " + std::string(expected) + ".");
    }
}

}  // namespace agentforge::kernel
