// SPDX-License-Identifier: Apache-2.0
#include "aggregate/aggregator.hpp"

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/ids.hpp"
#include "base/text.hpp"
#include "records/records.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

/// If one refresh returns more changes than this, each further task is one change.
constexpr std::size_t most_changes = 512;
/// A journal that has grown by more bytes is read from its snapshot, without blocking other callers.
constexpr std::uint64_t long_read_bytes = 1UL << 20U;
constexpr std::int64_t ns_per_second = 1'000'000'000;

bool may_run(const TaskFigures& figures) {
    return figures.overview.summary.status == "running" || figures.overview.summary.status == "pending" ||
           figures.overview.running;
}

std::vector<std::string> places_of(const std::vector<Error>& problems) {
    std::vector<std::string> places;
    for (const Error& problem : problems) { places.push_back(problem.where); }
    return places;
}

/// Returns 0 if there is no such file.
std::int64_t changed_ns_of(const fs::path& file) {
    struct stat status {};
    return ::lstat(file.c_str(), &status) == 0 ? status.st_ctim.tv_sec * ns_per_second + status.st_ctim.tv_nsec : 0;
}

Error no_task(std::string_view task) {
    return {"AF-DASH-014", "There is no task '" + ellipsis(sanitize_utf8(task), 100) + "'", std::string(),
            "`agentforge status --all --ended` lists all tasks.", ErrorKind::not_found};
}

}  // namespace

/// The records that a read delivers after those already reported. Keeps only the newest one if there are more than `most`.
class Aggregator::NewRecords {
public:
    struct Entry {
        Sequence seq;
        std::string type;
        std::string at;
    };
    NewRecords(Sequence reported, std::size_t most) : reported_(reported), most_(most) {}

    void take(const Record& record) {
        if (record.seq <= reported_) { return; }
        if (++count_ > most_) { entries_.clear(); }
        entries_.push_back({record.seq, std::string(record.type()), records::envelope_in(record).timestamp});
    }
    /// Takes the records of a task that was read without a listener. A rewritten journal may end before `reported`.
    void take_from(const FollowedTask& task) {
        const Sequence newest = task.state().seq;
        if (newest == 0 || newest == reported_) { return; }
        const bool all = newest > reported_ && newest - reported_ <= most_;
        if (!all) { reported_ = newest - 1; }
        const auto found = task.records(reported_, most_);
        if (!found.ok()) { return; }  // The journal has just changed again; the next refresh reads it.
        for (const Record& record : *found) { take(record); }
    }
    [[nodiscard]] std::vector<Entry>& entries() { return entries_; }

private:
    Sequence reported_;
    std::size_t most_;
    std::size_t count_ = 0;
    std::vector<Entry> entries_;
};

std::optional<Error> problem_of(const KnownRepository& repository) {
    const auto take_it_out = "take it out of the list: agentforge repo remove " + repository.name;
    std::error_code none;
    if (!fs::is_directory(repository.path, none)) {
        return Error{"AF-DASH-011", "The repository `" + repository.name + "` does not exist at its path",
                     repository.path.string(), "Put it back, or " + take_it_out, ErrorKind::not_found};
    }
    struct stat status {};
    const fs::path folder = Aggregator::agentforge_of(repository);
    if (::lstat(folder.c_str(), &status) != 0 || (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid())) {
        return std::nullopt;
    }
    return Error{"AF-DASH-010",
                 "The tasks of `" + repository.name + "` are left out: its folder is a link or belongs to another user",
                 folder.string(), "Work on a clone of your own, or " + take_it_out, ErrorKind::denied};
}

Aggregator::Aggregator(std::vector<KnownRepository> repositories) : repositories_(std::move(repositories)) {}

fs::path Aggregator::folder_of(const Key& key) const { return agentforge_of(repositories_[key.first]) / "tasks" / key.second; }

std::vector<KnownRepository> Aggregator::repositories() const {
    const std::lock_guard lock(mutex_);
    std::vector<KnownRepository> known;
    for (std::size_t number = 0; number < repositories_.size(); ++number) {
        if (!forgotten_.contains(number)) { known.push_back(repositories_[number]); }
    }
    return known;
}

