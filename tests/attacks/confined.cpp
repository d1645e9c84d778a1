// SPDX-License-Identifier: Apache-2.0
// Runs one program as the kernel's runner confines it: a request as JSON on standard input, the outcome as JSON on standard
// output.
#include <unistd.h>
#include <iostream>
#include <iterator>

#include "sandbox/process_runner.hpp"

namespace agentforge::kernel {
namespace {

std::vector<std::string> texts(const json::object& from, const char* key) {
    std::vector<std::string> found;
    if (const json::value* const value = from.if_contains(key)) {
        for (const json::value& each : value->as_array()) { found.emplace_back(each.as_string()); }
    }
    return found;
}

std::uint64_t number(const json::object& from, const char* key, std::uint64_t otherwise) {
    const json::value* const value = from.if_contains(key);
    return value == nullptr ? otherwise : value->to_number<std::uint64_t>();
}

bool flag(const json::object& from, const char* key, bool otherwise) {
    const json::value* const value = from.if_contains(key);
    return value == nullptr ? otherwise : value->as_bool();
}

ProcessRequest request_of(const json::object& asked) {
    ProcessRequest request;
    request.argv = texts(asked, "argv");
    request.directory = asked.at("directory").as_string().c_str();
    request.environment = base_environment(current_environment());
    for (const auto& [name, value] : asked.at("environment").as_object()) {
        request.environment[std::string(name)] = value.as_string().c_str();
    }
    request.timeout = std::chrono::milliseconds(number(asked, "timeout_ms", 30'000));
    request.grace = std::chrono::milliseconds(200);
    Confinement& confinement = request.confinement;
    confinement.enabled = flag(asked, "confined", true);
    confinement.readable = texts(asked, "readable");
    confinement.writable = texts(asked, "writable");
    confinement.hidden = texts(asked, "hidden");
    confinement.network = flag(asked, "network", false) ? Network::full : Network::none;
    confinement.namespaces = flag(asked, "namespaces", true);
    confinement.landlock_at_most = static_cast<int>(number(asked, "landlock_at_most", 1'000));
    confinement.max_memory_bytes = number(asked, "max_memory_bytes", confinement.max_memory_bytes);
    confinement.max_processes = number(asked, "max_processes", confinement.max_processes);
    confinement.max_file_bytes = number(asked, "max_file_bytes", confinement.max_file_bytes);
    confinement.max_cpu_seconds = number(asked, "max_cpu_seconds", confinement.max_cpu_seconds);
    return request;
}

int run(const std::string& helper) {
    const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
    const json::object asked = json::parse(text).as_object();
    const auto outcome = make_process_runner({helper, texts(asked, "accepted_gaps")})->run(request_of(asked), {});
    json::object answer;
    if (outcome.ok()) {
        answer = {{"exit_code", outcome->exit_code},
                  {"signal", outcome->signal},
                  {"timed_out", outcome->timed_out},
                  {"out", outcome->out},
                  {"err", outcome->err},
                  {"confinement", outcome->confinement}};
    } else {
        answer = {{"error", outcome.error().code}, {"message", outcome.error().message}};
    }
    std::cout << json::serialize(answer) << "\n";
    return 0;
}

}  // namespace
}  // namespace agentforge::kernel

int main(int argc, char** argv) { return argc == 2 ? agentforge::kernel::run(argv[1]) : 2; }
