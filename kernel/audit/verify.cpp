// SPDX-License-Identifier: Apache-2.0
#include "audit/verify.hpp"
#include "audit/recorded_files.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <set>

#include <re2/re2.h>

#include <agentforge/artifact.hpp>

#include "audit/recorded_files.hpp"
#include "audit/statement.hpp"
#include "audit/statement_signature.hpp"
#include "base/clock.hpp"
#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "git/merges.hpp"
#include "git/object_check.hpp"
#include "git/objects.hpp"
#include "journal/blob_check.hpp"
#include "journal/failures.hpp"
#include "records/records.hpp"
#include "secrets/restore.hpp"
#include "task/working_memory.hpp"

namespace agentforge::kernel {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_faults = 20;

std::uint64_t number_of(const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value != nullptr && value->is_int64() && value->get_int64() >= 0 ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

/// One part of the verification: its faults, or the verified facts.
class Part {
public:
    Part(AuditVerdict& verdict, std::string name) : verdict_(verdict), name_(std::move(name)) {}
    ~Part() {
        for (std::size_t at = 0; at < std::min(faults_.size(), max_faults); ++at) {
            verdict_.add(name_, AuditAnswer::fails, std::move(faults_[at]));
        }
        if (faults_.size() > max_faults) {
            verdict_.add(name_, AuditAnswer::fails, "and " + std::to_string(faults_.size() - max_faults) + " more");
        }
        if (faults_.empty() && !detail_.empty()) { verdict_.add(name_, AuditAnswer::holds, std::move(detail_)); }
        for (std::string& each : unchecked_) { verdict_.add(name_, AuditAnswer::unchecked, std::move(each)); }
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    void fault(std::string detail) { faults_.push_back(std::move(detail)); }
    void unchecked(std::string detail) { unchecked_.push_back(std::move(detail)); }
    void passed(std::string detail) { detail_ = std::move(detail); }

private:
    AuditVerdict& verdict_;
    std::string name_;
    std::vector<std::string> faults_;
    std::vector<std::string> unchecked_;
    std::string detail_;
};

/// Calls `take` with each value that names a blob: `…_blob`, and the hash of an accepted artifact.
template <class Take>
void for_each_blob(const json::value& value, const Take& take) {
    if (const json::object* object = value.if_object()) {
        for (const auto& [key, item] : *object) {
            if (std::string_view(key).ends_with("_blob") && item.is_string()) {
                if (!item.get_string().empty()) { take(std::string(item.get_string())); }
            } else {
                for_each_blob(item, take);
            }
        }
    } else if (const json::array* array = value.if_array()) {
        for (const json::value& item : *array) { for_each_blob(item, take); }
    }
}

bool is_object_id(const std::string& text) {
    return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

struct NamedTree {
    Sequence seq = 0;           ///< The first record that names it.
    bool is_only_gates = true;  ///< Only gates name it: the process ended after the gate, before the step's record.
};

/// Returns all trees named in records.
std::map<std::string, NamedTree> trees_of(const std::vector<Record>& records) {
    std::map<std::string, NamedTree> trees;
    for (const Record& record : records) {
        const bool is_gate = record.type() == records::Gate::type;
        for (const char* key : {"tree", "base_tree", "red_tree", "workspace_tree", "work_tree"}) {
            const std::string tree = text_of(record.body, key);
            if (!is_object_id(tree)) { continue; }
            NamedTree& named = trees.try_emplace(tree, NamedTree{record.seq}).first->second;
            named.is_only_gates = named.is_only_gates && is_gate;
        }
    }
    return trees;
}

/// Returns a patch with the ids of its `index` lines cut to the shortest length: git's `core.abbrev` decided their length.
std::string with_short_ids(const std::string& patch) {
    static const RE2 ids(R"((?m)^index ([0-9a-f]{7})[0-9a-f]*\.\.([0-9a-f]{7})[0-9a-f]*)");
    std::string text = patch;
    RE2::GlobalReplace(&text, ids, R"(index \1..\2)");
    return text;
}

std::string_view without_line_ends(std::string_view text) {
    const std::size_t last = text.find_last_not_of("\r\n");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

bool is_question(std::string_view file) { return file.starts_with("escalations/"); }

bool names_questions(const json::object& predicate) {
    const json::value* const files = predicate.if_contains("files");
    return files != nullptr && files->is_object() &&
           std::ranges::any_of(files->get_object(), [](const auto& each) { return is_question(each.key()); });
}

std::map<std::string, std::string> stated_questions(const json::object& predicate) {
    std::map<std::string, std::string> questions;
    const json::value* const files = predicate.if_contains("files");
    if (files == nullptr || !files->is_object()) { return questions; }
    for (const auto& [name, hash] : files->get_object()) {
        if (is_question(name) && hash.is_string()) { questions.emplace(name, hash.get_string()); }
    }
    return questions;
}

/// Removes caches and shared files, which older statements also name.
json::object without_transient_files(json::object statement) {
    json::object& predicate = statement.at("predicate").as_object();
    if (json::value* const files = predicate.if_contains("files"); files != nullptr && files->is_object()) {
        json::object kept;
        for (const auto& [name, hash] : files->get_object()) {
            if (!is_transient_file(name)) { kept.emplace(name, hash); }
        }
        *files = std::move(kept);
    }
    return statement;
}

std::chrono::sys_seconds recorded_at(const Record& record) {
    auto time = parse_time(records::envelope_in(record).timestamp);
    return std::chrono::floor<std::chrono::seconds>(std::move(time).value_or(std::chrono::system_clock::time_point()));
}

/// The trees that records name, by their condition in the repository.
struct RecordedTrees {
    std::size_t named = 0;
    std::size_t missing = 0;
    std::string first_missing;
    std::size_t only_gates = 0;  ///< Missing, and only gates name them.
    std::size_t shared = 0;      ///< Missing, but recorded by the task that this one continues from.
    std::size_t unfetched = 0;   ///< Files of them that a partial clone left on the server.
};

class Verifier {
public:
    Verifier(const AuditPlace& place, const SignatureTools& tools, const Stop& stop) : place_(place), tools_(tools), stop_(stop) {
        verdict_.task_id = place.task_id;
    }

    Result<AuditVerdict> run() {
        auto evidence = TaskEvidence::read(place_.folder, place_.escalations, place_.blobs);
        if (!evidence.ok()) {
            if (evidence.error().kind == ErrorKind::io || evidence.error().kind == ErrorKind::not_found) {
                return evidence.error();
            }
            verdict_.add("journal", AuditAnswer::fails,
                         evidence.error().code + ": " + evidence.error().message +
                             (evidence.error().where.empty() ? "" : " (" + evidence.error().where + ")"));
            check_blob_files();
            return std::move(verdict_);
        }
        AF_CHECK(begin(*evidence));
        check_journal();
        check_projections();
        check_recorded_files();
        if (repository_) {
            report_if_failed("trees", check_trees());
            report_if_failed("patches", check_patches());
            report_if_failed("commit", check_delivered_commit());
        } else {
            verdict_.add("trees", AuditAnswer::unchecked,
                         "no repository is here: trees, patches and the commit were not checked");
        }
        check_log();
        report_if_failed("end", check_archive());
        if (repository_) { report_if_failed("commit", check_replaced_objects()); }
        report_if_failed("statement", check_statement());
        report_end();
        return std::move(verdict_);
    }

    /// Checks only the files that a statement names.
    Result<AuditVerdict> run_on_files(const TaskEvidence& evidence) {
        AF_CHECK(begin(evidence));
        check_journal();
        check_recorded_files();
        report_if_failed("patches", check_patches());
        return std::move(verdict_);
    }

private:
    Result<void> begin(const TaskEvidence& evidence) {
        evidence_ = &evidence;
        if (!place_.repository.empty()) {
            AF_TRY(Repository repository, Repository::open(place_.repository));
            repository_.emplace(std::move(repository));
            AF_TRY(ObjectCheck objects, ObjectCheck::open(place_.repository));
            objects_.emplace(std::move(objects));
        }
        verdict_.head = evidence.head();
        verdict_.status = to_string(state().status);
        if (verdict_.task_id.empty()) { verdict_.task_id = state().task_id; }
        return {};
    }

    void check_recorded_files() {
        check_own_files();
        check_named_blobs();
        check_artifacts();
    }

    /// Reports a part that could not be verified completely, mostly because an object is damaged or missing.
    void report_if_failed(const char* part, const Result<void>& done) {
        if (done.ok()) { return; }
        const Error& error = done.error();
        const bool partial = is_partial_clone(place_.repository);
        verdict_.add(part, partial ? AuditAnswer::unchecked : AuditAnswer::fails,
                     error.code + ": " + error.message + (error.where.empty() ? "" : " (" + error.where + ")") +
                         (partial ? ". This is a partial clone: clone without --filter to check everything" : ""));
    }

    /// With `refs/replace/ID` git shows another object in place of ID, and with `info/grafts` other parents of a commit. Reports
    /// these, because the commit, its tree, its files and the archive must be shown as they are.
    Result<void> check_replaced_objects() {
        Part part(verdict_, "commit");
        const auto grafts = read_file(repository_->git_directory() / "info" / "grafts", largest_file);
        if (grafts.ok() && !state().commit.empty() && ("\n" + *grafts).find("\n" + state().commit) != std::string::npos) {
            part.fault("git shows other parents of " + state().commit +
                       ": remove its line from info/grafts in the git directory");
        }
        const auto base = tools_.environment.find("GIT_REPLACE_REF_BASE");
        AF_TRY(const auto refs, refs_below(place_.repository, base == tools_.environment.end() ? "refs/replace/" : base->second));
        if (refs.empty()) { return {}; }
        const std::string archived = "refs/agentforge/archive/" + verdict_.task_id;
        AF_TRY(const auto archives, refs_below(place_.repository, archived));
        for (const RefTarget& ref : archives) {
            if (ref.name == archived) { static_cast<void>(objects_->faults_of_tree(ref.id)); }
        }
        for (const RefTarget& ref : refs) {
            const std::string id = ref.name.substr(ref.name.rfind('/') + 1);
            if (id != state().commit && !objects_->is_whole(id)) { continue; }
            part.fault("git shows another object in place of " + id + " (" + ref.name + "); `git replace -d " + id +
                       "` ends that");
        }
        return {};
    }

    [[nodiscard]] const TaskState& state() const { return evidence_->state; }
    [[nodiscard]] const std::vector<Record>& records() const { return evidence_->records; }
    [[nodiscard]] fs::path file(std::string_view name) const { return place_.folder / name; }

    /// Returns the number of the last record that a fork shares with its parent. 0: the task is not a fork.
    [[nodiscard]] Sequence shared_records() const {
        const json::value* const origin = evidence_->header.if_contains("forked_from");
        return origin != nullptr && origin->is_object() ? number_of(origin->get_object(), "seq") : 0;
    }

    [[nodiscard]] const Record* record(Sequence seq) const {
        const auto found = std::ranges::lower_bound(records(), seq, {}, &Record::seq);
        return found == records().end() || found->seq != seq ? nullptr : &*found;
    }

    void check_journal() {
        Part part(verdict_, "journal");
        if (state().task_id != verdict_.task_id) {
            part.fault("it is the journal of task " + state().task_id + ", not of " + verdict_.task_id);
        }
        if (const std::string named = text_of(evidence_->header, "task_id"); !named.empty() && named != state().task_id) {
            part.fault("its header names task " + named);
        }
        if (evidence_->recovery.torn_tail) {
            part.fault("its last line is incomplete (" + std::to_string(evidence_->recovery.torn_bytes) +
                       " bytes): the next run of the task sets it aside");
        }
        // The chain covers the header's values; this covers its form and order.
        constexpr std::array order{"task_id", "request", "started_at", "pipeline", "task_sha256", "forked_from"};
        auto next = order.begin();
        for (const auto& [key, value] : evidence_->header) {
            const auto place = std::find(order.begin(), order.end(), std::string_view(key));
            if (place != order.end() && place < next) {
                part.fault("its header was changed: the field " + std::string(key) + " is in another place");
            }
            if (place != order.end()) { next = place; }
        }
        std::string expected = "agentforge_journal: 1\n";
        for (const auto& [key, value] : evidence_->header) { expected += std::string(key) + ": " + to_json_line(value) + "\n"; }
        expected += "actions:\n";
        std::string begin(expected.size(), '\0');
        std::ifstream in(evidence_->paths.journal(), std::ios::binary);
        in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
        if (begin != expected) { part.fault("its header has changed since it was written"); }
        part.passed(counted(records().size(), "record", "records") +
                    ", each allowed in the state that the one before leaves, up to " + verdict_.head.hash);
    }

    void add_voucher(const std::string& who, Sequence seq) {
        if (seq != 0) { verdict_.vouchers.push_back({who, seq}); }
    }

    /// Checks that `state.yaml` and `working_memory.yaml` equal the journal's result at the record after which they were written.
    void check_projections() {
        Part part(verdict_, "projections");
        const auto text = read_file(evidence_->paths.state(), largest_file);
        if (!text.ok() || text->empty()) {  // Empty: a power cut came before its bytes were on disk.
            part.unchecked(
                "state.yaml does not exist, or is empty; it can be rebuilt from the journal. working_memory.yaml was not compared");
            return;
        }
        const auto parsed = parse_json(*text, "state.yaml");
        const json::object* written = parsed.ok() ? parsed->if_object() : nullptr;
        if (written == nullptr || !written->contains("seq")) {
            if (written != nullptr && records().size() == 1) { return; }  // As created, before the first record.
            if (written != nullptr && text_of(*written, "status") == "pending") {
                part.unchecked("state.yaml is unchanged since the task was created; it can be rebuilt from the journal");
                return;
            }
            part.fault("state.yaml cannot be read");
            return;
        }
        const Sequence seq = number_of(*written, "seq");
        const std::string hash = text_of(*written, "hash");
        if (seq > verdict_.head.seq) {
            part.fault("state.yaml names record " + std::to_string(seq) + ", but the journal ends with record " +
                       std::to_string(verdict_.head.seq) + ": its end was cut off");
            return;
        }
        const Record* const known = record(seq);
        if (known == nullptr || known->hash != hash) {
            part.fault("state.yaml and the journal have different hashes for record " + std::to_string(seq));
            return;
        }
        TaskState then;
        WorkingMemory memory;
        for (const Record& each : records()) {
            const auto typed = each.seq > seq ? Result<records::AnyRecord>(Error{}) : fold_and_read(then, each.body);
            if (!typed.ok()) { break; }
            then.hash = each.hash;
            memory.add(*typed);
        }
        if (to_json_pretty(to_json(then)) != *text) {
            part.fault("state.yaml differs from the state computed from the journal at record " + std::to_string(seq));
        } else {
            add_voucher("state", seq);
        }
        const auto shown = read_file(evidence_->paths.working_memory(), largest_file);
        // Empty, as above.
        const bool missing = shown.ok() ? shown->empty() : shown.error().kind == ErrorKind::not_found;
        if (missing) {
            part.unchecked("working_memory.yaml does not exist, or is empty; it can be rebuilt from the journal");
        } else if (!shown.ok()) {
            part.fault("working_memory.yaml cannot be read: " + shown.error().message);
        } else if (*shown != memory.text()) {
            part.fault("working_memory.yaml differs from the text computed from the journal at record " + std::to_string(seq));
        }
        part.passed((missing ? "state.yaml matches" : "state.yaml and working_memory.yaml match") +
                    std::string(" the journal at record ") + std::to_string(seq));
    }

    /// Checks task.yaml and the request, which are written once, before the journal.
    void check_own_files() {
        Part part(verdict_, "files");
        const auto task = read_file(evidence_->paths.task(), largest_file);
        if (!task.ok()) {
            part.fault("task.yaml cannot be read: " + task.error().message);
            return;
        }
        const std::string sealed = text_of(evidence_->header, "task_sha256");
        if (sealed.empty()) { part.unchecked("the journal's header has no hash of task.yaml: an older version began the task"); }
        if (!sealed.empty() && sealed != sha256(*task)) {
            part.fault("task.yaml is not the file that the journal's header names");
        }
        const auto document = parse_yaml(*task, "task.yaml", {largest_file, 4'000'000, 200});
        if (!document.ok() || !document->value.is_object()) {
            part.fault("task.yaml cannot be read");
            return;
        }
        const json::object& fields = document->value.get_object();
        if (text_of(fields, "task_id") != verdict_.task_id) {
            part.fault("task.yaml belongs to task " + text_of(fields, "task_id"));
        }
        if (text_of(fields, "request") != state().request) {
            part.fault("the request in task.yaml differs from the one in the journal");
        }
        json::object request{{"task_id", text_of(fields, "task_id")}, {"original_request", text_of(fields, "request")}};
        if (const std::string created = text_of(fields, "created_at"); !created.empty()) {
            request.emplace("received_at", created);
        }
        const auto asked = read_file(evidence_->paths.inputs() / "original_request.yaml", largest_file);
        if (!asked.ok() || *asked != to_yaml(request)) {
            part.fault("artifacts/inputs/original_request.yaml is not the request of task.yaml");
        }
        check_uncovered_files(part);
        FileFindings found = compare_with_journal(*evidence_);
        for (std::string& fault : found.faults) { part.fault(std::move(fault)); }
        for (std::string& detail : found.unchecked) { part.unchecked(std::move(detail)); }
        part.passed("task.yaml and the request are those that the journal began with");
    }

    /// Checks that the folder has no files that neither the statement nor the journal covers: files of tasks that this one does
    /// not continue and, in an archive, files of running processes.
    void check_uncovered_files(Part& part) const {
        constexpr std::array compared_elsewhere{std::string_view("state.yaml"), std::string_view("working_memory.yaml"),
                                                statement_file, signature_file};
        constexpr std::array archived_by_older_versions{"detached.log", "pause.request"};
        std::set<std::string> parents;
        if (const auto journals = Journal::files(evidence_->paths.journal()); journals.ok()) {
            for (const JournalFile& journal : *journals) { parents.insert(journal.path.stem().string()); }
        }
        std::error_code error;
        for (fs::recursive_directory_iterator it(place_.folder, error), end; !error && it != end; it.increment(error)) {
            const fs::path path = it->path().lexically_relative(place_.folder);
            const std::string name = path.string();
            std::error_code none;
            if (it->is_symlink(none)) {
                part.fault(name + " is a link, and no task writes one");
                continue;
            }
            if (it->is_directory(none) || !is_transient_file(name)) { continue; }
            if (std::ranges::find(compared_elsewhere, name) != compared_elsewhere.end()) { continue; }
            if (std::ranges::find(archived_by_older_versions, name) != archived_by_older_versions.end()) {
                if (place_.is_archive) { part.unchecked("nothing vouches for " + name); }
                continue;
            }
            const bool is_of_process = !path.has_parent_path() || is_unfinished_restore(name);
            const bool is_shared = path.filename() == "blobs.yaml" ? parents.contains(path.parent_path().filename().string())
                                                                   : parents.contains(path.stem().string());
            if (is_of_process ? place_.is_archive : !is_shared) {
                part.fault((place_.is_archive ? "the archive has " : "the folder has ") + name +
                           ", which no archive of this task contains");
            }
        }
        if (error) { part.fault("its files cannot be listed: " + error.message()); }
    }

    void check_blob_files() {
        Part part(verdict_, "blobs");
        const fs::path root = place_.blobs.empty() ? place_.folder / "artifacts" / "blobs" : place_.blobs;
        std::vector<fs::path> stores{root};
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(root, none)) {
            if (entry.is_directory(none) && !entry.is_symlink(none)) { stores.push_back(entry.path()); }
        }
        std::uint64_t bytes = 0;
        for (const fs::path& store : stores) {
            auto check = check_blobs(store);
            if (!check.ok()) {
                part.fault(check.error().message + " (" + check.error().where + ")");
                continue;
            }
            for (const std::string& fault : check->faults) {
                part.fault(
                    (fs::path("artifacts/blobs") / store.lexically_relative(root) / "blobs.yaml").lexically_normal().string() +
                    ", " + fault);
            }
            blobs_.merge(check->hashes);
            bytes += check->bytes;
        }
        part.passed(counted(blobs_.size(), "blob", "blobs") + " of " + std::to_string(bytes) +
                    " bytes have the hashes of their names" +
                    (place_.blobs.empty() ? "" : "; only the archive has them, the task's folder does not (`gc --blobs`)"));
    }

    void check_named_blobs() {
        check_blob_files();
        Part part(verdict_, "blobs");
        std::set<std::string> missing;
        std::size_t named = 0;
        const auto count_blob = [&](const std::string& hash) {
            ++named;
            if (!blobs_.contains(hash)) { missing.insert(hash); }
        };
        for (const Record& each : records()) {
            for_each_blob(each.body, count_blob);
            if (const auto accepted = records::as<records::ArtifactAccepted>(each)) { count_blob(accepted->artifact_hash); }
        }
        for (const std::string& hash : missing) { part.fault("blob " + hash + ", which a record names, is missing"); }
        part.passed("all blobs that records name exist (named " + counted(named, "time", "times") + ")");
    }

    [[nodiscard]] std::optional<json::object> blob(const std::string& hash) const {
        const auto text = BlobStore(evidence_->blobs).get(hash);
        if (!text.ok()) { return std::nullopt; }
        auto value = parse_json(*text, "blob");
        return value.ok() && value->is_object() ? std::optional(std::move(value->get_object())) : std::nullopt;
    }

    /// Checks that the files of accepted artifacts are unchanged since acceptance.
    void check_artifacts() {
        Part part(verdict_, "artifacts");
        std::map<std::string, std::string> newest;  // File and blob.
        for (const Record& each : records()) {
            if (const auto accepted = records::as<records::ArtifactAccepted>(each)) {
                newest[accepted->artifact] = accepted->artifact_hash;
            }
            if (const auto reviewed = records::as<records::ReviewFinished>(each); reviewed && !reviewed->review->empty()) {
                newest[*reviewed->review] = *reviewed->review_blob;
            }
        }
        std::size_t gone = 0;
        for (const auto& [name, hash] : newest) {
            const auto text = read_file(file(name), largest_file);
            if (!text.ok()) {
                // A fork has only the files of its state: older artifacts of repeated stages are blobs.
                if (evidence_->header.contains("forked_from")) {
                    ++gone;
                } else {
                    part.fault(name + " cannot be read");
                }
                continue;
            }
            const auto written = blob(hash);
            const auto document = parse_yaml(*text, name, {largest_file, 4'000'000, 200});
            static const json::object nothing;
            const json::object* const fields = document.ok() ? document->value.if_object() : nullptr;
            const auto envelope = StageArtifact::from_json(fields == nullptr ? nothing : *fields);
            if (!written) { continue; }  // Reported with the blobs.
            json::object data = *written;
            data.erase("_artifact_meta");
            data.erase("_metadata");
            if (!envelope.ok() || envelope->data != data || to_yaml(envelope->to_json()) != *text ||
                text_of(envelope->metadata, "task_id") != verdict_.task_id) {
                part.fault(name + " is not the artifact that was accepted (blob " + hash + ")");
            }
        }
        check_delivered_patches(part);
        if (gone != 0) {
            part.unchecked(counted(gone, "artifact", "artifacts") +
                           " of the task that this one continues from: their blobs are here, not their files");
        }
        part.passed(counted(newest.size() - gone, "artifact", "artifacts") + " and reviews are those that were accepted");
    }

    void check_delivered_patches(Part& part) const {
        for (const Record& each : records()) {
            const auto delivered = records::as<records::Delivered>(each);
            if (!delivered || !delivered->patch_file) { continue; }
            const auto text = read_file(file(*delivered->patch_file), largest_file);
            if (!text.ok() || sha256(*text) != delivered->patch_sha256) {
                part.fault(*delivered->patch_file + " is not the patch that was delivered");
            }
        }
    }

    Result<void> check_trees() {
        Part part(verdict_, "trees");
        const RecordedTrees trees = check_recorded_trees(part);
        AF_TRY(const auto refs, refs_below(place_.repository, "refs/agentforge/" + verdict_.task_id + "/"));
        check_step_refs(part, refs);
        report_trees(part, trees, std::ranges::any_of(refs, [&](const RefTarget& ref) { return is_before_gc(ref); }));
        return {};
    }

    /// True if the ref shows that `gc` has not removed the task's trees: it leaves only the tests' tree.
    [[nodiscard]] bool is_before_gc(const RefTarget& ref) const {
        const std::string name = ref.name.substr(ref.name.rfind('/') + 1);
        const bool is_recorded = name.starts_with("step-") || name.starts_with("seq-") || name.starts_with("answer-");
        return is_recorded && ref.id != state().red_tree && ref.id != delivery_base(state()).red_tree;
    }

    RecordedTrees check_recorded_trees(Part& part) {
        RecordedTrees trees;
        const bool partial = is_partial_clone(place_.repository);
        const auto named = trees_of(records());
        trees.named = named.size();
        for (const auto& [tree, first] : named) {
            const Sequence seq = first.seq;
            if (!objects_->has(tree) && seq <= shared_records()) {
                ++trees.shared;
                continue;
            }
            if (!objects_->has(tree) && first.is_only_gates) {
                ++trees.only_gates;
                continue;
            }
            if (!objects_->has(tree)) {
                ++trees.missing;
                if (trees.first_missing.empty()) { trees.first_missing = tree + " of record " + std::to_string(seq); }
                continue;
            }
            for (const std::string& fault : objects_->faults_of_tree(tree)) {
                if (partial && fault.ends_with(" is missing")) {
                    ++trees.unfetched;
                } else {
                    part.fault("record " + std::to_string(seq) + ": " + fault);
                }
            }
        }
        return trees;
    }

    /// Checks that the ref of each step points to the step's tree in the journal.
    void check_step_refs(Part& part, const std::vector<RefTarget>& refs) {
        std::map<std::string, std::pair<Sequence, std::string>> steps;  // By number: the record and the tree after it.
        for (const Record& each : records()) {
            if (const auto step = records::as<records::Step>(each)) {
                steps.emplace(std::to_string(records::envelope_in(each).step), std::pair(each.seq, *step->tree));
            }
        }
        Sequence vouched = 0;
        for (const RefTarget& ref : refs) {
            const std::string name = ref.name.substr(ref.name.rfind('/') + 1);
            if (!name.starts_with("step-")) { continue; }
            const std::string number = name.substr(5);
            const auto step = steps.find(number);
            if (step == steps.end()) {
                // The ref is written before the record: one step ahead means that a process ended between the two.
                if (number == std::to_string(state().steps + 1) && !is_terminal(state().status)) { continue; }
                part.fault("the ref " + ref.name + " is of a step that the journal does not have: its end was cut off");
            } else if (step->second.second != ref.id) {
                part.fault("the ref " + ref.name + " points to " + ref.id + ", but the journal says " + step->second.second);
            } else {
                vouched = std::max(vouched, step->second.first);
            }
        }
        add_voucher("refs", vouched);
    }

    /// `has_refs`: refs of the task keep its trees in the repository.
    void report_trees(Part& part, const RecordedTrees& trees, bool has_refs) const {
        if (trees.missing != 0) {
            const std::string missing = counted(trees.missing, "recorded tree is", "recorded trees are");
            if (has_refs && !place_.is_archive) {
                part.fault(missing + " not in the repository: " + trees.first_missing);
            } else {
                part.unchecked(
                    missing + " not in this repository: " + trees.first_missing +
                    ". Either `agentforge gc` freed them, or they are only where the task ran, under refs/agentforge/" +
                    verdict_.task_id);
            }
        }
        if (trees.only_gates != 0) {
            part.unchecked(counted(trees.only_gates, "tree that a gate measured is", "trees that gates measured are") +
                           " not in this repository: no step recorded it, because the process was killed, so git may free it");
        }
        if (trees.unfetched != 0) {
            part.unchecked(counted(trees.unfetched, "file is", "files are") +
                           " missing: this is a partial clone. Clone without --filter to check everything");
        }
        if (trees.shared != 0) {
            part.unchecked(counted(trees.shared, "recorded tree", "recorded trees") +
                           " of the task that this one continues from: freed there");
        }
        part.passed(counted(trees.named - trees.missing - trees.shared - trees.only_gates, "tree", "trees") + " whole, " +
                    std::to_string(objects_->objects()) + " objects");
    }

    /// Checks that a step's patch equals git's difference of the trees before and after it.
    Result<void> check_patches() {
        Part part(verdict_, "patches");
        TaskState before;
        std::size_t same = 0;
        std::size_t hidden = 0;
        std::size_t elsewhere = 0;
        for (const Record& each : records()) {
            const std::string from = before.tree;
            if (!fold(before, each.body).ok()) { break; }
            const auto step = records::as<records::Step>(each);
            if (!step || !step->patch) { continue; }
            const std::string& patch = *step->patch;
            const std::string& tree = *step->tree;
            const auto text = read_file(file(patch), largest_file);
            if (!text.ok()) {
                if (evidence_->header.contains("forked_from")) {
                    ++elsewhere;
                } else {
                    part.fault(patch + " cannot be read");
                }
                continue;
            }
            if (may_hold_placeholder(*text)) {
                ++hidden;
                continue;
            }
            if (!objects_->has(from) || !objects_->has(tree)) {
                ++elsewhere;
                continue;
            }
            const auto made = repository_->patch(from, tree);
            if (!made.ok()) {
                part.fault(patch + " cannot be compared: " + made.error().message);
                continue;
            }
            if (with_short_ids(*made) == with_short_ids(*text)) {
                ++same;
            } else {
                part.fault(patch + " is not the difference of the trees of step " + std::to_string(before.steps));
            }
        }
        if (hidden != 0) {
            part.unchecked(counted(hidden, "patch has", "patches have") + " a secret hidden, so they differ from the trees");
        }
        if (elsewhere != 0) { part.unchecked(counted(elsewhere, "patch", "patches") + ": its trees, or the file, are not here"); }
        part.passed(counted(same, "patch matches", "patches match") + " the recorded trees");
        return {};
    }

    /// Checks the commit that carries the change: its tree, its parent, and the record that its trailer names.
    Result<void> check_delivered_commit() {
        if (state().commit.empty()) { return {}; }
        Part part(verdict_, "commit");
        if (!objects_->has(state().commit)) {
            part.unchecked("the delivered commit " + state().commit + " is not in this repository");
            return {};
        }
        AF_TRY(const WrittenCommit commit, written_commit(place_.repository, state().commit));
        AF_TRY(note_, read_note(place_.repository, state().commit));
        const DeliveryBase base = delivery_base(state());
        if (commit.tree != delivered_tree(state())) {
            part.fault("commit " + state().commit + " has a different tree from the one in the journal");
        }
        if (commit.parent != base.commit) {
            part.fault("commit " + state().commit + " has a different parent from the one in the journal");
        }
        check_signature_of(commit, part);
        const CommitTrailers trailers = trailers_of(commit.message);
        const Record* const named = record(trailers.seq);
        if (trailers.task_id != state().task_id) {
            part.fault("commit " + state().commit + " names task `" + trailers.task_id + "`");
        }
        if (named == nullptr) {
            part.fault("the trailer of commit " + state().commit + " names record " + std::to_string(trailers.seq) +
                       ", which the journal does not have: its end was cut off");
        } else if (named->hash != trailers.hash) {
            part.fault("the trailer of commit " + state().commit + " names another record " + std::to_string(trailers.seq) +
                       " than the journal has");
        } else {
            add_voucher("trailer", trailers.seq);
        }
        part.passed("commit " + state().commit +
                    " has the delivered tree, its parent is the base, and its trailer names record " +
                    std::to_string(trailers.seq));
        return {};
    }
    void check_signature_of(const WrittenCommit& commit, Part& part) {
        const bool recorded = state().delivery.signed_.value_or(commit.is_signed());
        if (recorded != commit.is_signed()) {
            part.fault("the journal says that commit " + state().commit +
                       (recorded ? " is signed; it is not" : " is not signed; it is"));
        }
        commit_signature_ = signature_of(commit, tools_, stop_);
        if (!commit.is_signed()) { return; }
        verdict_.add("signature", answer_to(commit_signature_.answer), "of the commit: " + detail_of(commit_signature_.answer));
    }

    /// Checks the project's log, which has steps and ends of tasks. It may be missing or rotated.
    void check_log() {
        if (place_.log.empty()) { return; }
        Part part(verdict_, "end");
        std::uint64_t steps = 0;
        bool completed = false;
        const std::string mark = "\"" + verdict_.task_id + "\"";
        for (const std::string& name :
             {place_.log.string(), place_.log.string() + ".1", place_.log.string() + ".2", place_.log.string() + ".3"}) {
            std::ifstream in(name, std::ios::binary);
            for (std::string line; std::getline(in, line);) {
                if (line.find(mark) == std::string::npos) { continue; }
                const auto parsed = parse_json(line, "log");
                const json::object* event = parsed.ok() ? parsed->if_object() : nullptr;
                if (event == nullptr || text_of(*event, "task_id") != verdict_.task_id) { continue; }
                steps = std::max(steps, number_of(*event, "step"));
                completed = completed || text_of(*event, "event") == records::TaskCompleted::type;
            }
        }
        if (steps > state().steps) {
            part.fault("the log has step " + std::to_string(steps) + ", but the journal ends with step " +
                       std::to_string(state().steps) + ": its end was cut off");
        }
        const bool known = std::ranges::any_of(records(), [](const Record& each) {
            return each.type() == records::TaskCompleted::type;
        });  // The task may have continued since.
        if (completed && !known) {
            part.fault("the log says that the task was completed, but the journal does not: its end was cut off");
        }
        Sequence seq = 0;
        for (const Record& each : records()) {
            if (each.type() == records::Step::type && records::envelope_in(each).step <= steps) { seq = std::max(seq, each.seq); }
            if (each.type() == records::TaskCompleted::type && completed) { seq = std::max(seq, each.seq); }
        }
        add_voucher("log", seq);
    }

    /// Checks that this journal continues the one in the repository's archive of the task.
    Result<void> check_archive() {
        if (!repository_ || place_.is_archive) { return {}; }
        AF_TRY(const auto refs, refs_below(place_.repository, "refs/agentforge/archive/" + verdict_.task_id));
        const auto found = std::ranges::find(refs, "refs/agentforge/archive/" + verdict_.task_id, &RefTarget::name);
        if (found == refs.end()) { return {}; }
        archive_ = *found;
        Part part(verdict_, "end");
        AF_TRY(const auto archived, archived_file("actions.yaml"));
        AF_TRY(const std::string here, read_file(evidence_->paths.journal(), largest_file));
        if (!archived || !here.starts_with(*archived)) {
            part.fault("the journal does not begin with the one that the repository keeps (" + found->name + ")");
            return {};
        }
        const std::size_t last = archived->rfind("\n- ", archived->size() - 1);
        const auto line = last == std::string::npos ? Result<json::value>(json::object())
                                                    : parse_json(std::string_view(*archived).substr(last + 3), "archive");
        if (line.ok() && line->is_object()) { add_voucher("archive", number_of(line->get_object(), "seq")); }
        return {};
    }

    /// Returns a file of the task's folder from the repository's archive. Nothing if the archive, or the file in it, does not
    /// exist.
    Result<std::optional<std::string>> archived_file(std::string_view name) {
        if (!archive_) { return std::optional<std::string>(); }
        return repository_->file_in_tree(archive_->id, "task/" + std::string(name));
    }

    Result<void> check_statement() {
        const auto text = read_file(file(statement_file), largest_file);
        if (!text.ok()) { return report_missing_statement(); }
        Part part(verdict_, "statement");
        const auto parsed = parse_json(*text, "statement");
        const json::object* const predicate = predicate_of(parsed);
        if (predicate == nullptr) {
            part.fault("the statement cannot be read");
            return {};
        }
        const JournalHead head = stated_head(*predicate);
        const Record* const named = record(head.seq);
        if (named == nullptr || named->hash != head.hash) {
            part.fault("the statement names record " + std::to_string(head.seq) + " (" + head.hash +
                       "), which the journal does not have: its end was cut off, or the statement is another task's");
            return check_statement_signature(*text,
                                             records().empty() ? std::chrono::sys_seconds() : recorded_at(records().back()));
        }
        add_voucher("statement", head.seq);
        if (note_) { compare_note(part, *text, head.seq); }
        if (head.seq != verdict_.head.seq) {
            const std::string of_record = " (of record " + std::to_string(head.seq) + ")";
            if (has_statement(state())) {
                part.fault(std::string(grown_since) + of_record +
                           ", and there is no newer statement. If a command was killed, `agentforge gc` makes one");
                AF_CHECK(check_files_of_statement(part, *predicate, true));
            } else {  // The task continues after a delivery.
                part.unchecked(std::string(grown_since) + of_record);
            }
            return check_statement_signature(*text, recorded_at(*named));
        }
        AF_TRY(const auto again, recomputed_statement(part, *predicate));
        if (again && *again == to_json_pretty(without_transient_files(parsed->get_object()))) {
            if (*text != to_json_pretty(*parsed)) {
                part.fault("the statement has the right fields, but not the right bytes: it was reformatted");
            }
            part.passed("the statement equals the one computed from the task's files: tree " + delivered_tree(state()) + ", " +
                        counted(predicate->at("gates").as_array().size(), "gate", "gates"));
            return check_statement_signature(*text, recorded_at(*named));
        }
        AF_CHECK(check_files_of_statement(part, *predicate, false));
        AF_CHECK(check_statement_signature(*text, recorded_at(*named)));
        if (again) { part.fault("the statement differs from the one computed from the task's files"); }
        return {};
    }

    Result<void> report_missing_statement() {
        if (!has_statement(state())) { return {}; }
        AF_TRY(const auto archived, archived_file(statement_file));
        const bool is_recorded = state().delivery.signed_.has_value();  // Older versions wrote neither this nor a statement.
        if (archived || note_) {
            verdict_.add("statement", AuditAnswer::fails, removal_text(statement_file, archived.has_value()));
        } else if (needs_signature() || (place_.is_archive && is_recorded)) {
            verdict_.add(
                "statement", AuditAnswer::fails,
                std::string(no_statement) + (needs_signature() ? ", but its commit is signed" : "") +
                    ": the statement was removed, or could not be written. If a command was killed, `agentforge gc` makes it; "
                    "else `agentforge rebase " +
                    short_id(verdict_.task_id) + " --set delivery.sign=never` makes an unsigned commit with a statement");
        } else {
            verdict_.add("statement", AuditAnswer::unchecked,
                         std::string(no_statement) + ": an older version delivered it, or it could not be written");
        }
        return {};
    }

    /// Makes the statement again from the task's files. Nothing if some of its sources are missing here.
    Result<std::optional<std::string>> recomputed_statement(Part& part, const json::object& predicate) {
        std::map<std::string, std::string> questions;
        if (place_.escalations.empty() && names_questions(predicate)) {
            part.unchecked("the questions to people are not here, so their hashes were not compared");
            questions = stated_questions(predicate);
        }
        const bool has_tree = repository_ && objects_->has(delivered_tree(state()));
        if (!has_tree) { part.unchecked("the delivered tree is not here, so the hashes of its tests were not compared"); }
        if (!has_tree) { AF_CHECK(compare_test_files(part, list_of(predicate, "tests"))); }
        auto made = has_tree ? make_statement(*evidence_, *repository_, questions)
                             : make_statement(*evidence_, json::array(list_of(predicate, "tests")), questions);
        if (!made.ok() && is_missing_blob(made.error())) {
            part.unchecked("blobs of the task are missing, so the statement cannot be recomputed and compared");
            return std::optional<std::string>();
        }
        if (!made.ok()) { return std::move(made).error(); }
        return std::optional(std::move(made).value());
    }

    /// Checks that artifacts of the task hand in the test files in the statement. Without the delivered tree, this is all that
    /// can be checked of them.
    Result<void> compare_test_files(Part& part, const json::array& stated) const {
        auto handed_in = test_files(*evidence_);
        if (!handed_in.ok()) { return is_missing_blob(handed_in.error()) ? Result<void>() : handed_in.error(); }
        for (const json::value& test : stated) {
            const std::string path = test.is_object() ? text_of(test.get_object(), "path") : std::string();
            if (!handed_in->contains(path)) {
                part.fault("the statement names the test file `" + path + "`, which no artifact of the task hands in");
            }
        }
        return {};
    }

    /// Checks that each file in the statement has the hash given there. `has_grown`: skips those that grow with the journal.
    Result<void> check_files_of_statement(Part& part, const json::object& predicate, bool has_grown) {
        const auto grows = [&](std::string_view name) {
            return has_grown && (name == "actions.yaml" || name == "artifacts/blobs/blobs.yaml");
        };
        AF_TRY(const auto files, files_of_task(*evidence_));
        static const json::object nothing;
        const json::object* const named = object_at(predicate, "files");
        const json::object& expected = named != nullptr ? *named : nothing;
        for (const auto& [name, hash] : expected) {
            if (is_transient_file(name) || grows(name) || (place_.escalations.empty() && is_question(name))) { continue; }
            const auto found = files.find(std::string(name));
            if (found == files.end()) {
                part.fault(std::string(name) + ", which the statement names, is missing");
            } else if (hash != json::value(found->second)) {
                part.fault(std::string(name) + " is not the file that the statement names");
            }
        }
        for (const auto& [name, hash] : files) {
            if (!expected.contains(name)) { part.fault(name + " is in no statement"); }
        }
        return {};
    }

    /// Checks that the note of the commit, which is written with the statement, has the same statement. Other notes under the
    /// same name, or merged with it, prove nothing.
    void compare_note(Part& part, const std::string& text, Sequence seq) const {
        const std::string stated = split_signed(*note_).first;
        const auto parsed = parse_json(stated, "note");
        const json::object* const predicate = predicate_of(parsed);
        const json::object* const head = predicate == nullptr ? nullptr : object_at(*predicate, "journal");
        if (head == nullptr) {
            if (note_->find(text) == std::string::npos) {
                part.unchecked("the note of the commit (" + std::string(statement_notes) + ") holds no statement");
            }
            return;
        }
        const bool of_this_record = number_of(*head, "records") == seq;  // Others may be older.
        if (of_this_record && stated != text) {
            part.fault("the note of the commit (" + std::string(statement_notes) + ") has another statement");
        }
    }

    /// True if only a signed statement can be the task's.
    [[nodiscard]] bool needs_signature() const {
        return commit_signature_.is_known ? commit_signature_.is_signed : state().delivery.signed_.value_or(false);
    }

    [[nodiscard]] std::string removal_text(std::string_view name, bool archived) const {
        return std::string(name) + " was removed; " +
               (archived ? archive_->name : "the note of the commit (" + std::string(statement_notes) + ")") + " still has it";
    }

    /// Checks the signature of a statement that was made at this time.
    Result<void> check_statement_signature(const std::string& statement, std::chrono::sys_seconds time) {
        const auto signature = read_file(file(signature_file), largest_file);
        AF_TRY(const auto archived, archived_file(signature_file));
        AF_TRY(const auto of, archived_file(statement_file));
        const bool in_archive = archived && of == statement;
        const auto [noted, note_signature] = split_signed(note_.value_or(""));
        const bool in_note = !note_signature.empty() && noted == statement;
        if (signature.ok()) {
            add_statement_signature(verdict_, tools_, {statement_namespace, statement, *signature, time}, commit_signature_,
                                    stop_);
            if (in_archive && without_line_ends(*archived) != without_line_ends(*signature)) {
                verdict_.add("signature", AuditAnswer::fails,
                             std::string(signature_file) + " is not the signature that " + archive_->name + " has");
            } else if (in_note && without_line_ends(note_signature) != without_line_ends(*signature)) {
                verdict_.add("signature", AuditAnswer::fails,
                             std::string(signature_file) + " is not the signature that the note of the commit has");
            }
            return {};
        }
        if (in_archive || in_note) {
            verdict_.add("signature", AuditAnswer::fails, removal_text(signature_file, in_archive));
        } else if (needs_signature()) {
            verdict_.add(
                "signature", AuditAnswer::fails,
                "the statement is not signed, but the commit is: its signature was removed, or could not be made. If this "
                "machine still has to sign it, `agentforge resume " +
                    short_id(verdict_.task_id) + "` does so");
        } else {
            verdict_.add("signature", AuditAnswer::unchecked, "the statement is not signed");
        }
        return {};
    }

    /// Determines what confirms the end of the journal.
    void report_end() {
        Sequence furthest = 0;
        std::string who;
        for (const AuditVoucher& each : verdict_.vouchers) {
            furthest = std::max(furthest, each.seq);
            who += (who.empty() ? "" : ", ") + each.who + " to record " + std::to_string(each.seq);
        }
        if (furthest >= verdict_.head.seq) {
            verdict_.add("end", AuditAnswer::holds, "vouched for by " + who);
        } else {
            verdict_.add("end", AuditAnswer::unchecked,
                         (who.empty() ? "nothing outside the journal vouches for its end"
                                      : "vouched for by " + who + "; nothing outside the journal vouches for what follows"));
        }
    }

private:
    const AuditPlace& place_;
    const SignatureTools& tools_;
    const Stop& stop_;
    AuditVerdict verdict_;
    const TaskEvidence* evidence_ = nullptr;
    std::optional<Repository> repository_;
    std::optional<ObjectCheck> objects_;
    std::optional<RefTarget> archive_;  ///< The repository's archive of the task.
    std::optional<std::string> note_;   ///< The delivered commit's.
    CommitSignature commit_signature_;
    std::set<std::string, std::less<>> blobs_;
};

}  // namespace

std::string_view to_string(AuditAnswer answer) noexcept {
    switch (answer) {
        case AuditAnswer::holds:
            return "holds";
        case AuditAnswer::fails:
            return "fails";
        case AuditAnswer::unchecked:
            return "unchecked";
    }
    return "unknown";
}

bool AuditVerdict::holds() const noexcept {
    return std::ranges::none_of(findings, [](const AuditFinding& finding) { return finding.answer == AuditAnswer::fails; });
}

json::object to_json(const AuditVerdict& verdict) {
    json::array findings;
    for (const AuditFinding& each : verdict.findings) {
        findings.push_back(json::object{{"part", each.part}, {"answer", to_string(each.answer)}, {"told", each.detail}});
    }
    json::array vouchers;
    for (const AuditVoucher& each : verdict.vouchers) { vouchers.push_back(json::object{{"who", each.who}, {"seq", each.seq}}); }
    return {{"task_id", verdict.task_id},      {"status", text_or_null(verdict.status)},
            {"verified", verdict.what},        {"holds", verdict.holds()},
            {"records", verdict.head.seq},     {"head", verdict.head.hash},
            {"findings", std::move(findings)}, {"vouchers", std::move(vouchers)}};
}

Result<AuditVerdict> verify_task(const AuditPlace& place, const SignatureTools& tools, const Stop& stop) {
    return Verifier(place, tools, stop).run();
}

Result<AuditVerdict> verify_files(const TaskEvidence& evidence, const fs::path& repository, const SignatureTools& tools,
                                  const Stop& stop) {
    const AuditPlace place{evidence.state.task_id, evidence.paths.root, evidence.escalations, repository, {}, false, {}};
    return Verifier(place, tools, stop).run_on_files(evidence);
}

}  // namespace agentforge::kernel