KnownRepository Aggregator::repository(std::size_t number) const {
    const std::lock_guard lock(mutex_);
    return repositories_.at(number);
}

std::vector<KnownRepository> Aggregator::every_repository() const {
    const std::lock_guard lock(mutex_);
    return repositories_;
}

void Aggregator::set_repositories(const std::vector<KnownRepository>& known) {
    const std::lock_guard lock(mutex_);
    const auto same = [](const KnownRepository& one, const KnownRepository& other) {
        return one.name == other.name && one.path == other.path;
    };
    forgotten_.clear();
    for (std::size_t number = 0; number < repositories_.size(); ++number) {
        const auto is_this = [&](const KnownRepository& each) { return same(each, repositories_[number]); };
        if (std::ranges::none_of(known, is_this)) { forgotten_.insert(number); }
    }
    for (const KnownRepository& each : known) {
        const auto is_this = [&](const KnownRepository& old) { return same(old, each); };
        if (std::ranges::none_of(repositories_, is_this)) { repositories_.push_back(each); }
    }
    ++version_;
}

bool Aggregator::availability_changed() const {
    const std::lock_guard lock(mutex_);
    for (std::size_t number = 0; number < repositories_.size(); ++number) {
        if (forgotten_.contains(number)) { continue; }
        if (problem_of(repositories_[number]).has_value() != repository_problems_.contains(number)) { return true; }
    }
    return false;
}

std::vector<std::string> Aggregator::names_in(std::size_t repository) {
    std::vector<std::string> names;
    repository_problems_.erase(repository);
    non_task_entries_.erase(repository);
    if (forgotten_.contains(repository)) { return names; }
    if (auto problem = problem_of(repositories_[repository])) {
        repository_problems_.emplace(repository, std::move(*problem));
        return names;
    }
    auto found = TaskStore(agentforge_of(repositories_[repository])).folders();
    if (!found.ok()) {
        non_task_entries_[repository].push_back(std::move(found).error());
        return names;
    }
    if (!found->problems.empty()) {
        non_task_entries_[repository] = std::move(found->problems);
        std::ranges::sort(non_task_entries_[repository], {}, &Error::where);
    }
    return std::move(found->ids);
}

TaskChange Aggregator::change_of(const Key& key, const Known& known, std::string type) const {
    TaskChange change{.repo = repositories_[key.first].name, .task_id = key.second, .type = std::move(type)};
    if (!known.figures) { return change; }
    const TaskFigures& read = known.last_read ? *known.last_read : *known.figures;
    change.seq = read.seq;
    change.stage = read.overview.summary.current_stage;
    change.step = read.steps;
    // A task that is being removed loses its journal before its folder.
    change.state = state_name(change.type == "removed" ? read.overview : known.figures->overview);
    return change;
}

void Aggregator::report_repositories(std::vector<TaskChange>& changes) {
    for (std::size_t number = 0; number < repositories_.size(); ++number) {
        std::string now = repository_problems_.contains(number) ? "unavailable" : "available";
        if (forgotten_.contains(number)) { now = "removed"; }
        if (std::exchange(availability_[number], now) == now) { continue; }
        changes.push_back({.repo = repositories_[number].name, .type = "repository", .state = std::move(now)});
    }
}

std::vector<TaskChange> Aggregator::refresh() {
    const std::lock_guard alone(refreshing_);
    Lock lock(mutex_);
    std::vector<TaskChange> changes;
    std::map<Key, bool> there;
    std::vector<std::size_t> with_new_problems;
    for (std::size_t repository = 0; repository < repositories_.size(); ++repository) {
        const std::vector<std::string> before = places_of(non_task_entries_[repository]);
        for (const std::string& name : names_in(repository)) { there[{repository, name}] = true; }
        if (places_of(non_task_entries_[repository]) != before) { with_new_problems.push_back(repository); }
    }
    report_repositories(changes);
    for (const std::size_t repository : with_new_problems) {
        changes.push_back({.repo = repositories_[repository].name, .type = "problem"});
    }
    version_ += with_new_problems.size();
    version_ += std::erase_if(tasks_, [&](const auto& task) {
        if (there.contains(task.first)) { return false; }
        changes.push_back(change_of(task.first, task.second, "removed"));
        return true;
    });
    for (const auto& [key, unused] : there) { refresh_task(lock, key, changes); }
    if (!loaded_) {
        changes.clear();
        // Returns the heap's free memory to the system: the states of a thousand ended tasks leave small holes.
        ::malloc_trim(0);
    }
    loaded_ = true;
    return changes;
}

