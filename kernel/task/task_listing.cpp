// SPDX-License-Identifier: Apache-2.0
// The listing of a store's tasks.
#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/text.hpp"
#include "base/thread.hpp"
#include "journal/journal_tail.hpp"
#include "task/journal_fold.hpp"
#include "task/listing_cache.hpp"
#include "task/projected_state.hpp"
#include "task/state.hpp"
#include "task/task_store.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

bool is_end(std::string_view status) noexcept { return status == "completed" || status == "failed" || status == "aborted"; }

bool has_ended(const TaskSummary& task) { return is_end(task.status); }

namespace {

constexpr std::string_view listing_file = ".listing";
/// With fewer tasks, reading them is faster than a cache. From this number on a listing is cached.
constexpr std::size_t few_tasks = 32;
/// The cache is rewritten when this many tasks were not in it, not for each step of a running one.
constexpr std::size_t many_unknown = 16;

struct ListedTask {
    TaskSummary summary;
    std::optional<Error> problem = {};  ///< Why the journal could not be read.
};

/// The journal of a task that no process runs does not change, and its projection is written after it. If the journal was written
/// later than that, verifies every record. Then touches the projection of an intact journal, so that the next listing need not
/// verify it again.
std::optional<Error> damage_at_rest(const TaskPaths& place) {
    struct stat journal {};
    struct stat state {};
    if (::lstat(place.journal().c_str(), &journal) != 0 || ::lstat(place.state().c_str(), &state) != 0) { return std::nullopt; }
    const auto is_later = [](const timespec& one, const timespec& other) {
        return one.tv_sec != other.tv_sec ? one.tv_sec > other.tv_sec : one.tv_nsec > other.tv_nsec;
    };
    if (!is_later(journal.st_mtim, state.st_mtim)) { return std::nullopt; }
    const auto read = JournalTail(place.journal()).read([](const Record&, JournalOffset) -> Result<void> { return {}; });
    if (!read.ok()) { return read.error(); }
    (void)::utimensat(AT_FDCWD, place.state().c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
    return std::nullopt;
}

/// A folder that cannot be written is listed too.
void write_projections(const TaskPaths& place, const JournalFold& fold) {
    (void)write_file_atomic(place.state(), to_json_pretty(to_json(fold.state)), Durability::cached).ok();
    if (fold.memory.empty()) { return; }
    (void)write_file_atomic(place.working_memory(), fold.memory.text(), Durability::cached).ok();
}

/// Reads the projection, or the journal if that has later records because a process ended between the two writes. Errors:
/// TaskStore::damage, if there is no projection of this task either.
Result<ListedTask> read_task(const TaskStore& store, const std::string& name) {
    const TaskPaths place = store.paths(name);
    auto projected = read_summary(place.state());
    const bool own = projected.ok() && projected->summary.task_id == name;
    if (own && Journal::ends_with(place.journal(), projected->hash)) {
        const bool rests = has_ended(projected->summary) || !TaskLock::holder(place);
        auto damage = rests ? damage_at_rest(place) : std::nullopt;
        projected->summary.from_journal = !damage;
        return ListedTask{std::move(projected->summary), std::move(damage)};
    }
    std::optional<Error> problem;
    // The process that runs the task is about to write the projection. If no process holds the task, it is written here.
    const bool held = TaskLock::holder(place).has_value();
    if (!own || !held) {
        JournalFold fold(place.journal());
        Result<void> read = fold.read();
        if (read.ok() && fold.state.task_id == name) {
            if (!held) { write_projections(place, fold); }
            return ListedTask{summary_of(fold.state)};
        }
        if (read.ok() && !fold.state.task_id.empty()) { read = check_names(name, fold.state.task_id, place.journal()); }
        problem = store.damage(name, read);
    }
    if (own) {
        projected->summary.from_journal = false;
        return ListedTask{std::move(projected->summary), std::move(problem)};
    }
    if (problem) { return std::move(*problem); }
    return projected.ok() ? state_of_another(place, name, projected->summary.task_id) : std::move(projected).error();
}

/// Returns nothing if the task has no journal.
std::optional<JournalStamp> stamp_of(int tasks, const std::string& name) {
    struct stat st {};
    if (::fstatat(tasks, (name + "/actions.yaml").c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) {
        return std::nullopt;
    }
    return JournalStamp(st);
}

struct CachedListing {
    ListingCache cache;
    std::vector<std::optional<JournalStamp>> stamps;  ///< Of each task's journal.
};

/// Reads the cache and the journals' stamps on two threads: with ten thousand tasks, this takes most of a listing's time.
CachedListing cached_listing(const fs::path& cache_file, int folder, const std::vector<std::string>& names) {
    constexpr std::size_t at_once = 128;
    CachedListing read{.cache = {}, .stamps = std::vector<std::optional<JournalStamp>>(names.size())};
    std::atomic<std::size_t> next = 0;
    const auto read_stamps = [&] {
        for (std::size_t first = next.fetch_add(at_once); first < names.size(); first = next.fetch_add(at_once)) {
            const std::size_t end = std::min(first + at_once, names.size());
            for (std::size_t task = first; task < end; ++task) { read.stamps[task] = stamp_of(folder, names[task]); }
        }
    };
    const auto load = [&] {
        read.cache = ListingCache::load(cache_file);
        read_stamps();
    };
    auto other = try_thread(load);
    read_stamps();
    if (other) {
        other->join();
    } else {
        load();
    }
    return read;
}

/// Reads the tasks of a listing, from the cache where their journals are unchanged.
class ListingReader {
public:
    ListingReader(const TaskStore& store, const fs::path& root, const std::vector<std::string>& names)
        : store_(store),
          folder_(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
          cache_file_(root / listing_file),
          keeps_(names.size() >= few_tasks && folder_.valid()),
          names_(names) {
        if (keeps_) {
            cached_ = cached_listing(cache_file_, folder_.get(), names);
        } else {
            cached_.stamps.resize(names.size());
        }
    }

    /// Adds the tasks, or their problems, to the listing. `most_ended`: see TaskStore::list.
    void read(TaskListing& listing, std::size_t most_ended) {
        if (most_ended == 0) { tasks_.reserve(names_.size()); }
        std::map<std::string_view, std::vector<const ListingCache::Line*>> ended;  // By status.
        for (std::size_t place = 0; place < names_.size(); ++place) {
            const auto& stamp = cached_.stamps[place];
            const ListingCache::Line* const known = stamp ? cached_.cache.find(names_[place], *stamp) : nullptr;
            if (known == nullptr) {
                read_unknown(place, listing);
            } else if (known->has_ended) {
                ended[known->status].push_back(known);
            } else {
                tasks_.push_back(cached_.cache.summary(*known));
            }
        }
        const bool saves = unknown_ >= many_unknown;
        for (auto& [status, lines] : ended) {
            if (!saves && most_ended != 0 && lines.size() > most_ended) {
                listing.left_out[std::string(status)] = lines.size() - most_ended;
                keep_newest(lines, most_ended);
            }
            for (const ListingCache::Line* line : lines) { tasks_.push_back(cached_.cache.summary(*line)); }
        }
        if (saves) { save_cache(); }
        listing.tasks = std::move(tasks_);
    }

private:
    void read_unknown(std::size_t place, TaskListing& listing) {
        const std::string& name = names_[place];
        const auto stamp = std::exchange(cached_.stamps[place], std::nullopt);
        auto found = read_task(store_, name);
        if (!found.ok()) {
            listing.problems.push_back(found.error());
            listing.damaged.emplace(name, std::move(found).error());
            return;
        }
        if (found->problem) {
            listing.problems.push_back(*found->problem);
            listing.damaged.emplace(name, std::move(*found->problem));
        }
        tasks_.push_back(std::move(found->summary));
        // If the task continued meanwhile, it is unknown which state of the journal was read.
        if (stamp && tasks_.back().from_journal && stamp_of(folder_.get(), name) == stamp) {
            cached_.stamps[place] = stamp;
            ++unknown_;
        }
    }

    static void keep_newest(std::vector<const ListingCache::Line*>& lines, std::size_t most) {
        std::ranges::nth_element(lines, lines.begin() + static_cast<std::ptrdiff_t>(most), [](const auto* a, const auto* b) {
            return std::tie(a->created_at, a->task_id) > std::tie(b->created_at, b->task_id);
        });
        lines.resize(most);
    }

    void save_cache() const {
        std::unordered_map<std::string_view, const TaskSummary*> summaries;
        for (const TaskSummary& task : tasks_) { summaries.emplace(task.task_id, &task); }
        std::vector<ListingCache::Kept> kept;
        for (std::size_t place = 0; place < names_.size(); ++place) {
            const auto found = summaries.find(names_[place]);
            if (found != summaries.end() && cached_.stamps[place]) { kept.push_back({*cached_.stamps[place], found->second}); }
        }
        ListingCache::save(cache_file_, kept);
    }

    const TaskStore& store_;
    FileDescriptor folder_;
    fs::path cache_file_;
    bool keeps_;
    const std::vector<std::string>& names_;
    CachedListing cached_;
    std::vector<TaskSummary> tasks_;
    std::size_t unknown_ = 0;
};

/// Sorts numbers and then moves each task once: a task has many texts.
void sort_newest_first(std::vector<TaskSummary>& tasks) {
    std::vector<std::size_t> order(tasks.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        const TaskSummary& a = tasks[one];
        const TaskSummary& b = tasks[other];
        return a.created_at != b.created_at ? a.created_at > b.created_at : a.task_id > b.task_id;
    });
    for (std::size_t first = 0; first < order.size(); ++first) {
        if (order[first] == first) { continue; }
        TaskSummary moved = std::move(tasks[first]);
        std::size_t place = first;
        while (order[place] != first) {
            tasks[place] = std::move(tasks[order[place]]);
            place = std::exchange(order[place], place);
        }
        tasks[place] = std::move(moved);
        order[place] = place;
    }
}

}  // namespace

Result<TaskListing> TaskStore::list(const std::optional<std::string>& status, std::size_t limit, std::size_t most_ended) const {
    AF_TRY(TaskFolders folders_here, folders());
    TaskListing listing;
    listing.problems = std::move(folders_here.problems);
    ListingReader(*this, root_, folders_here.ids).read(listing, most_ended);
    if (status) {
        std::erase_if(listing.tasks, [&](const TaskSummary& task) { return task.status != *status; });
    }
    sort_newest_first(listing.tasks);
    std::sort(listing.problems.begin(), listing.problems.end(), [](const Error& a, const Error& b) { return a.where < b.where; });
    if (limit != 0 && listing.tasks.size() > limit) {
        listing.tasks.erase(listing.tasks.begin() + static_cast<std::ptrdiff_t>(limit), listing.tasks.end());
    }
    return listing;
}

}  // namespace agentforge::kernel
