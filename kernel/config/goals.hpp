// SPDX-License-Identifier: Apache-2.0
// The goals that a request may have, and the words that identify each. Both are in config/goals.yaml.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <agentforge/result.hpp>

namespace agentforge::kernel {

struct Goal {
    std::string name;
    std::string pipeline;            ///< The template that achieves it.
    std::vector<std::string> words;  ///< In lower case, with one space between the words of a phrase. No two goals share one.
};

struct ChosenGoal {
    std::string goal;
    std::string pipeline;
    std::string word;  ///< The word of the request that decided. Empty: none did, and this is the default.
};

class Goals {
public:
    /// Reads `goals.yaml` in the product's config folder. Errors, with file and line: AF-CONF-… not YAML; AF-PIPE-014 an unknown
    /// key, a duplicate word, a goal without a pipeline or words, an unknown default.
    [[nodiscard]] static Result<Goals> load(const std::string& file);

    /// Returns the goal whose word or phrase begins the request, after any introduction and openings. The longest match wins.
    /// Matches whole words, ignoring ASCII case. `-`, `.` and `/` between two letters join them to one word, so a file name never
    /// decides.
    [[nodiscard]] ChosenGoal of_request(std::string_view request) const;
    /// Returns the goal of a task that is given a specification or tests, whatever the request says: `with_artifacts`, or the
    /// default.
    [[nodiscard]] const Goal& with_artifacts() const;
    /// Returns the goal with that name, or null.
    [[nodiscard]] const Goal* named(std::string_view name) const;
    [[nodiscard]] const std::vector<Goal>& all() const { return goals_; }

private:
    std::vector<Goal> goals_;
    std::vector<std::string> openings_;       ///< What may precede the first word, such as "please".
    std::vector<std::string> introductions_;  ///< The words that begin an introduction, such as "for".
    std::string default_;
    std::string with_artifacts_;
};

}  // namespace agentforge::kernel
