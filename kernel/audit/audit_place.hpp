// SPDX-License-Identifier: Apache-2.0
// Where the evidence of a task is.
#pragma once

#include <filesystem>
#include <string>

namespace agentforge::kernel {

struct AuditPlace {
    std::string task_id;                ///< The task that the evidence must belong to. Empty: any.
    std::filesystem::path folder;       ///< The task's folder, or its copy from an archive.
    std::filesystem::path escalations;  ///< May be empty.
    std::filesystem::path repository;   ///< For commits, trees, refs. Empty: none is available.
    std::filesystem::path log;          ///< Empty: no log is checked.
    bool is_archive = false;            ///< The folder is the restored archive, so the archive is not a second witness.
    std::filesystem::path blobs = {};   ///< The archive's, if the folder has none (`gc --blobs`). Empty: they are in the folder.
    std::filesystem::path own_journals = {};  ///< Of OwnJournal. Empty: a copy, which may be of an earlier moment.
};

}  // namespace agentforge::kernel
