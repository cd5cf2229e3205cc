// What reaches a method or the viewer's server: checkpoints of run files, and requests.
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "fuzz/targets.hpp"
#include "math/interrupt.hpp"
#include "run/recording.hpp"
#include "run/run_file.hpp"
#include "serve/server.hpp"
#include "tenon/error.hpp"
#include "tenon/method.hpp"
#include "tenon/scene_io.hpp"
#include "tenon/simulation.hpp"

namespace tenon::fuzz {
namespace {

struct Saved {
    const char* method;
    bool soft;
};
// What a checkpoint may be of. Inputs name it by number: new ones go to the end.
constexpr Saved kinds[] = {{"affine", false},  {"articulated", false}, {"impulse", false}, {"volume", true},
                           {"adaptive", true}, {"articulated", true},  {"affine", true}};

// Two bodies that touch the ground, joined where the method has joints, and an elastic one.
Scene checkpoint_scene(int kind) {
    const std::string name = kinds[kind].method;
    const bool rigid = name != "adaptive";
    const std::string joints =
        name == "articulated" || name == "affine"
            ? R"(, "joints": [{"name": "j", "type": "ball", "bodies": ["a", "b"], "point": [0.6, 0.52, 0]}])"
            : "";
    const std::string soft =
        kinds[kind].soft ? R"(, "elastic": [{"name": "e", "shape": {"type": "box", "size": [0.5, 0.5, 0.5]},
            "position": [0, 2, 0], "cell_size": 0.5}])"
                         : "";
    const std::string bodies = rigid ? R"(, {"name": "a", "shape": {"type": "box"}, "position": [0, 0.52, 0]},
            {"name": "b", "shape": {"type": "box"}, "position": [1.2, 0.52, 0]})"
                                     : "";
    return parse_scene(
        R"({"tenon": 1, "gravity": [0, -9.81, 0], "seconds": 1, "method": {"type": ")" + name +
            R"(", "dt": 0.01}, "bodies": [{"name": "floor", "type": "static", "shape": {"type": "box",
            "size": [10, 1, 10]}, "position": [0, -0.5, 0]})" +
            bodies + "]" + joints + soft + "}",
        "checkpoint.json", ".");
}

Simulation& simulation_of(int kind) {
    static std::unique_ptr<Simulation> made[std::size(kinds)];
    if (!made[kind]) made[kind] = std::make_unique<Simulation>(checkpoint_scene(kind));
    return *made[kind];
}

// Asks a step that goes on for a second to stop, as Ctrl-C does.
class StopAfterASecond {
  public:
    StopAfterASecond() : scope_(&stop_), watch_([this] { watch(); }) {}
    ~StopAfterASecond() {
        {
            const std::lock_guard lock(guard_);
            ended_ = true;
        }
        changed_.notify_one();
        watch_.join();
    }

  private:
    void watch() {
        std::unique_lock lock(guard_);
        if (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; })) stop_ = true;
    }

    std::atomic<bool> stop_ = false;
    bool ended_ = false;
    std::mutex guard_;
    std::condition_variable changed_;
    InterruptScope scope_;
    std::thread watch_;
};

// The first byte names the kind. What is accepted must be fit to step, to fail with words, or to be stopped: bodies deep
// in each other are a state that may take long.
void checkpoint(std::string_view bytes) {
    if (bytes.empty()) return;
    const int kind = static_cast<unsigned char>(bytes[0]) % static_cast<int>(std::size(kinds));
    Simulation& simulation = simulation_of(kind);
    std::istringstream in{std::string(bytes.substr(1))};
    try {
        simulation.load(in);
    } catch (const InputError&) {
        return;
    }
    try {
        const StopAfterASecond limit;
        simulation.step();
    } catch (const StepFailure&) {
    } catch (const Interrupted&) {
    }
}

std::string saved_checkpoint(int kind) {
    Simulation simulation(checkpoint_scene(kind));
    for (int i = 0; i < 3; ++i) simulation.step();
    std::ostringstream out;
    simulation.save(out);
    return static_cast<char>(kind) + std::move(out).str();
}