std::vector<TaskChange> Aggregator::refresh(std::size_t repository, const std::string& task_id) {
    const std::lock_guard alone(refreshing_);
    Lock lock(mutex_);
    std::vector<TaskChange> changes;
    const bool known = repository < repositories_.size() && !forgotten_.contains(repository);
    if (known && is_task_id(task_id) && !repository_problems_.contains(repository)) {
        refresh_task(lock, {repository, task_id}, changes);
    }
    return changes;
}

std::vector<TaskChange> Aggregator::refresh_processes() {
    const std::lock_guard alone(refreshing_);
    Lock lock(mutex_);
    std::vector<TaskChange> changes;
    std::vector<Key> differ;
    std::vector<Key> outdated;
    for (const auto& [key, known] : tasks_) {
        if (is_projection_outdated(key, known)) {
            outdated.push_back(key);
            continue;
        }
        // Most tasks have ended: no path is built for them.
        if (!known.figures || !may_run(*known.figures)) { continue; }
        const TaskPaths paths{folder_of(key)};
        if (TaskLock::holder(paths).has_value() != known.figures->overview.running) { differ.push_back(key); }
    }
    for (const Key& key : outdated) { refresh_task(lock, key, changes); }
    for (const Key& key : differ) {
        refresh_task(lock, key, changes);  // What the process wrote before it ended comes first.
        const auto found = tasks_.find(key);
        if (found == tasks_.end() || !found->second.figures) { continue; }
        Known& known = found->second;
        known.figures = std::make_shared<const TaskFigures>(with_process(*known.figures, TaskPaths{folder_of(key)}));
        ++version_;
        // Reports a task from its first record on.
        if (known.figures->seq > 0) { changes.push_back(change_of(key, known, "process")); }
    }
    find_answers(changes);
    return changes;
}

std::vector<TaskChange> Aggregator::refresh_answers() {
    const std::lock_guard lock(mutex_);
    std::vector<TaskChange> changes;
    find_answers(changes);
    return changes;
}

/// An answer is a new file, so the time of a repository's folder shows whether its tasks can have one.
void Aggregator::look_for_answer_files() {
    // A file created in the same clock tick does not change the folder's time.
    constexpr std::int64_t clock_tick_ns = 20'000'000;
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    for (std::size_t repository = 0; repository < repositories_.size(); ++repository) {
        if (problem_of(repositories_[repository])) { continue; }
        struct stat folder {};
        const EscalationStore store(agentforge_of(repositories_[repository]));
        const bool found = ::lstat(store.directory().c_str(), &folder) == 0;
        const std::int64_t changed = found ? folder.st_mtim.tv_sec * ns_per_second + folder.st_mtim.tv_nsec : 0;
        Answers& answers = answers_[repository];
        answers.changed = answers.folder_changed_ns != changed;
        if (!answers.changed) { continue; }
        const bool settled = changed + clock_tick_ns < now.tv_sec * ns_per_second + now.tv_nsec;
        answers = {settled ? changed : -1, store.answered(), true};
    }
}

void Aggregator::find_answers(std::vector<TaskChange>& changes) {
    look_for_answer_files();
    for (auto& [key, known] : tasks_) {
        if (!known.figures || known.figures->overview.summary.waiting_for.empty()) { continue; }
        const TaskOverview& task = known.figures->overview;
        const Answers& answers = answers_[key.first];
        // A file that exists may be rewritten in place.
        if (!answers.changed && !answers.files.contains(task.waiting_id)) { continue; }
        const TaskPaths paths{folder_of(key)};
        TaskOverview now = task;
        if (!update_answer(paths, now)) { continue; }
        known.figures = std::make_shared<const TaskFigures>(with_process(*known.figures, paths));
        ++version_;
        changes.push_back(change_of(key, known, "process"));
    }
}

void Aggregator::forget_removed(const Key& key, std::vector<TaskChange>& changes) {
    const auto gone = tasks_.find(key);
    if (gone == tasks_.end()) { return; }
    changes.push_back(change_of(key, gone->second, "removed"));
    tasks_.erase(gone);
    ++version_;
}

