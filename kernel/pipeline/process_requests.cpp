// SPDX-License-Identifier: Apache-2.0
#include "pipeline/process_requests.hpp"

#include <filesystem>

#include "base/files.hpp"
#include "base/text.hpp"
#include "pipeline/pipeline_controller.hpp"

namespace agentforge::kernel {
namespace {

/// Second line of a pause request. Without it, the task pauses at once.
constexpr std::string_view after_step_line = "after the step";

std::filesystem::path abort_request_file(const TaskPaths& paths) { return paths.root / "abort.request"; }
std::filesystem::path pause_request_file(const TaskPaths& paths) { return paths.root / "pause.request"; }

bool is_there(const std::filesystem::path& file) {
    std::error_code error;
    return std::filesystem::exists(file, error);
}

std::string reason_in(const std::string& text) {
    std::string reason = first_line(text);
    return reason.empty() ? "at the request of another agentforge command" : reason;
}

void remove_file(const std::filesystem::path& file) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
}

}  // namespace

Result<void> request_abort(const TaskPaths& paths, std::string_view reason) {
    return create_file_exclusive(abort_request_file(paths), std::string(reason) + "\n", Durability::synced);
}

bool abort_requested(const TaskPaths& paths) { return is_there(abort_request_file(paths)); }
std::string abort_reason(const TaskPaths& paths) {
    const auto text = read_file(abort_request_file(paths), max_request_bytes);
    return text.ok() ? reason_in(*text) : reason_in("");
}

void remove_abort_request(const TaskPaths& paths) { remove_file(abort_request_file(paths)); }

Result<void> ask_to_pause(const TaskStore& store, std::string_view task_id, std::string_view reason, PauseWhen when) {
    const std::string text =
        first_line(reason) + "\n" + (when == PauseWhen::after_step ? std::string(after_step_line) + "\n" : "");
    return write_file_atomic(pause_request_file(store.paths(task_id)), text, Durability::synced);
}

std::optional<std::string> take_pause_request(const TaskPaths& paths) {
    if (!is_there(pause_request_file(paths))) { return std::nullopt; }
    const auto text = read_file(pause_request_file(paths), max_request_bytes);
    remove_file(pause_request_file(paths));
    return text.ok() ? reason_in(*text) : reason_in("");
}

void remove_pause_request(const TaskPaths& paths) { remove_file(pause_request_file(paths)); }

void forward_requests(const TaskPaths& paths, CancelToken& cancel) {
    if (cancel.requested()) { return; }
    if (abort_requested(paths)) { cancel.request(); }
    if (!is_there(pause_request_file(paths))) { return; }
    const auto text = read_file(pause_request_file(paths), max_request_bytes);
    if (!text.ok() || text->find("\n" + std::string(after_step_line) + "\n") == std::string::npos) {
        cancel.request();
    } else if (!cancel.finishing()) {
        cancel.request_at_step_end();
    }
}

}  // namespace agentforge::kernel
