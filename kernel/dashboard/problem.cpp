// SPDX-License-Identifier: Apache-2.0
#include "dashboard/problem.hpp"

#include "base/text.hpp"

namespace agentforge::kernel {

int status_of(const Error& error) noexcept {
    switch (error.kind) {
        case ErrorKind::invalid:
            return 400;
        case ErrorKind::denied:
            return 403;
        case ErrorKind::not_found:
            return 404;
        case ErrorKind::conflict:
            return 409;
        case ErrorKind::unavailable:
        case ErrorKind::cancelled:
        case ErrorKind::transient:
            return 503;
        case ErrorKind::timeout:
            return 504;
        default:
            return 500;
    }
}

HttpResponse problem_of(const Error& error, int status) {
    const int code = status == 0 ? status_of(error) : status;
    HttpResponse response = json_response({{"type", "urn:agentforge:" + error.code},
                                           {"title", error.message},
                                           {"status", code},
                                           {"detail", error.remedy},
                                           {"code", error.code},
                                           {"where", error.where}},
                                          code);
    response.headers.front().second = "application/problem+json";
    return response;
}

HttpResponse json_response(const json::value& value, int status) {
    return {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = to_json_line(value) + "\n"};
}

}  // namespace agentforge::kernel
