// The server as a browser, and as an attacker, meets it: over sockets.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include "serve/http.hpp"

#include "serve/frame_chunk.hpp"
#include "serve/server.hpp"
#include "tenon/error.hpp"
#include "tests/serve/sample.hpp"

namespace tenon::serve {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

class FakeSteering : public Steering {
  public:
    void drag(int body, const Vec3&, const Vec3& target) override {
        last_body = body;
        last_target = target;
    }
    void release() override { released = true; }
    void pause(bool on) override { paused_ = on; }
    bool paused() const override { return paused_; }
    int last_body = -1;
    Vec3 last_target = Vec3::Zero();
    bool released = false, paused_ = false;
};

PageFiles page() {
    return {{"index.html", {"text/html", "<p>page</p>"}},
            {"viewer.js", {"text/javascript", "1"}},
            {"viewer.css", {"text/css", "b{}"}},
            {"favicon.svg", {"image/svg+xml", "<svg/>"}}};
}

class Served : public ::testing::Test {
  protected:
    void SetUp() override {
        test::Recorder recorder(file_ = folder_ / "run.tenon");
        recorder.add(5);
        recorder.finish();
    }
    void start(Steering* steering = nullptr, double request_seconds = 10) {
        ServerOptions options;
        options.request_seconds = request_seconds;
        options.idle_seconds = 2;
        options.steering = steering;
        std::vector<std::shared_ptr<RunStore>> runs{std::make_shared<RunStore>(file_)};
        server_ = std::make_unique<Server>(page(), std::move(runs), options);
        port_ = server_->bind();
        thread_ = std::thread([this] { server_->listen(); });
        client_ = std::make_unique<httplib::Client>("127.0.0.1", port_);
        for (int i = 0; i < 200 && !client_->Get("/api/runs"); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    void TearDown() override {
        if (!server_) return;
        server_->stop();
        thread_.join();
    }
    int status(const std::string& path, const httplib::Headers& headers = {}) {
        const auto answer = client_->Get(path.c_str(), headers);
        return answer ? answer->status : -1;
    }
    // Sends bytes as they are, gives back what came until the other side closed.
    std::string raw(const std::string& request, double* seconds = nullptr) const {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port_));
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
        if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
            return "no connection";
        const auto start = Clock::now();
        (void)::send(socket, request.data(), request.size(), MSG_NOSIGNAL);
        std::string answer;
        char buffer[4096];
        for (ssize_t n; (n = ::recv(socket, buffer, sizeof buffer, 0)) > 0;)
            answer.append(buffer, static_cast<std::size_t>(n));
        ::close(socket);
        if (seconds) *seconds = std::chrono::duration<double>(Clock::now() - start).count();
        return answer;
    }

