// SPDX-License-Identifier: Apache-2.0
#include "task/listing_cache.hpp"

#include <array>
#include <cstring>

#include "base/checksum.hpp"
#include "base/files.hpp"

namespace agentforge::kernel {

namespace {

constexpr std::uint64_t largest_cache = 256ULL << 20U;

struct CacheHeader {
    std::array<char, 8> magic{'A', 'F', 't', 'a', 's', 'k', 's', '\1'};
    std::uint64_t entries = 0;
    std::uint64_t sum = 0;  ///< Checksum of everything after the header.
};

/// The string fields of an entry, in file order.
constexpr std::array<std::string TaskSummary::*, 8> texts{
    &TaskSummary::task_id,       &TaskSummary::request,    &TaskSummary::status,     &TaskSummary::pipeline,
    &TaskSummary::current_stage, &TaskSummary::created_at, &TaskSummary::updated_at, &TaskSummary::waiting_for};

template <typename Value>
void put(std::string& bytes, const Value& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Reads values from the bytes in order. `take` returns false if the bytes end too early.
class CacheReader {
public:
    CacheReader(std::string_view bytes, std::size_t at) : bytes_(bytes), at_(at) {}
    template <typename Value>
    bool take(Value& value) {
        if (bytes_.size() - at_ < sizeof value) { return false; }
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return true;
    }
    bool take_text(std::string_view& text) {
        std::uint32_t size = 0;
        if (!take(size) || bytes_.size() - at_ < size) { return false; }
        text = bytes_.substr(at_, size);
        at_ += size;
        return true;
    }
    [[nodiscard]] std::size_t position() const { return at_; }

private:
    std::string_view bytes_;
    std::size_t at_;
};

}  // namespace

ListingCache ListingCache::load(const std::filesystem::path& file) {
    ListingCache cache;
    auto bytes = read_file(file, largest_cache);
    if (!bytes.ok()) { return cache; }
    cache.bytes_ = std::make_unique<const std::string>(std::move(bytes).value());
    const std::string& whole = *cache.bytes_;
    CacheHeader header;
    const CacheHeader expected;
    CacheReader reader(whole, 0);
    Checksum sum;
    const bool known = reader.take(header) && header.magic == expected.magic;
    if (known) { sum.add(whole.data() + sizeof header, whole.size() - sizeof header); }
    if (!known || sum.value() != header.sum || header.entries > whole.size()) { return {}; }
    cache.lines_.reserve(header.entries);
    for (std::uint64_t index = 0; index < header.entries; ++index) {
        Line line;
        if (!reader.take(line.stamp)) { return {}; }
        line.begin = reader.position();
        std::string_view waiting_for;
        for (const auto field : texts) {
            std::string_view text;
            if (!reader.take_text(text)) { return {}; }
            if (field == &TaskSummary::task_id) { line.task_id = text; }
            if (field == &TaskSummary::status) { line.status = text; }
            if (field == &TaskSummary::created_at) { line.created_at = text; }
            if (field == &TaskSummary::waiting_for) { waiting_for = text; }
        }
        line.has_ended = is_end(line.status) && waiting_for.empty();
        cache.lines_.emplace(line.task_id, line);
    }
    return reader.position() == whole.size() ? std::move(cache) : ListingCache();
}

const ListingCache::Line* ListingCache::find(std::string_view task_id, const JournalStamp& stamp) const {
    const auto found = lines_.find(task_id);
    return found != lines_.end() && found->second.stamp == stamp ? &found->second : nullptr;
}

TaskSummary ListingCache::summary(const Line& line) const {
    CacheReader reader(*bytes_, line.begin);
    TaskSummary summary;
    std::string_view text;
    for (const auto field : texts) {
        if (reader.take_text(text)) { summary.*field = text; }
    }
    return summary;
}

void ListingCache::save(const std::filesystem::path& file, const std::vector<Kept>& entries) {
    CacheHeader header;
    std::string bytes(sizeof header, '\0');
    for (const Kept& kept : entries) {
        put(bytes, kept.stamp);
        for (const auto field : texts) {
            const std::string& text = kept.summary->*field;
            put(bytes, static_cast<std::uint32_t>(text.size()));
            bytes += text;
        }
    }
    if (bytes.size() > largest_cache) { return; }
    header.entries = entries.size();
    Checksum sum;
    sum.add(bytes.data() + sizeof header, bytes.size() - sizeof header);
    header.sum = sum.value();
    std::memcpy(bytes.data(), &header, sizeof header);
    (void)write_file_atomic(file, bytes, Durability::cached).ok();
}

}  // namespace agentforge::kernel
