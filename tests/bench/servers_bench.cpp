// SPDX-License-Identifier: Apache-2.0
// A tool call over standard input and output, compared with one round trip through two bare pipes.
#include <sys/wait.h>
#include <unistd.h>

#include "bench/figures.hpp"
#include "bench/places.hpp"
#include "config/settings.hpp"
#include "sandbox/process_runner.hpp"
#include "servers/server_client.hpp"

namespace agentforge::bench {
namespace {

using namespace kernel;

/// `cat` between two pipes: the cost of exchanging one line with another process.
class Echo {
public:
    Echo() {
        int in[2];
        int out[2];
        if (::pipe(in) != 0 || ::pipe(out) != 0) { give_up("no pipe"); }
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(in[0], 0);
            ::dup2(out[1], 1);
            for (const int end : {in[0], in[1], out[0], out[1]}) { ::close(end); }
            ::execl("/bin/cat", "cat", nullptr);
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        to_ = in[1];
        from_ = out[0];
    }
    Echo(const Echo&) = delete;
    Echo& operator=(const Echo&) = delete;
    ~Echo() {
        ::close(to_);
        ::close(from_);
        ::waitpid(child_, nullptr, 0);
    }
    void round_trip(const std::string& line) {
        if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) { give_up("cat does not listen"); }
        std::size_t got = 0;
        char block[4096];
        while (got < line.size()) {
            const ssize_t size = ::read(from_, block, sizeof block);
            if (size <= 0) { give_up("cat does not answer"); }
            got += static_cast<std::size_t>(size);
        }
    }

private:
    pid_t child_ = 0;
    int to_ = -1;
    int from_ = -1;
};

void tool_call(benchmark::State& state) {
    const WorkFolder folder("servers");
    ServerDefinition server;
    server.name = "fake";
    server.prefix = "fake";
    server.command = {"/usr/bin/python3", "-B", std::string(AGENTFORGE_SOURCE_DIR) + "/tests/unit/servers/fake_server.py"};
    ServerPlace place;
    place.exec_helper = must(ProductPaths::find_for("", program())).exec_helper;
    place.workspace = folder.path().string();
    place.scratch = folder.path().string();
    place.readable = {std::string(AGENTFORGE_SOURCE_DIR) + "/tests/unit/servers"};
    place.environment = current_environment();
    const auto client = must(ServerClient::start(server, place, {}, {}));
    const json::object arguments{{"words", "twenty bytes of words"}};
    const std::string line =
        json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", arguments}}) + "\n";
    Echo echo;
    Samples ours;
    Samples floor;
    for (auto _ : state) {
        floor.add(microseconds([&] { echo.round_trip(line); }));
        const double spent = microseconds([&] {
            const ToolResult result = client->call("echo", arguments, std::chrono::seconds(10), [] { return false; }, {});
            if (!result.success) { give_up(result.error ? result.error->to_string() : "the call failed"); }
        });
        ours.add(spent);
        state.SetIterationTime(spent / 1e6);
    }
    report(state, {"tool call over stdio, server in Python",
                   "µs",
                   ours.median(),
                   floor.median(),
                   "one line through `cat` and back",
                   {Aim::Of::value, 300}});
}
BENCHMARK(tool_call)->Iterations(2000)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace agentforge::bench