bool Aggregator::is_projection_outdated(const Key& key, const Known& known) const {
    return known.state_changed_ns && *known.state_changed_ns != changed_ns_of(TaskPaths{folder_of(key)}.state());
}

void Aggregator::refresh_task(Lock& lock, const Key& key, std::vector<TaskChange>& changes) {
    const TaskPaths paths{folder_of(key)};
    struct stat status {};
    const bool has_journal = ::lstat(paths.journal().c_str(), &status) == 0;
    if (struct stat folder{};
        (!has_journal || !tasks_.contains(key)) && (::lstat(paths.root.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode))) {
        return forget_removed(key, changes);
    }
    Known& known = tasks_[key];
    const auto size = has_journal ? static_cast<std::uint64_t>(status.st_size) : 0;
    const std::int64_t changed = has_journal ? status.st_ctim.tv_sec * ns_per_second + status.st_ctim.tv_nsec : 0;
    const bool same = known.size == size && known.changed_ns == changed;
    if (same && (has_journal || known.is_read()) && !is_projection_outdated(key, known)) { return; }
    // A journal only grows. After any other change, reads it from its beginning.
    const bool grew = has_journal && S_ISREG(status.st_mode) && size > known.size && size - known.size <= long_read_bytes;
    if (!grew) { known.followed.reset(); }
    known.size = size;
    known.changed_ns = changed;
    follow(lock, key, known, changes);
    limit_followed_ended_tasks(key, known);
}

/// Reads what the journal grew by. A task that is not followed is read without blocking other callers.
Result<void> Aggregator::read_from_disk(Lock& lock, const Key& key, Known& known, NewRecords& new_records) const {
    if (known.followed) {
        return known.followed->refresh([&](const Record& record) { new_records.take(record); });
    }
    auto followed = std::make_unique<FollowedTask>(TaskPaths{folder_of(key)}, key.second);
    const bool reports = loaded_;
    lock.unlock();
    auto read = followed->refresh();
    if (read.ok() && reports) { new_records.take_from(*followed); }
    lock.lock();
    known.followed = std::move(followed);
    return read;
}

void Aggregator::follow(Lock& lock, const Key& key, Known& known, std::vector<TaskChange>& changes) {
    NewRecords new_records(known.reported, changes.size() < most_changes ? most_reported_at_once : 1);
    const TaskStore store(agentforge_of(repositories_[key.first]));
    const std::string text_before = known.figures ? known.figures->text : std::string();
    const auto read = read_from_disk(lock, key, known, new_records);
    ++version_;
    const bool was_unreadable = std::exchange(known.problem, std::nullopt).has_value();
    if (!read.ok()) {
        use_projection(key, known, store.damage(key.second, read));
    } else if (known.followed->state().task_id != key.second) {
        // Nothing of its own is written yet: a new journal, or a fork's; or its process ended before; or the journal was cut.
        use_projection(key, known, store.damage(key.second, read));
        new_records.entries().clear();
    } else {
        known.figures = std::make_shared<const TaskFigures>(figures_of(*known.followed, repositories_[key.first].name));
        known.reported = known.figures->seq;
        known.last_read.reset();
        known.state_changed_ns.reset();
    }
    for (NewRecords::Entry& each : new_records.entries()) {
        TaskChange change = change_of(key, known, std::move(each.type));
        change.seq = each.seq;
        change.at = std::move(each.at);
        changes.push_back(std::move(change));
    }
    // A journal that is readable again may have no new record.
    const bool is_new_problem = known.problem && (!was_unreadable || known.figures->text != text_before);
    const bool has_recovered = was_unreadable && !known.problem && new_records.entries().empty();
    if (is_new_problem || has_recovered) { changes.push_back(change_of(key, known, "problem")); }
}

/// What is known of a task whose journal says nothing.
void Aggregator::use_projection(const Key& key, Known& known, std::optional<Error> problem) {
    const TaskStore store(agentforge_of(repositories_[key.first]));
    if (known.figures && !known.state_changed_ns) { known.last_read = known.figures; }
    known.state_changed_ns = changed_ns_of(store.paths(key.second).state());
    const ProjectedTask task = projected_task(store, key.second, std::move(problem));
    known.problem = task.overview.problem;
    known.figures = std::make_shared<const TaskFigures>(figures_of(task, repositories_[key.first].name));
}

