// SPDX-License-Identifier: Apache-2.0
#include "dashboard/dashboard.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/hash.hpp"
#include "base/json_fields.hpp"
#include "base/text.hpp"
#include "base/yaml.hpp"
#include "dashboard/page.hpp"
#include "dashboard/problem.hpp"
#include "git/repository.hpp"

namespace agentforge::kernel {

namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::size_t end = std::min(path.find('/'), path.size());
        parts.push_back(path.substr(0, end));
        path.remove_prefix(end);
    }
    return parts;
}

/// Returns the values of the pattern's placeholders, or nothing if the path does not match.
std::optional<std::map<std::string, std::string>> match(std::string_view pattern, std::string_view path) {
    const auto wanted = parts_of(pattern);
    const auto given = parts_of(path);
    if (wanted.size() != given.size()) { return std::nullopt; }
    std::map<std::string, std::string> places;
    for (std::size_t index = 0; index < wanted.size(); ++index) {
        const std::string_view part = wanted[index];
        const bool is_place = part.starts_with('{') && part.ends_with('}');
        if (!is_place && part != given[index]) { return std::nullopt; }
        if (is_place && given[index].empty()) { return std::nullopt; }
        if (is_place) { places.emplace(part.substr(1, part.size() - 2), given[index]); }
    }
    return places;
}

Result<json::object> body_of(const HttpRequest& request) {
    const std::string type = request.header("content-type");
    if (lower_case(trimmed(std::string_view(type).substr(0, type.find(';')))) != "application/json") {
        return Error{"AF-DASH-006", "The request's body is not JSON", "Content-Type",
                     "send a JSON object with `Content-Type: application/json`", ErrorKind::invalid};
    }
    if (!request.header("content-encoding").empty()) {
        return Error{"AF-DASH-006", "The request's body is encoded", "Content-Encoding", "send it as it is", ErrorKind::invalid};
    }
    auto value = parse_json(request.body, "request");
    if (!value.ok() || !value->is_object()) {
        return Error{"AF-DASH-006", "The request's body is not a JSON object", value.ok() ? std::string() : value.error().message,
                     "send a JSON object, as docs/dashboard.md describes", ErrorKind::invalid};
    }
    return std::move(value->get_object());
}

/// Adds an ETag. Answers 304 to a client that already has this body, apart from values that change only because time passes.
void add_etag(const HttpRequest& request, HttpResponse& response) {
    constexpr std::size_t digits = 32;
    if (response.status != 200 || response.events || request.method != "GET") { return; }
    const bool weak = !response.timeless.empty();
    const std::string tag = "\"" + sha256(weak ? response.timeless : response.body).substr(0, digits) + "\"";
    response.headers.emplace_back("ETag", (weak ? "W/" : "") + tag);
    response.headers.emplace_back("Cache-Control", "no-cache, private");
    const std::string has = request.header("if-none-match");
    // The comparison is the weak one of RFC 9110: `W/` makes no difference.
    if (trimmed(has) != "*" && has.find(tag) == std::string::npos) { return; }
    response.status = 304;
    response.body.clear();
}

}  // namespace

Result<Aggregator::Place> place_of(const DashboardParts& parts, const ApiCall& call) {
    const std::string repo = call.request.parameter("repo");
    if (!repo.empty()) { AF_CHECK(repository_of(parts, repo)); }
    return parts.tasks.find(call.place("task_id"), repo);
}

Result<KnownRepository> repository_of(const DashboardParts& parts, const std::string& name) {
    for (const KnownRepository& each : parts.tasks.repositories()) {
        if (name.empty() || each.name == name) { return each; }
    }
    return unknown_repository(name, parts.tasks.repositories(), "");
}

json::object to_json(const TreeChange& change) {
    return {{"path", sanitize_utf8(change.path)},
            {"old_path", sanitize_utf8(change.old_path)},
            {"status", std::string(1, change.status)},
            {"lines_added", change.lines_added},
            {"lines_removed", change.lines_removed}};
}

Result<std::uint64_t> number_of(const ApiCall& call, const std::string& name, std::uint64_t otherwise, std::uint64_t least,
                                std::uint64_t most) {
    if (!call.request.query.contains(name)) { return otherwise; }
    const std::string text = call.request.parameter(name);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= least && number <= most) { return number; }
    return Error{"AF-DASH-005", "`" + name + "` must be a number from " + std::to_string(least) + " to " + std::to_string(most),
                 ellipsis(sanitize_utf8(text), 60), "correct the address", ErrorKind::invalid};
}

namespace {

/// Adds the query parameters that kernel/dashboard/openapi.yaml declares for each route.
void add_queries(std::vector<Route>& routes) {
    const auto document = parse_yaml(openapi_text(), "openapi.yaml");
    if (!document.ok()) { return; }  // A test covers this.
    const json::object& paths = document->value.at("paths").as_object();
    for (Route& route : routes) {
        const json::value* operations = paths.if_contains(route.path);
        const json::value* operation =
            operations == nullptr ? nullptr : operations->as_object().if_contains(route.method == "GET" ? "get" : "post");
        if (operation == nullptr) { continue; }
        for (const json::value& parameter : list_of(operation->as_object(), "parameters")) {
            if (parameter.at("in").as_string() != "query") { continue; }
            auto& values = route.query[std::string(parameter.at("name").as_string())];
            for (const json::value& value : list_of(parameter.at("schema").as_object(), "enum")) {
                values.emplace_back(value.as_string());
            }
        }
    }
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) { text += (text.empty() ? "" : ", ") + word; }
    return text;
}

