// SPDX-License-Identifier: Apache-2.0
// What a request is for (North Star 13.3): the goals there are, and the words by which one is known. Both are data:
// config/goals.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct Goal {
    std::string name;
    std::string pipeline;            ///< The template that reaches it.
    std::vector<std::string> words;  ///< In lower case, one space between the words of a phrase; no two goals share one.
};

struct ChosenGoal {
    std::string goal;
    std::string pipeline;
    std::string word;  ///< What decided, as it stands in the request; empty: nothing did, and this is the default.
};

class Goals {
public:
    /// Reads `goals.yaml` of the product's config folder. Errors: AF-CONF-… no YAML; AF-PIPE-014 an unknown key, a word twice, a
    /// goal without a pipeline or words, a default that is no goal; with file and line.
    [[nodiscard]] static Result<Goals> load(const std::string& file);

    /// The goal whose word or phrase stands first in the request; of those that begin at one place, the longest. Only whole words
    /// count, in any case (of ASCII); `-`, `.` and `/` between two letters make one word of both, so that no file's name decides.
    [[nodiscard]] ChosenGoal of_request(std::string_view request) const;
    /// What a task is for that is given a specification or tests, whatever the words: `with_artifacts`, or the default.
    [[nodiscard]] const Goal& with_artifacts() const;
    /// The goal of that name; null: there is none.
    [[nodiscard]] const Goal* named(std::string_view name) const;
    [[nodiscard]] const std::vector<Goal>& all() const { return goals_; }

private:
    std::vector<Goal> goals_;
    std::string default_;
    std::string with_artifacts_;
};

}  // namespace agentforge::kernel
