// SPDX-License-Identifier: Apache-2.0
#include "records/records.hpp"

#include <charconv>
#include <functional>
#include <map>

#include "base/clock.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"

namespace agentforge::kernel::records {

const json::value* Reader::find(std::string_view key) {
    const auto end = object_->end();
    auto at = last_;
    if (at != end && at->key() != key) { ++at; }
    if (at == end || at->key() != key) { at = object_->find(key); }
    if (at == end) { return nullptr; }
    last_ = at;
    if (const auto place = at - object_->begin(); place < 64) { found_ |= std::uint64_t{1} << static_cast<unsigned>(place); }
    return &at->value();
}

bool Reader::given(std::string_view key) {
    const json::value* value = find(key);
    return value != nullptr && !value->is_null();
}

void Reader::miss(std::string_view key, std::string_view wanted) {
    if (problem_.empty()) { problem_ = "field `" + std::string(key) + "` must be " + std::string(wanted); }
}

void Reader::check_word(const Words& words) {
    const json::value* value = object_->if_contains(words.key);
    if (value == nullptr || !value->is_string() || value->get_string().empty()) { return; }
    const std::string_view word = value->get_string();
    std::string known;
    for (const std::string_view each : words.list) {
        if (each == word) { return; }
        if (!each.empty()) { known += (known.empty() ? "" : ", ") + std::string(each); }
    }
    miss(words.key, "one of " + known + ", but is '" + ellipsis(word, 60) + "'");
}

void Reader::field(std::string_view key, Kept& out) {
    if (const json::value* value = find(key)) {
        out.value = *value;
        return;
    }
    const std::string blob = std::string(key) + std::string(blob_ending);
    if (given(blob)) { field(blob, out.blob); }
}

void Reader::field(std::string_view key, std::string& out) {
    const json::value* value = find(key);
    if (value == nullptr || !value->is_string()) { return miss(key, "a string"); }
    out = value->get_string();
}

void Reader::field(std::string_view key, bool& out) {
    const json::value* value = find(key);
    if (value == nullptr || !value->is_bool()) { return miss(key, "true or false"); }
    out = value->get_bool();
}

void Reader::field(std::string_view key, std::uint64_t& out) {
    constexpr std::string_view wanted = "a whole number that is not negative";
    const json::value* value = find(key);
    if (value == nullptr) { return miss(key, wanted); }
    if (value->is_uint64()) {
        out = value->get_uint64();
    } else if (value->is_int64() && value->get_int64() >= 0) {
        out = static_cast<std::uint64_t>(value->get_int64());
    } else {
        miss(key, wanted);
    }
}

void Reader::field(std::string_view key, unsigned& out) {
    std::uint64_t number = 0;
    field(key, number);
    if (number > std::numeric_limits<unsigned>::max()) { return miss(key, "a whole number below 2^32"); }
    out = static_cast<unsigned>(number);
}

void Reader::field(std::string_view key, std::vector<std::string>& out) {
    const json::value* value = find(key);
    if (value == nullptr || !value->is_array()) { return miss(key, "a list of strings"); }
    for (const json::value& item : value->get_array()) {
        if (!item.is_string()) { return miss(key, "a list of strings"); }
        out.emplace_back(item.get_string());
    }
}

void Reader::field(std::string_view key, json::object& out) {
    const json::value* value = find(key);
    if (value == nullptr || !value->is_object()) { return miss(key, "a map"); }
    out = value->get_object();
}

void Reader::field(std::string_view key, json::array& out) {
    const json::value* value = find(key);
    if (value == nullptr || !value->is_array()) { return miss(key, "a list"); }
    out = value->get_array();
}

void Reader::field(std::string_view key, json::value& out) {
    const json::value* value = find(key);
    if (value == nullptr) { return miss(key, "present"); }
    out = *value;
}

void write_field(json::object& out, std::string_view key, const Kept& value) {
    if (value.value) {
        out[key] = *value.value;
    } else if (!value.blob.empty()) {
        out[std::string(key) + std::string(blob_ending)] = value.blob;
    }
}

void write_field(json::object& out, std::string_view key, const std::vector<std::string>& value) {
    out[key] = json::array(value.begin(), value.end());
}

namespace {

template <class T>
Body read_body(Reader& reader) {
    return reader.read<T, Envelope>();
}

using ReadBody = Body (*)(Reader&);

template <class... T>
std::map<std::string_view, ReadBody> readers(const std::variant<T...>*) {
    return {{T::type, &read_body<T>}...};
}

Error incomplete(const json::object& record, const std::string& problem) {
    return Error{"AF-TASK-012", "a journal record is incomplete: " + problem, place_of(record),
                 "another version of agentforge wrote it, or it was changed; use that version", ErrorKind::corrupt};
}

Error unknown_to_us(const json::object& record, const std::string& what) {
    return Error{"AF-TASK-011", "the journal contains " + what, place_of(record),
                 "a newer version of agentforge probably wrote it; use that version", ErrorKind::corrupt};
}

}  // namespace

std::string decision_of(const ApprovalDecided& decided) {
    if (!decided.decision->empty()) { return *decided.decision; }
    if (decided.approved) { return "approve"; }
    return decided.feedback->empty() ? "reject" : "revise";
}

std::optional<CallUsage> usage_of_old_step(const Step& step) {
    if (*step.input_tokens == 0 && *step.output_tokens == 0) { return std::nullopt; }
    CallUsage usage{.model = step.llm_call->model,
                    .input_tokens = *step.input_tokens,
                    .cached_input_tokens = 0,
                    .cache_write_input_tokens = 0,
                    .output_tokens = *step.output_tokens,
                    .cost_microusd = step.llm_call->cost_microusd,
                    .estimated = false};
    if (usage.cost_microusd) { usage.cost_from = cost_from_backend; }
    return usage;
}

std::uint64_t estimated_tokens(const Step& step) {
    const json::value* total = step.section_tokens->if_contains("total");
    return total != nullptr && total->is_number() ? total->to_number<std::uint64_t>() : 0;
}

std::string_view type_of(const Body& body) noexcept {
    return std::visit([](const auto& one) { return std::remove_cvref_t<decltype(one)>::type; }, body);
}

std::string target_in(const json::object& arguments) {
    constexpr std::size_t most_bytes = 300;
    for (const char* key : {"path", "file", "pattern", "command"}) {
        const std::string target = text_of(arguments, key);
        if (!target.empty()) { return ellipsis(target, most_bytes); }
    }
    return {};
}

std::string_view stage_of(const Body& body) noexcept {
    return std::visit(
        []<class T>(const T& one) -> std::string_view {
            if constexpr (requires { one.phase; }) {
                return one.phase;
            } else if constexpr (requires { *one.stage; }) {
                return *one.stage;
            } else if constexpr (requires { one.stage; }) {
                return one.stage;
            } else {
                return {};
            }
        },
        body);
}

json::object to_fields(const Body& body) {
    return std::visit([](const auto& one) { return to_fields(one); }, body);
}

Result<AnyRecord> read_record(const json::object& record) {
    static const std::map<std::string_view, ReadBody> of_type = readers(static_cast<const Body*>(nullptr));
    Reader reader(record, true);
    AnyRecord read{Envelope{}, TaskStarted{}};
    reader.read_into(read.envelope);
    if (!reader.complete()) { return incomplete(record, reader.problem()); }
    if (!parse_time(read.envelope.timestamp).ok()) {
        return incomplete(record,
                          "field `timestamp` must be a time (RFC 3339), but is '" + ellipsis(read.envelope.timestamp, 60) + "'");
    }
    const auto known = of_type.find(read.envelope.type);
    if (known == of_type.end()) {
        return unknown_to_us(record, "a record of the unknown type `" + ellipsis(read.envelope.type, 60) + "`");
    }
    read.body = known->second(reader);
    if (!reader.complete()) { return incomplete(record, reader.problem()); }
    if (const std::string& unknown = reader.unknown(); !unknown.empty()) {
        return unknown_to_us(record, "a record with the unknown field `" + ellipsis(unknown, 60) + "`");
    }
    return read;
}

namespace {

using EnvelopeMembers = boost::describe::describe_members<Envelope, boost::describe::mod_public>;
template <std::size_t Place>
constexpr std::string_view envelope_field = boost::mp11::mp_at_c<EnvelopeMembers, Place>::name;
// `outline_of_line` compares text with these names, in this order.
static_assert(envelope_field<0> == "seq" && envelope_field<1> == "step" && envelope_field<2> == "type");

}  // namespace

std::optional<LineOutline> outline_of_line(std::string_view line) {
    const auto skip = [&line](std::string_view text) {
        const bool there = line.starts_with(text);
        if (there) { line.remove_prefix(text.size()); }
        return there;
    };
    const auto number = [&line](std::uint64_t& value) {
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
        line.remove_prefix(static_cast<std::size_t>(end - line.data()));
        return error == std::errc();
    };
    LineOutline seen;
    if (!skip("- {\"seq\": ") || !number(seen.seq) || !skip(", \"step\": ") || !number(seen.step) || !skip(", \"type\": \"")) {
        return std::nullopt;
    }
    seen.type = line.substr(0, line.find('"'));
    return seen;
}

std::string place_of(const json::object& record) {
    std::string text = "actions.yaml";
    if (const json::value* seq = record.if_contains("seq"); seq != nullptr && seq->is_number()) {
        text += ", record " + json::serialize(*seq);
    }
    if (const json::value* type = record.if_contains("type"); type != nullptr && type->is_string()) {
        text += ", type " + std::string(type->get_string());
    }
    return text;
}

}  // namespace agentforge::kernel::records