/// Searches for words; an empty value matches everything.
constexpr std::string_view words_parameter = "q";

/// Checks the query of a request. Errors: AF-DASH-005 a parameter that the route does not accept, or a value that the parameter
/// cannot have.
Result<void> check_query(const Route& route, const HttpRequest& request) {
    for (const auto& [name, value] : request.query) {
        const auto known = route.query.find(name);
        if (known == route.query.end()) {
            std::vector<std::string> names;
            for (const auto& [each, values] : route.query) { names.push_back(each); }
            return Error{"AF-DASH-005", "This address takes no parameter `" + ellipsis(sanitize_utf8(name), 60) + "`", route.path,
                         names.empty() ? "leave it out" : "it takes " + joined(names), ErrorKind::invalid};
        }
        if (value.empty() && name != words_parameter) {
            return Error{"AF-DASH-005", "`" + name + "` is empty", route.path,
                         known->second.empty() ? "give it a value, or leave it out"
                                               : "use one of " + joined(known->second) + ", or leave it out",
                         ErrorKind::invalid};
        }
        if (!known->second.empty() && std::ranges::find(known->second, value) == known->second.end()) {
            return Error{"AF-DASH-005", "`" + name + "` cannot be `" + ellipsis(sanitize_utf8(value), 60) + "`", route.path,
                         "use one of " + joined(known->second), ErrorKind::invalid};
        }
    }
    return {};
}

HttpResponse wrong_method(const HttpRequest& request, const std::string& allowed) {
    HttpResponse refused =
        problem_of(Error{"AF-DASH-008", "The address does not take " + ellipsis(sanitize_utf8(request.method), 20), request.path,
                         "use " + allowed, ErrorKind::invalid},
                   405);
    refused.headers.emplace_back("Allow", allowed);
    return refused;
}

}  // namespace

Dashboard::Dashboard(DashboardParts parts) : parts_(parts) {
    add_task_routes(routes_, parts_);
    add_stats_routes(routes_, parts_);
    add_work_routes(routes_, parts_);
    add_metric_routes(routes_, parts_);
    add_change_routes(routes_, parts_);
    routes_.push_back({"GET", "/api/events", [this](const ApiCall& call) { return listen(call.request, false); }});
    routes_.push_back({"GET", "/ws/updates", [this](const ApiCall& call) { return listen(call.request, true); }});
    add_queries(routes_);
}

HttpResponse Dashboard::refuse(int status, const Error& problem) {
    HttpResponse response = problem_of(problem, status);
    add_safety_headers(response);
    return response;
}

HttpResponse Dashboard::answer(const HttpRequest& request) {
    HttpResponse response = answer_unguarded(request);
    add_etag(request, response);
    add_safety_headers(response);
    return response;
}

HttpResponse Dashboard::answer_unguarded(const HttpRequest& request) {
    if (auto exchanged = parts_.guard.exchange(request)) { return std::move(*exchanged); }
    const bool changes = request.method != "GET";
    if (auto refused = parts_.guard.check(request, changes, request.path == "/ws/updates")) { return std::move(*refused); }
    if (const PageFile* file = page_file(request.path)) {
        if (request.method != "GET") { return wrong_method(request, "GET, HEAD"); }
        return {.headers = {{"Content-Type", std::string(file->type)}}, .body = std::string(file->bytes)};
    }
    auto response = dispatch(request);
    return response.ok() ? std::move(*response) : problem_of(response.error());
}

Result<HttpResponse> Dashboard::dispatch(const HttpRequest& request) {
    std::string allowed;
    for (const Route& route : routes_) {
        auto places = match(route.path, request.path);
        if (!places) { continue; }
        allowed += (allowed.empty() ? "" : ", ") + (route.method == "GET" ? "GET, HEAD" : route.method);
        if (route.method != request.method) { continue; }
        AF_CHECK(check_query(route, request));
        parts_.events.publish(parts_.tasks.refresh_answers());  // So that all addresses report the same about an answer by file.
        ApiCall call{request, std::move(*places), {}};
        if (route.method == "POST") { AF_TRY(call.body, body_of(request)); }
        return route.handle(call);
    }
    if (allowed.empty()) {
        return Error{"AF-DASH-007", "There is nothing at this address", ellipsis(sanitize_utf8(request.path), 200),
                     "/api/openapi.json lists all addresses", ErrorKind::not_found};
    }
    return wrong_method(request, allowed);
}

Result<HttpResponse> Dashboard::listen(const HttpRequest& request, bool web_socket) {
    const std::string asked = request.parameter("last_event_id");
    auto source = parts_.events.listen(asked.empty() ? request.header("last-event-id") : asked);
    if (!source) {
        return problem_of(Error{"AF-DASH-009", "Too many clients are connected", "", "close some other pages of this dashboard",
                                ErrorKind::unavailable});
    }
    return HttpResponse{
        .headers = {{"Content-Type", "text/event-stream"}}, .events = std::move(source), .web_socket = web_socket};
}

}  // namespace agentforge::kernel