    test::Folder folder_;
    std::string file_;
    std::unique_ptr<Server> server_;
    std::thread thread_;
    int port_ = 0;
    std::unique_ptr<httplib::Client> client_;
};

TEST_F(Served, AnswersEveryRequestOfThePage) {
    start();
    EXPECT_EQ(client_->Get("/")->body, "<p>page</p>");
    EXPECT_EQ(client_->Get("/viewer.js")->get_header_value("Content-Type").substr(0, 15), "text/javascript");
    const json runs = json::parse(client_->Get("/api/runs")->body);
    EXPECT_EQ(runs["runs"][0]["frames"], 5);
    EXPECT_EQ(runs["runs"][0]["status"], "done");
    EXPECT_EQ(runs["runs"][0]["file"], "run.tenon");  // no folder of this machine
    EXPECT_EQ(json::parse(client_->Get("/api/runs/0/model")->body)["name"], "sample");
    EXPECT_EQ(client_->Get("/api/runs/0/times")->body.size(), 5 * sizeof(double));
    EXPECT_GT(client_->Get("/api/runs/0/geometry")->body.size(), 100u);
    for (const char* path :
         {"frames?from=0&count=5", "contacts?from=4", "field?name=strain", "frames?from=1&every=2&count=2"})
        EXPECT_EQ(status(std::string("/api/runs/0/") + path), 200) << path;
    EXPECT_EQ(json::parse(client_->Get("/api/runs/0/series?name=energy")->body)[0]["value"].size(), 5u);
}

TEST_F(Served, RefusesWhatIsNotOfTheRun) {
    start();
    for (const char* path :
         {"/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/runs/1/model", "/api/runs/0/../../x",
          "/run.tenon", "/api/runs/999999999999999999999/model", "/api", "/viewer.js/..", "/index.html%00"})
        EXPECT_EQ(status(path), 404) << path;
    for (const char* query :
         {"from=-1", "from=x", "count=0", "count=100000", "from=1&every=0", "from=99999999999999999999"})
        EXPECT_EQ(status(std::string("/api/runs/0/frames?") + query), 400) << query;
    EXPECT_EQ(status("/api/runs/0/frames?from=77"), 404);
    EXPECT_EQ(status("/api/runs/0/field?name=x"), 422);
    EXPECT_EQ(status("/api/runs/0/series?name=body.nobody.x"), 422);
    EXPECT_EQ(status("/api/runs/0/series?name=" + std::string(3000, 'x')), 400);
    EXPECT_EQ(client_->Post("/api/steer", "{}", "application/json")->status,
              409);  // nothing is simulated here
    EXPECT_GE(client_->Put("/api/runs", "", "text/plain")->status, 400);
    const std::string path = "../../etc/passwd";
    EXPECT_EQ(raw("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                  "\r\nConnection: close\r\n\r\n")
                  .find("root:"),
              std::string::npos);
}

TEST_F(Served, RefusesOtherSites) {
    start();
    const auto with_host = [&](const std::string& host) {
        return raw("GET /api/runs HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n").substr(0, 12);
    };
    const std::string port = std::to_string(port_);
    EXPECT_EQ(with_host("Host: 127.0.0.1:" + port + "\r\n"), "HTTP/1.1 200");
    EXPECT_EQ(with_host("Host: localhost:" + port + "\r\n"), "HTTP/1.1 200");
    for (const std::string host :
         {"Host: evil.example\r\n", "Host: 127.0.0.1\r\n", "", "Host: evil.example:PORT\r\n",
          "Host: 127.0.0.1:PORT\r\nHost: evil.example\r\n"}) {
        std::string line = host;
        if (const auto at = line.find("PORT"); at != std::string::npos) line.replace(at, 4, port);
        EXPECT_EQ(with_host(line), "HTTP/1.1 403") << line;
    }
    EXPECT_EQ(status("/api/runs", {{"Origin", "http://127.0.0.1:" + port}}), 200);
    for (const char* origin : {"http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"})
        EXPECT_EQ(status("/api/runs", {{"Origin", origin}}), 403) << origin;
    EXPECT_EQ(status("/api/runs", {{"Sec-Fetch-Site", "cross-site"}}), 403);
    EXPECT_EQ(status("/", {{"Sec-Fetch-Site", "cross-site"}}), 200);  // a link in a mail
    const auto head = client_->Get("/")->headers;
    EXPECT_NE(head.find("Content-Security-Policy"), head.end());
    EXPECT_EQ(head.find("Access-Control-Allow-Origin"), head.end());
}

TEST_F(Served, HalfAndSlowRequestsEndWhileOthersAreServed) {
    start(nullptr, 0.5);
    double seconds = 0;
    std::thread half([&] { raw("GET /api/runs HTTP/1.1\r\nHost: 127", &seconds); });
    std::vector<std::thread> slow;
    std::atomic<int> ended{0};
    for (int i = 0; i < 8; ++i)
        slow.emplace_back([&] {
            raw("GET ");
            ++ended;
        });
    EXPECT_EQ(status("/api/runs"), 200);
    half.join();
    for (std::thread& thread : slow) thread.join();
    EXPECT_GT(seconds, 0.3);
    EXPECT_LT(seconds, 3.0);
    EXPECT_EQ(ended, 8);
    // one byte at a time does not help: the request as a whole has a time
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    ASSERT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const auto start_time = Clock::now();
    bool closed = false;
    while (!closed && Clock::now() - start_time < std::chrono::seconds(4)) {
        (void)::send(socket, "G", 1, MSG_NOSIGNAL);
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        char byte = 0;
        const ssize_t n = ::recv(socket, &byte, 1, MSG_DONTWAIT);
        closed = n == 0 || (n < 0 && errno != EAGAIN) || n > 0;  // hung up, or told that it was too slow
    }
    ::close(socket);
    EXPECT_TRUE(closed);
    EXPECT_EQ(status("/api/runs"), 200);
}

TEST_F(Served, LargeRequestsAreCutOff) {
    start();
    // the answer may be lost with the connection, while the rest is still being sent
    const auto posted = client_->Post("/api/steer", std::string(100000, ' '), "application/json");
    EXPECT_TRUE(!posted || posted->status >= 400);
    const std::string line(200000, 'a');
    const std::string answer = raw("GET /" + line + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port_) +
                                   "\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(answer.empty() || answer.substr(0, 10) == "HTTP/1.1 4") << answer.substr(0, 50);
    EXPECT_EQ(status("/api/runs"), 200);
}

TEST_F(Served, SteersOnlyWithGoodWishes) {
    FakeSteering steering;
    start(&steering);
    const auto wish = [&](const std::string& text, const char* type = "application/json") {
        return client_->Post("/api/steer", text, type)->status;
    };
    EXPECT_EQ(wish(R"({"do": "drag", "body": 1, "point": [0,0,0], "target": [1,2,3]})"), 200);
    EXPECT_EQ(steering.last_body, 1);
    EXPECT_EQ(steering.last_target, Vec3(1, 2, 3));
    for (const char* bad :
         {"", "[]", "{", R"({"do": 1})", R"({"do": "drag"})",
          R"({"do": "drag", "body": 0, "point": [0,0,0], "target": [1,2,3]})",
          R"({"do": "drag", "body": 99, "point": [0,0,0], "target": [1,2,3]})",
          R"({"do": "drag", "body": 1, "point": [0,0], "target": [1,2,3]})",
          R"({"do": "drag", "body": 1, "point": [0,0,0], "target": [1,2,1e999]})", R"({"do": "explode"})"})
        EXPECT_EQ(wish(bad), 400) << bad;
    EXPECT_EQ(wish("{}", "text/plain"), 415);  // what a form of another site could send
    EXPECT_EQ(wish(R"({"do": "pause"})"), 200);
    EXPECT_TRUE(steering.paused_);
    EXPECT_EQ(wish(R"({"do": "release"})"), 200);
    EXPECT_TRUE(steering.released);
}

TEST_F(Served, TwoViewersFollowARunThatGrows) {
    file_ = folder_ / "live.tenon";
    test::Recorder recorder(file_);
    recorder.add(2);
    start();
    const auto listen = [&](std::string& heard, int& frames) {
        httplib::Client events("127.0.0.1", port_);
        events.set_read_timeout(5);
        events.Get("/api/runs/0/events", [&](const char* data, std::size_t size) {
            heard.append(data, size);
            const auto at = heard.rfind("\"frames\":");
            if (at != std::string::npos) frames = std::atoi(heard.c_str() + at + 9);
            return frames < 5;
        });
    };
    std::string first, second;
    int frames_first = 0, frames_second = 0;
    std::thread one([&] { listen(first, frames_first); }), two([&] { listen(second, frames_second); });
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
    recorder.add(3);
    one.join();
    two.join();
    EXPECT_EQ(frames_first, 5);
    EXPECT_EQ(frames_second, 5);
    EXPECT_NE(first.find("event: growth\ndata: {"), std::string::npos);
    EXPECT_EQ(json::parse(client_->Get("/api/runs")->body)["runs"][0]["status"], "running");
    EXPECT_EQ(status("/api/runs/0/frames?from=4"), 200);
}

TEST_F(Served, NoticesAReplacedADamagedAndARemovedFile) {
    start();
    {
        test::Recorder other(folder_ / "new.tenon", "another");
        other.add(3);
        other.finish();
    }
    std::filesystem::rename(folder_ / "new.tenon", file_);
    json runs = json::parse(client_->Get("/api/runs")->body);
    EXPECT_EQ(runs["runs"][0]["generation"], 2);
    EXPECT_EQ(runs["runs"][0]["frames"], 3);
    EXPECT_EQ(json::parse(client_->Get("/api/runs/0/model")->body)["name"], "another");
    EXPECT_EQ(status("/api/runs/0/frames?generation=1"), 409);  // a page that knew the first one
    EXPECT_EQ(status("/api/runs/0/frames?generation=2"), 200);

    std::ofstream(folder_ / "broken")
        << std::string("SQLite format 3\0 and then nothing of it", 38) << std::string(200, 'x');
    std::filesystem::rename(folder_ / "broken", file_);
    runs = json::parse(client_->Get("/api/runs")->body);
    EXPECT_EQ(runs["runs"][0]["generation"], 2);  // what was open stays open
    EXPECT_FALSE(runs["runs"][0]["problem"].get<std::string>().empty());
    EXPECT_EQ(status("/api/runs/0/frames?from=2"), 200);

    std::filesystem::remove(file_);
    runs = json::parse(client_->Get("/api/runs")->body);
    EXPECT_EQ(runs["runs"][0]["status"], "gone");
    EXPECT_EQ(status("/api/runs/0/frames?from=2"), 200);
}

// As a copy that is still under way, or a disk that lost its end: opened, or cut while it is served.
TEST_F(Served, AHalfWrittenFileIsToldOfAndHarmsNothing) {
    const auto size = std::filesystem::file_size(file_);
    for (const double share : {0.0, 0.05, 0.3, 0.6, 0.95}) {
        const std::string half = folder_ / "half.tenon";
        std::filesystem::copy_file(file_, half, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::resize_file(half, static_cast<std::uintmax_t>(share * static_cast<double>(size)));
        try {
            const OpenRun run(half, 1);
            pack_frames(run, {run.reader.frame_count() - 1});
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("half.tenon"), std::string::npos) << error.what();
        }
    }
    start();
    std::filesystem::resize_file(file_, size / 2);
    for (int frame = 0; frame < 5; ++frame) {
        const int code = status("/api/runs/0/frames?from=" + std::to_string(frame));
        EXPECT_TRUE(code == 200 || code == 404 || code == 422 || code == 500) << code;
    }
    EXPECT_EQ(status("/"), 200);  // it still serves
}

TEST_F(Served, AKilledRunKeepsItsFrames) {
    const std::string copy = folder_ / "killed.tenon";
    test::Recorder recorder(folder_ / "going.tenon");
    recorder.add(3);
    // as a kill leaves it: the file and its log, not closed
    std::filesystem::copy_file(folder_ / "going.tenon", copy);
    if (std::filesystem::exists(folder_ / "going.tenon-wal"))
        std::filesystem::copy_file(folder_ / "going.tenon-wal", copy + "-wal");
    file_ = copy;
    start();
    EXPECT_EQ(json::parse(client_->Get("/api/runs")->body)["runs"][0]["frames"], 3);
    EXPECT_EQ(status("/api/runs/0/frames?from=2"), 200);
}

TEST_F(Served, VerifiesOnRequest) {
    start();
    EXPECT_EQ(json::parse(client_->Get("/api/runs/0/verdict")->body)["state"], "none");
    client_->Post("/api/runs/0/verdict", "{}", "application/json");
    json verdict;
    for (int i = 0; i < 500; ++i) {
        verdict = json::parse(client_->Get("/api/runs/0/verdict")->body);
        if (verdict["state"] != "running") break;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    ASSERT_EQ(verdict["state"], "done") << verdict["problem"];
    // the bodies of this run were moved by hand through each other: their momenta cannot fit
    EXPECT_EQ(verdict["verdict"], "violated");
    EXPECT_EQ(verdict["frames"].get<std::string>().size(), 5u);
    EXPECT_NE(verdict["frames"].get<std::string>().find('v'), std::string::npos);
}

TEST_F(Served, StopsWithOpenConnections) {
    start();
    std::string heard;
    std::thread events([&] {
        httplib::Client client("127.0.0.1", port_);
        client.Get("/api/runs/0/events", [&](const char* data, std::size_t size) {
            heard.append(data, size);
            return true;
        });
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    const auto begin = Clock::now();
    server_->stop();
    thread_.join();
    events.join();
    server_.reset();
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(4));
    EXPECT_NE(heard.find("growth"), std::string::npos);
}

TEST(ServerPort, ATakenPortIsToldOf) {
    test::Folder folder;
    test::Recorder recorder(folder / "run.tenon");
    recorder.add(1);
    recorder.finish();
    const auto store = std::make_shared<RunStore>(folder / "run.tenon");
    ServerOptions options;
    Server first(page(), {store}, options);
    options.port = first.bind();
    std::thread listening([&] { first.listen(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    Server second(page(), {store}, options);
    EXPECT_THROW(second.bind(), InputError);
    first.stop();
    listening.join();
}

TEST(Page, AMissingPageSaysHowToGetIt) {
    try {
        load_page("/nonexistent");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("make view"), std::string::npos);
    }
}

}  // namespace
}  // namespace tenon::serve
