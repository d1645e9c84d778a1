// SPDX-License-Identifier: Apache-2.0
// A kept journal (tests/journals) as the journal of a task, up to the record that a test needs.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/text.hpp"
#include "journal/journal.hpp"
#include "records/records.hpp"

namespace agentforge::kernel::testing {

class KeptJournal {
public:
    explicit KeptJournal(const std::string& name) {
        std::ifstream in(std::filesystem::path(AGENTFORGE_SOURCE_DIR) / "tests" / "journals" / name / "actions.yaml",
                         std::ios::binary);
        bool body = false;
        for (std::string line; std::getline(in, line);) {
            (body ? records_ : head_).push_back(line + "\n");
            body = body || line == "actions:";
        }
        const std::string& first = records_.front();
        const std::size_t at = first.find("task-");
        task_id_ = first.substr(at, first.find('"', at) - at);
    }
    [[nodiscard]] const std::string& task_id() const { return task_id_; }
    [[nodiscard]] std::size_t records() const { return records_.size(); }
    /// Makes the task's folder below `agentforge`/tasks with the first records.
    std::filesystem::path begin(const std::filesystem::path& agentforge, std::size_t count) {
        file_ = agentforge / "tasks" / task_id_ / "actions.yaml";
        std::filesystem::create_directories(file_.parent_path());
        std::ofstream out(file_, std::ios::binary | std::ios::trunc);
        for (const std::string& line : head_) { out << line; }
        out.close();
        written_ = 0;
        append(count);
        return file_.parent_path();
    }
    /// Does the same with all records, in which each first text is replaced by the second.
    std::filesystem::path begin_with(const std::filesystem::path& agentforge,
                                     const std::vector<std::pair<std::string, std::string>>& replaced) {
        const std::filesystem::path folder = begin(agentforge, 0);
        auto journal = Journal::open(file_, disk_);
        if (!journal.ok()) { throw std::runtime_error("no journal to append to"); }
        for (std::string text : records_) {
            for (const auto& [old_text, new_text] : replaced) {
                if (const std::size_t at = text.find(old_text); at != std::string::npos) {
                    text.replace(at, old_text.size(), new_text);
                }
            }
            auto record = parse_json(std::string_view(text).substr(2), "record");
            if (!record.ok()) { throw std::runtime_error("a replaced text makes a record unreadable"); }
            json::object body = record->as_object();
            for (const char* key : {"seq", "prev", "hash"}) { body.stable_erase(key); }
            if (!journal->append(std::move(body)).ok()) { throw std::runtime_error("no record can be appended"); }
        }
        written_ = records_.size();
        return folder;
    }
    void append(std::size_t count) {
        std::ofstream out(file_, std::ios::binary | std::ios::app);
        for (std::size_t n = 0; n < count && written_ < records_.size(); ++n) { out << records_[written_++]; }
    }
    /// Appends the last written step again and again, as steps of its own, with these fields changed.
    void append_steps(std::size_t count, const json::object& changed = {}) {
        auto journal = Journal::open(file_, disk_);
        const auto records = Journal::read(file_);
        if (!journal.ok() || !records.ok()) { throw std::runtime_error("no journal to append to"); }
        json::object step;
        for (const Record& record : *records) {
            if (record.type() == "step") { step = record.body; }
        }
        for (const char* key : {"seq", "prev", "hash"}) { step.stable_erase(key); }
        for (const auto& [key, value] : changed) { step[key] = value; }
        for (std::size_t n = 0; n < count; ++n) {
            step["step"] = step.at("step").to_number<std::int64_t>() + 1;
            if (!journal->append(step).ok()) { throw std::runtime_error("no step can be appended"); }
        }
    }

    /// Appends a record that the kept journal does not have. `step`: steps of the task so far.
    void add(const records::Body& record, std::uint64_t step) {
        json::object body{{"step", step}, {"type", records::type_of(record)}, {"timestamp", "2026-11-24T10:00:00.000Z"}};
        for (auto& [key, value] : records::to_fields(record)) { body[key] = value; }
        auto journal = Journal::open(file_);
        if (journal.ok()) { (void)journal->append(std::move(body)); }  // A test that reads it back fails.
    }

private:
    class Unsynced final : public JournalDisk {
        int sync(int /*descriptor*/) override { return 0; }
    };
    Unsynced disk_;
    std::vector<std::string> head_;
    std::vector<std::string> records_;
    std::string task_id_;
    std::filesystem::path file_;
    std::size_t written_ = 0;
};

}  // namespace agentforge::kernel::testing