// A server on a run of two frames, for as long as the program lives.
class Served {
  public:
    Served() {
        std::string folder = (std::filesystem::temp_directory_path() / "tenon-fuzz-XXXXXX").string();
        if (!mkdtemp(folder.data())) throw std::runtime_error("no temporary folder");
        const std::string file = folder + "/run.tenon";
        const Scene scene = checkpoint_scene(0);
        const Model model = compile(scene);
        State state = initial_state(model);
        run::RunWriter writer(file, scene, model, state);
        writer.set_meta("record", run::RecordingRule::every(1).to_json());
        for (int i = 0; i < 2; ++i) {
            writer.add_step({});
            writer.add_frame(state, Outputs(model));
            ++state.step;
        }
        writer.close();
        serve::ServerOptions options;
        options.request_seconds = options.idle_seconds = 1;
        server_ = std::make_unique<serve::Server>(
            serve::PageFiles{{"index.html", {"text/html", "<p>page</p>"}}},
            std::vector<std::shared_ptr<serve::RunStore>>{std::make_shared<serve::RunStore>(file)}, options);
        port_ = server_->bind();
        thread_ = std::thread([this] { server_->listen(); });
        std::filesystem::remove_all(folder);  // it is open
    }
    ~Served() {
        server_->stop();
        thread_.join();
    }
    int port() const { return port_; }

  private:
    std::unique_ptr<serve::Server> server_;
    std::thread thread_;
    int port_ = 0;
};

int connected(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return socket;
    ::close(socket);
    throw std::logic_error("the server takes no more connections");
}

// Sends the bytes, "@PORT@" in them replaced, hangs up, and reads what comes back.
void http(std::string_view bytes) {
    static const Served served;
    std::string text(bytes);
    const std::string port = std::to_string(served.port());
    for (std::size_t at = 0; (at = text.find("@PORT@", at)) != std::string::npos;) text.replace(at, 6, port);
    const int socket = connected(served.port());
    std::size_t sent = 0;
    while (sent < text.size()) {
        const ssize_t n = ::send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) break;
        sent += static_cast<std::size_t>(n);
    }
    ::shutdown(socket, SHUT_WR);
    char answer[4096];
    pollfd wait{socket, POLLIN, 0};
    while (::poll(&wait, 1, 300) > 0 && ::recv(socket, answer, sizeof answer, 0) > 0) {
    }
    ::close(socket);
}

}  // namespace

const std::vector<Target>& program_targets() {
    static const std::vector<Target> all = {
        {"checkpoint",
         checkpoint,
         1 << 16,
         {std::string(8, '\0'), std::string(8, '\xff'), "\x7f\xf0", "\x01"}},
        {"http",
         http,
         4096,
         {"GET ", "POST ", "HEAD ", " HTTP/1.1\r\n", "Host: 127.0.0.1:@PORT@\r\n", "Content-Length: 3\r\n",
          "Transfer-Encoding: chunked\r\n", "/api/runs/0/frames?from=0&count=2",
          "/api/runs/0/series?name=time", "Content-Type: application/json\r\n", "Range: bytes=0-1\r\n",
          "Expect: 100-continue\r\n", "%00", "\r\n"}}};
    return all;
}

std::vector<std::string> program_seeds(const Target& target) {
    std::vector<std::string> all;
    if (std::string_view(target.name) == "checkpoint") {
        for (int kind = 0; kind < static_cast<int>(std::size(kinds)); ++kind)
            all.push_back(saved_checkpoint(kind));
        return all;
    }
    for (const char* path :
         {"/", "/api/runs", "/api/runs/0/model", "/api/runs/0/frames?from=0&count=2&every=1",
          "/api/runs/0/series?name=time&name=x", "/api/runs/0/field?name=none", "/api/runs/0/verdict"})
        all.push_back(std::string("GET ") + path +
                      " HTTP/1.1\r\nHost: 127.0.0.1:@PORT@\r\nConnection: close\r\n\r\n");
    all.push_back(
        "POST /api/steer HTTP/1.1\r\nHost: 127.0.0.1:@PORT@\r\nContent-Type: application/json\r\n"
        "Content-Length: 18\r\nConnection: close\r\n\r\n{\"do\": \"release\"}\r\n");
    return all;
}

}  // namespace tenon::fuzz