void Aggregator::limit_followed_ended_tasks(const Key& key, Known& known) {
    recent_ended_.remove(key);
    if (known.figures && known.followed && has_ended(known.figures->overview.summary)) { recent_ended_.push_front(key); }
    while (recent_ended_.size() > most_ended_followed) {
        const auto oldest = tasks_.find(recent_ended_.back());
        if (oldest != tasks_.end()) { oldest->second.followed.reset(); }
        recent_ended_.pop_back();
    }
}

std::vector<Aggregator::Figures> Aggregator::tasks() const {
    std::vector<Figures> all;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [key, known] : tasks_) {
            if (known.figures) { all.push_back(known.figures); }
        }
    }
    std::ranges::sort(all, [](const Figures& one, const Figures& other) {
        const TaskSummary& a = one->overview.summary;
        const TaskSummary& b = other->overview.summary;
        return a.updated_at != b.updated_at ? a.updated_at > b.updated_at : a.task_id > b.task_id;
    });
    return all;
}

std::vector<Error> Aggregator::problems() const {
    const std::lock_guard lock(mutex_);
    std::vector<Error> all;
    for (const auto& [repository, problem] : repository_problems_) { all.push_back(problem); }
    for (const auto& [repository, problems] : non_task_entries_) { all.insert(all.end(), problems.begin(), problems.end()); }
    for (const auto& [key, known] : tasks_) {
        if (known.problem) { all.push_back(*known.problem); }
    }
    return all;
}

std::uint64_t Aggregator::version() const {
    const std::lock_guard lock(mutex_);
    return version_;
}

std::size_t Aggregator::followed_count() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(
        std::ranges::count_if(tasks_, [](const auto& each) { return each.second.followed != nullptr; }));
}

Result<Aggregator::Place> Aggregator::find(std::string_view task, std::string_view repo) const {
    const std::lock_guard lock(mutex_);
    std::vector<Place> found;
    for (const auto& [key, known] : tasks_) {
        if (key.second == task && known.is_read() && (repo.empty() || repositories_[key.first].name == repo)) {
            found.push_back({key.first, key.second});
        }
    }
    if (found.empty()) { return no_task(task); }
    if (found.size() == 1) { return found.front(); }
    std::string names;
    for (const Place& place : found) { names += (names.empty() ? "" : ", ") + repositories_[place.repository].name; }
    return Error{"AF-DASH-018", "Several repositories have a task of this id", names, "choose one with `?repo=NAME`",
                 ErrorKind::conflict};
}

Result<void> Aggregator::find_any(std::string_view task) const {
    const std::lock_guard lock(mutex_);
    const auto is_this = [&](const auto& each) { return each.first.second == task && each.second.is_read(); };
    return std::ranges::any_of(tasks_, is_this) ? Result<void>() : no_task(task);
}

Result<Aggregator::Figures> Aggregator::figures(const Place& place) const {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find({place.repository, place.task_id});
    if (found == tasks_.end() || !found->second.is_read()) { return no_task(place.task_id); }
    if (found->second.figures) { return found->second.figures; }
    return *found->second.problem;
}

Result<void> Aggregator::with_task(const Place& place, const std::function<Result<void>(const FollowedTask& task)>& visit) {
    const std::lock_guard lock(mutex_);
    const Key key{place.repository, place.task_id};
    const auto found = tasks_.find(key);
    if (found == tasks_.end()) { return no_task(place.task_id); }
    Known& known = found->second;
    if (known.problem) { return *known.problem; }  // The records before the damage would give other figures than state.yaml.
    if (!known.followed) {
        known.followed = std::make_unique<FollowedTask>(TaskPaths{folder_of(key)}, key.second);
        AF_CHECK(known.followed->refresh());
    }
    if (known.followed->state().task_id != key.second) { return {}; }  // Nothing of its own is written yet.
    auto visited = visit(*known.followed);
    limit_followed_ended_tasks(key, known);
    return visited;
}

}  // namespace agentforge::kernel
