// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/text.hpp"
#include "contracts/contract.hpp"

namespace agentforge::kernel {

inline const std::string shipped_config = std::string(AGENTFORGE_SOURCE_DIR) + "/config";

inline const ContractSet& contracts() {
    static const ContractSet set = ContractSet::load({shipped_config + "/contracts"}).value();
    return set;
}

/// A folder with files, removed with the test.
class Folder {
public:
    std::string write(const std::string& name, const std::string& text) const {
        const auto path = directory_.path() / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return path.string();
    }
    [[nodiscard]] std::string path() const { return directory_.path().string(); }

private:
    TemporaryDirectory directory_{"config-test"};
};

}  // namespace agentforge::kernel
