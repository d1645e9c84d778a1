// SPDX-License-Identifier: Apache-2.0
#include "task/projected_state.hpp"

#include <utility>

#include <boost/json/basic_parser_impl.hpp>

#include "base/files.hpp"
#include "base/json_handler.hpp"
#include "base/text.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t largest_state = 256ULL << 20U;

/// Takes the texts of a summary from the parser.
class SummaryReader : public JsonHandler {
public:
    ProjectedSummary read;
    bool is_object = false;

    bool on_object_begin(Error&) {
        is_object = is_object || depth_ == 0;
        return enter();
    }
    bool on_object_end(std::size_t, Error&) { return leave(); }
    bool on_array_begin(Error&) { return enter(); }
    bool on_array_end(std::size_t, Error&) { return leave(); }
    bool on_key_part(std::string_view part, std::size_t, Error&) {
        if (depth_ == 1) { key_ += part; }
        return true;
    }
    bool on_key(std::string_view part, std::size_t, Error&) {
        if (depth_ != 1) { return true; }
        key_ += part;
        target_ = field();
        is_seq_ = key_ == "seq";
        if (target_ != nullptr) { target_->clear(); }
        key_.clear();
        return true;
    }
    bool on_string_part(std::string_view part, std::size_t, Error&) {
        if (depth_ == 1 && target_ != nullptr) { *target_ += part; }
        return true;
    }
    bool on_string(std::string_view part, std::size_t size, Error& error) { return on_string_part(part, size, error); }
    bool on_int64(std::int64_t number, std::string_view, Error&) {
        if (depth_ == 1 && is_seq_) { read.seq = number < 0 ? 0 : static_cast<Sequence>(number); }
        return true;
    }

private:
    bool enter() {
        ++depth_;
        return true;
    }
    bool leave() {
        --depth_;
        return true;
    }
    std::string* field() {
        if (key_ == "task_id") { return &read.summary.task_id; }
        if (key_ == "request") { return &read.summary.request; }
        if (key_ == "status") { return &read.summary.status; }
        if (key_ == "pipeline") { return &read.summary.pipeline; }
        if (key_ == "current_stage") { return &read.summary.current_stage; }
        if (key_ == "created_at") { return &read.summary.created_at; }
        if (key_ == "updated_at") { return &read.summary.updated_at; }
        if (key_ == "waiting_for") { return &read.summary.waiting_for; }
        if (key_ == "hash") { return &read.hash; }
        return nullptr;
    }

    std::size_t depth_ = 0;
    std::string key_;
    std::string* target_ = nullptr;  ///< Of the last key.
    bool is_seq_ = false;            ///< True if the last key is `seq`.
};

}  // namespace

Result<json::object> read_state(const std::filesystem::path& path) {
    AF_TRY(const std::string bytes, read_file(path, largest_state));
    auto parsed = parse_json(bytes, path.string());
    if (parsed.ok() && parsed->is_object()) { return std::move(parsed->get_object()); }
    return Error{
        "AF-TASK-004",
        "Cannot read the state of the task" + (parsed.ok() ? std::string(": it is not a map") : ": " + parsed.error().message),
        parsed.ok() ? path.string() : parsed.error().where, "Resume the task: this rebuilds the state from the journal.",
        ErrorKind::corrupt};
}

Error state_of_another(const TaskPaths& place, std::string_view task_id, std::string_view named) {
    return Error{"AF-TASK-004",
                 "The state of the task '" + std::string(task_id) + "' names the task '" + ellipsis(named, 80) + "'",
                 place.root.string(), "Resume the task: this rebuilds the state from the journal.", ErrorKind::corrupt};
}

Result<ProjectedSummary> read_summary(const std::filesystem::path& path) {
    AF_TRY(const std::string bytes, read_file(path, largest_state));
    json::parse_options options;
    options.max_depth = 200;
    json::basic_parser<SummaryReader> parser(options);
    json::error_code error;
    const std::size_t used = parser.write_some(false, bytes.data(), bytes.size(), error);
    if (!error && parser.handler().is_object && bytes.find_first_not_of(" \t\r\n", used) == std::string::npos) {
        return std::move(parser.handler().read);
    }
    AF_CHECK(read_state(path));  // Returns an error with the place of the fault.
    return Error{"AF-TASK-004", "Cannot read the state of the task", path.string(),
                 "Resume the task: this rebuilds the state from the journal.", ErrorKind::corrupt};
}

}  // namespace agentforge::kernel
