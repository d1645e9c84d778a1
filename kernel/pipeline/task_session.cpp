// SPDX-License-Identifier: Apache-2.0
#include "pipeline/task_session.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <agentforge/artifact.hpp>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "journal/journal_tail.hpp"
#include "task/artifact_files.hpp"
#include "task/journal_fold.hpp"

namespace agentforge::kernel {

namespace {

template <class... T>
bool is_any_of(const records::Body& body) {
    return (std::holds_alternative<T>(body) || ...);
}

/// Records of host calls and answers change nothing in the projections. A gate's record is followed by one of the step or stage
/// that ran it. These are half of the records in the demo.
bool is_shown(const records::Body& body) {
    return !is_any_of<records::CallStarted, records::CallFinished, records::Answer, records::Gate, records::Note,
                      records::Plugins>(body);
}

/// The longest time that the projections may lag. Each update writes two new files, and if a model replays its answers, records
/// follow within milliseconds.
constexpr std::chrono::milliseconds projection_interval{100};

/// A value up to this size is stored in the record itself, because each blob costs a sync.
constexpr std::size_t largest_inside = 4096;

/// The chain covers task.yaml, which holds the settings in force and never changes.
Result<json::object> header_of(const TaskPaths& paths, const json::object& task, Clock& clock) {
    AF_TRY(const std::string file, read_file(paths.task()));
    return json::object{{"task_id", task.at("task_id")},
                        {"request", task.at("request")},
                        {"started_at", format_time(clock.now())},
                        {"pipeline", task.at("pipeline")},
                        {"task_sha256", sha256(file)}};
}

/// Returns the number in a name such as `step_012.patch`.
std::optional<std::uint64_t> number_in(std::string_view name, std::string_view before) {
    if (!name.starts_with(before) || !name.ends_with(".patch")) { return std::nullopt; }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(name.data() + before.size(), name.data() + name.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

/// Hard-links the patches named by the records up to step `steps`, record `seq`, so that they outlive the other task's folder.
Result<void> share_patches(const TaskPaths& parent, const TaskPaths& child, std::uint64_t steps, Sequence seq) {
    AF_CHECK(make_directories(child.snapshots()));
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(parent.snapshots(), error)) {
        const std::string name = entry.path().filename().string();
        const auto step = number_in(name, "step_");
        const auto handed_back = number_in(name, "handed_back_");
        if (!(step && *step <= steps) && !(handed_back && *handed_back <= seq)) { continue; }
        const std::filesystem::path file = child.snapshots() / name;
        std::filesystem::create_hard_link(entry.path(), file, error);
        if (error) { std::filesystem::copy_file(entry.path(), file, error); }
        if (error) {
            return Error{"AF-ORCH-081", "The patch of a step could not be shared: " + error.message(), file.string(),
                         "Check for free disk space", ErrorKind::io};
        }
    }
    return {};
}

/// True if this machine wrote the journal up to `record` (null: all of it): it leads without a gap to a record that OwnJournal
/// names. Errors: AF-TASK-018.
Result<bool> wrote_up_to(const TaskStore& store, const TaskPaths& task, const Record* record) {
    const OwnJournal own(store.own_journals(), task.root);
    const auto files = Journal::files(task.journal());
    if (!files.ok()) { return false; }
    // An offset in a journal that this one continues is not one in its own file.
    JournalOffset at = record != nullptr && files->size() == 1 ? record->at : 0;
    std::string first = record != nullptr ? record->hash : std::string();  // Of the next record to read. Empty: any.
    // The task may be running: then its note is about a later record than the last one that was read.
    for (;;) {
        std::string head;
        bool is_whole = true;
        JournalOffset end = 0;
        const auto read = JournalTail::read_from(task.journal(), at, [&](const Record& next) {
            if (record != nullptr && next.seq < record->seq) { return true; }
            // From the first record on, the journal verifies the links itself.
            is_whole = head.empty() ? first.empty() || next.hash == first : at == 0 || next.previous() == head;
            head = next.hash;
            end = next.at;
            return is_whole;
        });
        if (!read.ok() || !is_whole || head.empty()) { return false; }
        AF_TRY(const bool is_own, own.has_written(head));
        if (is_own) { return true; }
        const bool is_at_its_end = end == at || end == 0;
        if (is_at_its_end) { return false; }
        at = end;
        first = head;
    }
}

JournalDisk& disk_of(const TaskStore& store) {
    return store.durability() == Durability::synced ? JournalDisk::system() : JournalDisk::unsynced();
}

}  // namespace

TaskSession::TaskSession(TaskStore& store, TaskPaths paths, std::optional<TaskLock> lock, Journal journal, Clock& clock,
                         const Redactor& redactor)
    : store_(store),
      paths_(std::move(paths)),
      lock_(std::move(lock)),
      journal_(std::move(journal)),
      own_journal_(store.own_journals(), paths_.root, store.durability()),
      blobs_(paths_.blobs(), store.durability()),
      clock_(clock),
      redactor_(redactor),
      steps_(paths_.journal()) {
    journal_.before_append([this](std::string_view head, std::string_view next) {
        return is_own_ ? own_journal_.note(head, next) : Result<void>();
    });
}

Result<void> TaskSession::adopt() {
    const std::string& head = journal_.head().hash;
    AF_CHECK(own_journal_.note(head, head));
    is_own_ = true;
    return {};
}

Result<void> TaskSession::repeats(std::string_view other) {
    AF_TRY(const bool is_own, wrote_up_to(store_, store_.paths(other), nullptr));
    is_own_ = is_own_ && is_own;
    return {};
}

Result<std::unique_ptr<TaskSession>> TaskSession::make(
    TaskStore& store, const json::object& task,
    const std::function<Result<std::unique_ptr<TaskSession>>(const TaskPaths& paths)>& begin) {
    const std::string task_id(task.at("task_id").as_string());
    AF_TRY(const TaskPaths paths, store.create(task_id, task));
    auto session = begin(paths);
    // The task is not visible yet, and could never continue without its first record.
    if (!session.ok()) {
        const std::filesystem::path away = store.place_of_removed(task_id);  // Atomic: no listing shows half a task.
        std::error_code error;
        std::filesystem::rename(paths.root, away, error);
        std::filesystem::remove_all(away, error);
    }
    return session;
}

Result<std::unique_ptr<TaskSession>> TaskSession::create(TaskStore& store, const json::object& given,
                                                         const records::TaskCreated& created, Clock& clock,
                                                         std::string_view command, const Redactor& redactor,
                                                         const std::function<Result<void>(TaskSession&)>& begin) {
    json::object task = given;
    redactor.redact(task);
    return make(store, task, [&](const TaskPaths& paths) -> Result<std::unique_ptr<TaskSession>> {
        AF_TRY(TaskLock lock, TaskLock::acquire(paths, command, format_time(clock.now())));
        AF_TRY(const json::object header, header_of(paths, task, clock));
        AF_TRY(Journal journal, Journal::create(paths.journal(), header, disk_of(store)));
        std::unique_ptr<TaskSession> session(new TaskSession(store, paths, std::move(lock), std::move(journal), clock, redactor));
        session->is_own_ = true;
        AF_CHECK(session->record(created));
        if (begin) { AF_CHECK(begin(*session)); }
        return session;
    });
}

Result<std::unique_ptr<TaskSession>> TaskSession::fork(TaskStore& store, const ForkPoint& from, const json::object& given,
                                                       Clock& clock, std::string_view command, const Redactor& redactor) {
    json::object task = given;
    redactor.redact(task);
    return make(store, task, [&](const TaskPaths& paths) -> Result<std::unique_ptr<TaskSession>> {
        AF_TRY(TaskLock lock, TaskLock::acquire(paths, command, format_time(clock.now())));
        const TaskPaths parent = from.store.paths(from.parent);
        AF_CHECK(Journal::share_history(parent.journal(), from.parent, paths.journal()));
        AF_CHECK(BlobStore::share(parent.blobs(), from.parent, paths.blobs()));
        AF_TRY(json::object header, header_of(paths, task, clock));
        header["forked_from"] =
            json::object{{"task", from.parent}, {"seq", static_cast<std::int64_t>(from.record.seq)}, {"hash", from.record.hash}};
        AF_CHECK(Journal::create_file(paths.journal(), header));
        AF_TRY(auto session, fold_into_session(store, paths, std::move(lock), clock, redactor, {}));
        AF_TRY(session->is_own_, wrote_up_to(from.store, parent, &from.record));
        AF_CHECK(session->record(
            records::Forked{std::string(task.at("task_id").as_string()), session->state_.task_id, session->state_.steps}));
        AF_CHECK(session->write_artifacts());
        AF_CHECK(share_patches(parent, paths, session->state_.steps, from.record.seq));
        return session;
    });
}

Result<void> TaskSession::write_artifacts() const {
    return write_artifacts([](const std::filesystem::path&) { return true; });
}

Result<void> TaskSession::write_missing_artifacts() const {
    return write_artifacts([](const std::filesystem::path& file) {
        std::error_code error;
        return std::filesystem::symlink_status(file, error).type() == std::filesystem::file_type::not_found;
    });
}

Result<void> TaskSession::write_artifacts(const std::function<bool(const std::filesystem::path& file)>& wanted) const {
    for (const auto& [contract, input] : state_.external_inputs) {
        if (!wanted(paths_.root / input.artifact)) { continue; }
        AF_TRY(auto data, artifact_in(input.hash, input.artifact));
        const std::filesystem::path file = paths_.root / input.artifact;
        AF_CHECK(make_directories(file.parent_path()));
        AF_CHECK(save_artifact(file, *data));
    }
    for (std::size_t index = 0; index < state_.stages.size(); ++index) {
        const StageState& stage = state_.stages[index];
        if (stage.artifact.empty()) { continue; }
        const auto save = [&](const std::string& name, const std::string& contract, std::optional<json::object> data,
                              const std::string& time) -> Result<void> {
            if (!data) { return {}; }
            StageArtifact envelope;
            envelope.stage_name = stage.name;
            envelope.artifact_type = contract;
            envelope.created_at = time;
            envelope.data = std::move(*data);
            envelope.metadata = {{"task_id", state_.task_id}};
            const std::filesystem::path file = paths_.root / name;
            AF_CHECK(make_directories(file.parent_path()));
            return save_artifact(file, envelope.to_json());
        };
        const std::string& contract = state_.pipeline.stages[index].contract;
        if (wanted(paths_.root / stage.artifact)) {
            AF_TRY(auto data, artifact(stage.name));
            const std::string& shown = stage.history.empty() ? stage.completed_at : stage.history.back().presented_at;
            AF_CHECK(save(stage.artifact, contract, std::move(data), shown.empty() ? state_.created_at : shown));
        }
        for (const auto& [name, shown] : version_files(state_, stage)) {
            if (!wanted(paths_.root / name)) { continue; }
            AF_TRY(auto data, artifact_in(shown.artifact_hash, name));
            AF_CHECK(save(name, contract, std::move(data), shown.presented_at));
        }
        for (const auto& [name, review] : stage.review_files) {
            if (!wanted(paths_.root / name)) { continue; }
            AF_TRY(auto data, artifact_in(review.artifact_hash, name));
            AF_CHECK(save(name, std::filesystem::path(name).stem().string(), std::move(data), review.finished_at));
        }
    }
    return {};
}

Result<std::unique_ptr<TaskSession>> TaskSession::open(TaskStore& store, std::string_view task_id, Clock& clock,
                                                       std::string_view command, const Redactor& redactor, RequestFile needs) {
    TaskPaths paths = store.paths(task_id);
    std::error_code error;
    const bool may_lack_file = needs == RequestFile::if_there && std::filesystem::is_directory(paths.root, error);
    if (!may_lack_file || std::filesystem::exists(paths.task(), error)) { AF_CHECK(store.load(task_id)); }
    AF_TRY(TaskLock lock, TaskLock::acquire(paths, command, format_time(clock.now())));
    const auto is_this_tasks = [&](const json::object& fields) -> Result<void> {
        const json::value* named = fields.if_contains("task_id");
        return named != nullptr && named->is_string() ? check_names(task_id, named->get_string(), paths.journal())
                                                      : Result<void>();
    };
    AF_TRY(auto session, fold_into_session(store, paths, std::move(lock), clock, redactor, is_this_tasks));
    if (session->state_.task_id.empty()) { return no_records(task_id, session->paths_); }
    AF_CHECK(check_names(task_id, session->state_.task_id, session->paths_.journal()));
    AF_TRY(session->is_own_, session->own_journal_.has_written(session->journal_.head().hash));
    if (!session->is_own_) { AF_CHECK(session->own_journal_.check_end()); }
    if (const Recovery& recovery = session->journal_.recovery(); recovery.torn_tail) {
        AF_CHECK(session->record(records::Recovered{recovery.torn_file, recovery.torn_bytes}));
    }
    // A killed process or a power cut may have left the projections outdated or torn. If no record follows, they are written at
    // the end.
    session->projection_due_ = true;
    // No record follows the end of a task, but its archive does.
    if (is_terminal(session->state_.status)) { static_cast<void>(session->project().ok()); }
    return session;
}

Result<void> TaskSession::record(const records::Body& record, const RecordAgent* agent) {
    json::object fields = records::to_fields(record);
    redactor_.redact(fields);
    const std::lock_guard guard(writing_);
    if (given_up_) {
        return Error{"AF-ORCH-007", "the task continues without this thread, which was abandoned at its deadline",
                     "task " + state_.task_id, "nothing to do", ErrorKind::cancelled};
    }
    AF_CHECK(std::exchange(projection_failure_, {}));
    json::object body = records::to_fields(envelope_of(record, agent));
    for (auto& [key, value] : fields) { body[key] = std::move(value); }
    AF_CHECK(journal_.prepare(body));
    const TaskStatus status = state_.status;
    const std::size_t stages = state_.pipeline.stages.size();
    RecordObserver* const observer = store_.observer();
    std::optional<StageState> left;
    if (observer != nullptr && !state_.stages.empty()) { left = state_.stage(); }
    AF_TRY(records::AnyRecord typed, fold_and_read(state_, body));  // A record that the state refuses is not written.
    auto written = write(std::move(body));
    if (!written.ok()) {
        fold_again();
        return written.error();
    }
    state_.seq = written->seq;
    state_.hash = written->hash;
    typed.envelope.seq = written->seq;
    if (observer != nullptr) { observer->recorded(state_, left ? &*left : nullptr, typed); }
    memory_.add(std::move(typed));
    if (state_.pipeline.stages.size() != stages) { template_text_.clear(); }  // Stages were added.
    // In a short journal, an index would not find a step faster.
    if (std::holds_alternative<records::Step>(record) && state_.seq >= records_between_snapshots) {
        steps_.note(state_.steps, written->at);
    }
    keep_snapshot_when_due();
    if (!is_shown(record)) { return {}; }
    const auto now = clock_.steady();
    // The statement and the archive of an ended task follow, and need files that nobody is writing.
    if (state_.status != status || is_terminal(status) || now - projected_at_ >= projection_interval) { return project(); }
    if (!projection_due_) {
        if (!has_projector()) { return project(); }
        projection_due_ = true;
        projector_wakes_.notify_one();
    }
    return {};
}

records::Envelope TaskSession::envelope_of(const records::Body& record, const RecordAgent* agent) const {
    records::Envelope envelope;
    envelope.step = state_.steps + (std::holds_alternative<records::Step>(record) ? 1 : 0);
    envelope.type = records::type_of(record);
    envelope.timestamp = format_time(clock_.now());
    if (agent == nullptr) { return envelope; }
    envelope.agent = records::Agent{agent->role, agent->version};
    if (!agent->mode.empty()) { envelope.agent->mode = agent->mode; }
    return envelope;
}

Result<Record> TaskSession::write(json::object body) {
    AF_CHECK(blobs_.sync());  // A record refers only to data that is on disk.
    auto written = journal_.append(std::move(body));
    if (written.ok() && is_own_) { own_journal_.wrote(written->hash); }
    return written;
}

/// Called after a record was folded but could not be written. The pipeline keeps its address, because others hold references to
/// it.
void TaskSession::fold_again() {
    auto before = fold_journal(paths_.journal());
    if (!before.ok()) { return; }  // The journal is gone; the write error reports it.
    if (before->pipeline == state_.pipeline) { std::swap(before->pipeline, state_.pipeline); }
    state_ = std::move(*before);
}

void TaskSession::keep_snapshot_when_due() {
    if (state_.seq < snapshot_at_ + records_between_snapshots) { return; }
    snapshot_at_ = state_.seq;
    keep_fold(paths_.journal(), journal_.mark(), state_, memory_);
}

bool TaskSession::has_projector() {
    if (projector_.joinable()) { return true; }
    try {
        projector_ = std::jthread([this](const std::stop_token& stop) { project_when_due(stop); });
    } catch (const std::system_error&) {}  // No thread is available.
    return projector_.joinable();
}

TaskSession::~TaskSession() {
    if (projector_.joinable()) {
        projector_.request_stop();
        projector_.join();
    }
    if (given_up_) { return; }                      // Another session continues the task.
    if (projection_due_) { (void)project().ok(); }  // If this fails, the next `open` writes them.
    if (is_own_) { (void)own_journal_.settle(journal_.head().hash).ok(); }
}

void TaskSession::project_when_due(const std::stop_token& stop) {
    std::unique_lock guard(writing_);
    while (projector_wakes_.wait(guard, stop, [this] { return projection_due_; })) {
        projector_wakes_.wait_until(guard, stop, projected_at_ + projection_interval,
                                    [this] { return !projection_due_ || given_up_; });
        if (stop.stop_requested() || given_up_) { return; }
        if (projection_due_) { projection_failure_ = project(); }
    }
}

Result<std::unique_ptr<TaskSession>> TaskSession::take_over() {
    {
        const std::lock_guard guard(writing_);  // Waits for a record that is being written.
        given_up_ = true;
        projector_wakes_.notify_one();
    }
    AF_TRY(auto session, fold_into_session(store_, paths_, std::nullopt, clock_, redactor_, {}));
    session->is_own_ = is_own_;
    return session;
}

Result<std::unique_ptr<TaskSession>> TaskSession::fold_into_session(
    TaskStore& store, const TaskPaths& paths, std::optional<TaskLock> lock, Clock& clock, const Redactor& redactor,
    const std::function<Result<void>(const json::object&)>& check) {
    JournalFold fold(paths.journal());
    AF_TRY(Journal journal, Journal::open(paths.journal(), disk_of(store), fold.visitor(check)));
    fold.keep(journal.mark());
    std::unique_ptr<TaskSession> session(new TaskSession(store, paths, std::move(lock), std::move(journal), clock, redactor));
    session->state_ = std::move(fold.state);
    session->memory_ = std::move(fold.memory);
    session->snapshot_at_ = fold.snapshot_at();
    return session;
}

Result<void> TaskSession::project() {
    projection_due_ = false;
    projected_at_ = clock_.steady();
    std::string text = to_json_pretty(to_json_without_template(state_));
    if (template_text_.empty()) {
        template_text_ = to_json_pretty(json::object{{"pipeline_template", state_.pipeline.to_json()}}).substr(2);
    }
    text.resize(text.size() - 3);  // `\n}\n`
    text += ",\n";
    text += template_text_;
    // No later record repairs the projections of an ended task. Its archive, which follows, shows that they are on disk: the next
    // command opens a task without one.
    const bool last = is_terminal(state_.status);
    const Durability durability = last ? Durability::synced : Durability::cached;
    AF_CHECK(store_.save_state(state_.task_id, text, durability));
    if (!memory_.changed() && !(last && !memory_.empty())) { return {}; }
    AF_CHECK(write_file_atomic(paths_.working_memory(), memory_.text(), durability));
    memory_.shown();
    return {};
}

Result<std::string> TaskSession::put(const json::value& value) {
    if (!redactor_.finds(value)) { return blobs_.put(json::serialize(value)); }
    json::value clean = value;
    redactor_.redact(clean);
    return blobs_.put(json::serialize(clean));
}

Result<std::string> TaskSession::put_text(std::string_view text) {
    const auto clean = redactor_.redacted(text);
    return blobs_.put(clean ? *clean : text);
}

Result<json::value> TaskSession::get(std::string_view blob) const {
    AF_TRY(const std::string text, blobs_.get(blob));
    return parse_json(text, "blob " + std::string(blob));
}

Result<records::Kept> TaskSession::keep(json::value value) {
    redactor_.redact(value);
    std::string text = json::serialize(value);
    if (text.size() <= largest_inside && is_storable(value)) { return records::Kept{std::move(value), {}}; }
    AF_TRY(std::string blob, blobs_.put(text));
    return records::Kept{std::nullopt, std::move(blob)};
}

Result<json::value> TaskSession::kept(const records::Kept& kept) const {
    if (kept.value) { return *kept.value; }
    if (kept.blob.empty()) {
        return Error{"AF-ORCH-020", "a record lacks a required value", paths_.journal().string(), "report this",
                     ErrorKind::corrupt};
    }
    return get(kept.blob);
}

Result<std::optional<json::object>> TaskSession::artifact(std::string_view stage) const {
    for (std::size_t index = 0; index < state_.stages.size(); ++index) {
        const StageState& entry = state_.stages[index];
        if (entry.name != stage) { continue; }
        if (!entry.artifact_hash.empty()) { return artifact_in(entry.artifact_hash, entry.artifact); }
        return is_imported(state_, index) ? imported(state_.pipeline.stages[index].contract) : std::optional<json::object>();
    }
    return std::optional<json::object>();
}

Result<std::optional<json::object>> TaskSession::imported(std::string_view contract) const {
    const auto input = state_.external_inputs.find(contract);
    if (input == state_.external_inputs.end() || input->second.pending) { return std::optional<json::object>(); }
    return artifact_in(input->second.hash, input->second.artifact);
}

Result<std::optional<json::object>> TaskSession::artifact_in(const std::string& blob, const std::string& file) const {
    AF_TRY(json::value value, get(blob));
    if (!value.is_object()) { return Error{"AF-ORCH-020", "the artifact is not a map", file, "report this", ErrorKind::corrupt}; }
    json::object artifact = std::move(value.get_object());
    artifact.erase("_artifact_meta");
    artifact.erase("_metadata");
    return std::optional<json::object>(std::move(artifact));
}

Result<std::map<std::string, json::object, std::less<>>> TaskSession::artifacts() const {
    std::map<std::string, json::object, std::less<>> all;
    for (const StageState& entry : state_.stages) {
        AF_TRY(auto found, artifact(entry.name));
        if (found) { all.emplace(entry.name, std::move(*found)); }
    }
    return all;
}

Result<std::map<std::string, json::object, std::less<>>> TaskSession::artifacts_by_contract() const {
    std::map<std::string, json::object, std::less<>> all;
    for (const auto& [contract, input] : state_.external_inputs) {
        AF_TRY(auto found, imported(contract));
        if (found) { all.emplace(contract, std::move(*found)); }
    }
    for (const StageTemplate& stage : state_.pipeline.stages) {
        AF_TRY(auto found, artifact(stage.name));
        if (!found) { continue; }
        if (!stage.also_makes.empty()) { all.insert_or_assign(stage.also_makes, *found); }
        all.insert_or_assign(stage.contract, std::move(*found));
    }
    return all;
}

Result<std::optional<json::object>> TaskSession::test_suite() const {
    const auto stage = std::ranges::find_if(state_.pipeline.stages, writes_tests);
    return stage == state_.pipeline.stages.end() ? std::optional<json::object>() : artifact(stage->name);
}

Result<std::optional<json::object>> TaskSession::artifact_of(std::string_view contract) const {
    for (std::size_t index = state_.stages.size(); index-- > 0;) {
        if (makes(state_.pipeline.stages[index], contract) && !state_.stages[index].artifact_hash.empty()) {
            return artifact(state_.stages[index].name);
        }
    }
    return imported(contract);
}

Result<TaskState> read_task_state(const TaskStore& store, std::string_view task_id, std::vector<Record>* folded) {
    const auto folds_all = [&]() -> Result<TaskState> {
        AF_TRY(*folded, store.records(task_id));
        return fold_all(*folded);
    };
    auto state = folded == nullptr ? store.state(task_id) : folds_all();
    if (!state.ok()) {
        // The error of `load` says that there is no such task, and suggests the nearest one.
        if (state.error().kind != ErrorKind::corrupt) { AF_CHECK(store.load(task_id)); }
        return state.error();
    }
    if (state->task_id.empty()) { return no_records(task_id, store.paths(task_id)); }
    return state;
}

}  // namespace agentforge::kernel
