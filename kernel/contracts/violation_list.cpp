// SPDX-License-Identifier: Apache-2.0
#include "contracts/violation_list.hpp"

#include "base/text.hpp"

namespace agentforge::kernel {

ArtifactPath ArtifactPath::field(std::string_view name) const {
    ArtifactPath inner;
    inner.pointer_ = pointer_ + "/" + pointer_token(name);
    inner.words_ = (words_.empty() ? "" : words_ + ".") + ellipsis(name, 80);
    return inner;
}

ArtifactPath ArtifactPath::item(std::size_t index) const {
    ArtifactPath inner;
    inner.pointer_ = pointer_ + "/" + std::to_string(index);
    inner.words_ = words_ + "[" + std::to_string(index) + "]";
    return inner;
}

void ViolationList::add(const ArtifactPath& path, std::string_view rule, std::string_view message) {
    if (violations_.size() >= max_violations) {
        ++more_;
        return;
    }
    auto text = ellipsis(message, max_violation_bytes);
    // Names come from the artifact. They must not control a terminal or break a line of the journal.
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20U || c == 0x7FU; }, ' ');
    violations_.push_back({path.pointer(), std::string(rule), std::move(text)});
}

ContractVerdict ViolationList::verdict() && {
    ContractVerdict verdict;
    verdict.violations = std::move(violations_);
    if (more_ > 0) {
        verdict.violations.push_back(
            {"", "more", std::to_string(more_) + (more_ == 1 ? " more rule is broken" : " more rules are broken")});
    }
    return verdict;
}

std::string_view kind_words(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return "null";
        case json::kind::bool_:
            return "a boolean";
        case json::kind::int64:
        case json::kind::uint64:
            return "an integer";
        case json::kind::double_:
            return "a number";
        case json::kind::string:
            return "a string";
        case json::kind::array:
            return "an array";
        case json::kind::object:
            return "an object";
    }
    return "a value";
}

std::string show(const json::value& value) {
    switch (value.kind()) {
        case json::kind::array:
            return "an array of " + std::to_string(value.get_array().size());
        case json::kind::object:
            return "an object of " + std::to_string(value.get_object().size()) + " fields";
        case json::kind::string: {
            const auto& text = value.get_string();
            return json::serialize(json::value(ellipsis(std::string_view(text.data(), text.size()), 80)));
        }
        default:
            return json::serialize(value);
    }
}

}  // namespace agentforge::kernel
