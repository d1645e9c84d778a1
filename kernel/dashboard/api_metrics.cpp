// SPDX-License-Identifier: Apache-2.0
// `GET /metrics`: sums over all tasks for Prometheus, in its text format (version 0.0.4).
#include <map>
#include <sstream>
#include <vector>

#include "dashboard/dashboard.hpp"

namespace agentforge::kernel {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

std::string escaped(const std::string& value) {
    std::string text;
    for (const char letter : value) {
        if (letter == '\n') {
            text += "\\n";
            continue;
        }
        if (letter == '\\' || letter == '"') { text += '\\'; }
        text += letter;
    }
    return text;
}

/// One metric. All are gauges: a removed task no longer counts.
class Gauge {
public:
    Gauge(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}
    void add(const Labels& labels, double value) { values_[labels] += value; }
    void write(std::ostream& out) const {
        out << "# HELP " << name_ << " " << help_ << "\n# TYPE " << name_ << " gauge\n";
        for (const auto& [labels, value] : values_) {
            out << name_;
            const char* between = "{";
            for (const auto& [label, text] : labels) {
                out << between << label << "=\"" << escaped(text) << "\"";
                between = ",";
            }
            out << (labels.empty() ? " " : "} ") << value << "\n";
        }
    }

private:
    std::string name_;
    std::string help_;
    std::map<Labels, double> values_;
};

struct Gauges {
    Gauge tasks{"agentforge_tasks", "Tasks by their current state."};
    Gauge waiting{"agentforge_waiting_tasks", "Tasks that wait for a person."};
    Gauge tokens{"agentforge_tokens", "Tokens of model calls; a fork's without those of its parent."};
    Gauge calls{"agentforge_model_calls", "Answered model calls; a fork's without those of its parent."};
    Gauge cost{"agentforge_cost_usd", "Cost of model calls, as far as it is known; a fork's without that of its parent."};
    Gauge steps{"agentforge_stage_steps", "Steps of agents by stage; a fork's include the steps before it."};
    Gauge stage_tokens{"agentforge_stage_tokens", "Tokens of model calls by stage; a fork's include those before it."};
    Gauge stage_seconds{"agentforge_stage_seconds", "Time that stages took."};
    Gauge problems{"agentforge_unreadable", "Tasks and repositories that cannot be read."};

    void write(std::ostream& out) const {
        for (const Gauge* gauge : {&tasks, &waiting, &tokens, &calls, &cost, &steps, &stage_tokens, &stage_seconds, &problems}) {
            gauge->write(out);
        }
    }
};

double number_at(const json::object& object, std::string_view key) {
    const json::value& value = object.at(key);
    return value.is_number() ? value.to_number<double>() : 0;
}

void add_task(Gauges& gauges, const TaskFigures& task) {
    constexpr double milliseconds_of_a_second = 1000;
    const Labels of_repo{{"repo", task.repo}};
    gauges.tasks.add({{"repo", task.repo}, {"pipeline", task.overview.summary.pipeline}, {"state", state_name(task.overview)}},
                     1);
    gauges.waiting.add(of_repo, waits_for_person(task.overview) ? 1 : 0);
    const Spend own = task.statistics ? task.statistics->own_spend : Spend();
    gauges.tokens.add({{"repo", task.repo}, {"type", "input"}}, static_cast<double>(own.input_tokens));
    gauges.tokens.add({{"repo", task.repo}, {"type", "output"}}, static_cast<double>(own.output_tokens));
    gauges.calls.add(of_repo, static_cast<double>(own.calls));
    gauges.cost.add(of_repo, static_cast<double>(own.cost_microusd) * 1e-6);
    const json::object object = to_json(task, std::chrono::system_clock::now());
    for (const json::value& each : object.at("pipeline").at("stages").as_array()) {
        const json::object& stage = each.as_object();
        const Labels of_stage{{"repo", task.repo}, {"stage", std::string(stage.at("name").as_string())}};
        gauges.steps.add(of_stage, number_at(stage, "steps"));
        gauges.stage_tokens.add(of_stage, number_at(stage, "tokens"));
        gauges.stage_seconds.add(of_stage, number_at(stage, "duration_ms") / milliseconds_of_a_second);
    }
}

Result<HttpResponse> show_metrics(const DashboardParts& parts) {
    Gauges gauges;
    for (const auto& task : parts.tasks.tasks()) { add_task(gauges, *task); }
    gauges.problems.add({}, static_cast<double>(parts.tasks.problems().size()));
    std::ostringstream out;
    constexpr int all_digits = 17;
    out.precision(all_digits);
    gauges.write(out);
    return HttpResponse{.headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, .body = out.str()};
}

}  // namespace

void add_metric_routes(std::vector<Route>& routes, const DashboardParts& parts) {
    routes.push_back({"GET", std::string(metrics_path), [parts](const ApiCall&) { return show_metrics(parts); }});
}

}  // namespace agentforge::kernel
