// SPDX-License-Identifier: Apache-2.0
// The workspace of a stage: it enforces the role's rights, and each call is durable.
#pragma once

#include <agentforge/host.hpp>

#include "pipeline/durable_calls.hpp"

namespace agentforge::kernel {

class DurableWorkspace final : public Workspace {
public:
    explicit DurableWorkspace(DurableCalls& calls) : calls_(calls) {}

    [[nodiscard]] Result<FileView> read(std::string_view path, const ReadOptions& options) override;
    [[nodiscard]] Result<Listing> list(std::string_view directory, const ListOptions& options) override;
    [[nodiscard]] Result<SearchHits> search(const SearchQuery& query) override;
    [[nodiscard]] bool exists(std::string_view path) override;
    [[nodiscard]] Result<Change> create(std::string_view path, std::string_view content, bool overwrite) override;
    [[nodiscard]] Result<Change> edit(std::string_view path, std::string_view search, std::string_view replace) override;
    [[nodiscard]] Result<Change> move(std::string_view from, std::string_view to) override;
    [[nodiscard]] Result<Change> remove(std::string_view path) override;

private:
    template <class T, class Run, class Decode>
    Result<T> ask(std::string_view name, const json::object& input, Run run, Decode decode);
    template <class Run>
    Result<Change> write(std::string_view name, const json::object& input, Run run);

    DurableCalls& calls_;
};

}  // namespace agentforge::kernel
