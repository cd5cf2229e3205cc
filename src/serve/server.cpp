#include "serve/server.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "serve/frame_chunk.hpp"
#include "serve/model_json.hpp"
#include "serve/series_json.hpp"
#include "serve/timed_server.hpp"
#include "serve/verdict.hpp"
#include "tenon/error.hpp"

namespace tenon::serve {
namespace {

using httplib::Request;
using httplib::Response;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::size_t threads = 32, largest_body = 4096, largest_name = 2000;
constexpr long largest_times = 1L << 20;

// Answered with its status and a line of JSON.
struct Refused {
    int status;
    std::string why;
};

long whole_number(const Request& request, const std::string& name, long fallback, long lowest, long highest) {
    if (!request.has_param(name)) return fallback;
    const std::string text = request.get_param_value(name);
    long value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < lowest || value > highest)
        throw Refused{400, fmt::format("{} must be a whole number between {} and {}", name, lowest, highest)};
    return value;
}

// The frames a request names: from, count, every; those that are there.
std::vector<long> frames_of(const Request& request, long available) {
    const long from = whole_number(request, "from", 0, 0, 1L << 40);
    const long count = whole_number(request, "count", 1, 1, max_chunk_frames);
    const long every = whole_number(request, "every", 1, 1, 1L << 30);
    std::vector<long> frames;
    for (long i = 0; i < count && from + i * every < available; ++i) frames.push_back(from + i * every);
    if (frames.empty()) throw Refused{404, fmt::format("frame {} of {} is not there", from, available)};
    return frames;
}

std::vector<std::string> names_of(const Request& request) {
    // one parameter each, so that names may hold commas
    std::vector<std::string> names;
    const auto [first, last] = request.params.equal_range("name");
    for (auto entry = first; entry != last; ++entry) {
        if (entry->second.size() > largest_name) throw Refused{400, "a name is too long"};
        names.push_back(entry->second);
    }
    return names;
}

Vec3 vector_of(const json& request, const char* name) {
    const auto entry = request.find(name);
    if (entry == request.end() || !entry->is_array() || entry->size() != 3)
        throw Refused{400, fmt::format("{} must be three numbers", name)};
    Vec3 value;
    for (int k = 0; k < 3; ++k) {
        if (!(*entry)[k].is_number()) throw Refused{400, fmt::format("{} must be three numbers", name)};
        value[k] = (*entry)[k].get<double>();
    }
    if (!value.allFinite()) throw Refused{400, fmt::format("{} must be finite", name)};
    return value;
}

json growth_json(const Growth& growth) {
    return {{"generation", growth.generation}, {"frames", growth.frames}, {"time", growth.time},
            {"status", growth.status},         {"method", growth.method}, {"problem", growth.problem}};
}

}  // namespace

struct Server::Impl {
    PageFiles page;
    std::vector<std::shared_ptr<RunStore>> runs;
    std::vector<std::unique_ptr<Verdict>> verdicts;
    ServerOptions options;
    TimedServer http;
    int port = 0;

    void add_handlers();
    void check(const Request& request) const;
    std::size_t run_index(const Request& request) const;
    std::shared_ptr<const OpenRun> open_run(const Request& request) const;
    Growth look(std::size_t index) const;
    std::string describe_runs() const;
    void send_events(const Request& request, Response& response);
    void steer(const Request& request, Response& response) const;

    template <class Answer>
    httplib::Server::Handler handler(const char* type, Answer answer) {
        return [this, type, answer](const Request& request, Response& response) {
            guarded(response, [&] { response.set_content(answer(request), type); });
        };
    }

    template <class Action>
    static void guarded(Response& response, const Action& action) {
        const auto refuse = [&](int status, const std::string& why) {
            response.status = status;
            response.set_content(dump(json{{"error", why}}), "application/json");
        };
        try {
            action();
        } catch (const Refused& refused) {
            refuse(refused.status, refused.why);
        } catch (const InputError& error) {
            refuse(422, error.what());
        } catch (const std::exception& error) {
            refuse(500, error.what());
        }
    }
};

// A page of another site must not read a run: it may only send its own Host (rebinding) or Origin.
void Server::Impl::check(const Request& request) const {
    const std::vector<std::string> hosts = {fmt::format("127.0.0.1:{}", port),
                                            fmt::format("localhost:{}", port)};
    const auto ours = [&](const std::string& host) {
        return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
    };
    if (request.get_header_value_count("Host") != 1 || !ours(request.get_header_value("Host")))
        throw Refused{403, "this server answers on 127.0.0.1 only"};
    if (request.has_header("Origin")) {
        const std::string origin = request.get_header_value("Origin");
        if (!origin.starts_with("http://") || !ours(origin.substr(7)))
            throw Refused{403, "requests of other sites are refused"};
    }
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if ((site == "cross-site" || site == "same-site") && request.path != "/")
        throw Refused{403, "requests of other sites are refused"};
    if (request.method != "GET" && request.method != "HEAD" && request.method != "POST")
        throw Refused{405, "only GET and POST are known"};
    if (request.method == "POST" && !request.get_header_value("Content-Type").starts_with("application/json"))
        throw Refused{415, "send JSON"};
}

std::size_t Server::Impl::run_index(const Request& request) const {
    const std::string text = request.matches[1];
    std::size_t index = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (problem != std::errc() || end != text.data() + text.size() || index >= runs.size())
        throw Refused{404, "there is no such run"};
    return index;
}

// A page that knows an older file of this name must begin anew.
std::shared_ptr<const OpenRun> Server::Impl::open_run(const Request& request) const {
    const auto run = runs[run_index(request)]->open();
    const long generation = whole_number(request, "generation", run->generation, 0, 1L << 40);
    if (generation != run->generation) throw Refused{409, "another run has taken this file's place"};
    return run;
}

Growth Server::Impl::look(std::size_t index) const {
    return runs[index]->look();
}

std::string Server::Impl::describe_runs() const {
    json list = json::array();
    for (const auto& run : runs) {
        json entry = growth_json(run->look());
        entry["file"] = std::filesystem::path(run->file()).filename().string();
        list.push_back(std::move(entry));
    }
    const bool live = options.steering != nullptr;
    return dump({{"runs", list}, {"steering", live}, {"paused", live && options.steering->paused()}});
}

// One event when something changed, a comment now and then so that a closed page is noticed.
void Server::Impl::send_events(const Request& request, Response& response) {
    const std::size_t index = run_index(request);
    response.set_header("Cache-Control", "no-store");
    response.set_chunked_content_provider(
        "text/event-stream",
        [this, index, last = std::string(), quiet = 0](std::size_t, httplib::DataSink& sink) mutable {
            if (http.stopping) {
                sink.done();
                return true;
            }
            std::string now;
            try {
                now = dump(growth_json(look(index)));
            } catch (const std::exception& error) {
                now = dump(json{{"problem", error.what()}});
            }
            std::string text;
            if (now != last)
                text = "event: growth\ndata: " + now + "\n\n";
            else if (++quiet % 20 == 0)
                text = ": still here\n\n";
            last = now;
            if (!text.empty() && !sink.write(text.data(), text.size())) return false;
            for (int i = 0; i < 5 && !http.stopping; ++i) std::this_thread::sleep_for(milliseconds(50));
            return sink.is_writable();
        });
}

void Server::Impl::steer(const Request& request, Response& response) const {
    if (!options.steering) throw Refused{409, "this run is not being simulated by this program"};
    const json wish = json::parse(request.body, nullptr, false);
    if (!wish.is_object() || !wish.contains("do") || !wish["do"].is_string())
        throw Refused{400, "send {\"do\": \"drag\" | \"release\" | \"pause\" | \"go\"}"};
    const std::string what = wish["do"];
    if (what == "drag") {
        if (!wish.contains("body") || !wish["body"].is_number_integer())
            throw Refused{400, "body must be a number"};
        const long body = wish["body"].get<long>();
        const auto run = runs.front()->open();
        if (body < 0 || body >= static_cast<long>(run->reader.bodies().size()) ||
            run->reader.bodies()[body].type != BodyType::dynamic_body)
            throw Refused{400, "only dynamic bodies can be dragged"};
        options.steering->drag(static_cast<int>(body), vector_of(wish, "point"), vector_of(wish, "target"));
    } else if (what == "release") {
        options.steering->release();
    } else if (what == "pause" || what == "go") {
        options.steering->pause(what == "pause");
    } else {
        throw Refused{400, "do must be drag, release, pause or go"};
    }
    response.set_content("{}", "application/json");
}

void Server::Impl::add_handlers() {
    http.set_payload_max_length(largest_body);
    http.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    http.set_default_headers(
        {{"X-Content-Type-Options", "nosniff"},
         {"Cross-Origin-Resource-Policy", "same-origin"},
         {"Referrer-Policy", "no-referrer"},
         {"Cache-Control", "no-store"},
         {"Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src "
          "'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'"}});
    http.set_pre_routing_handler([this](const Request& request, Response& response) {
        guarded(response, [&] { check(request); });
        return response.status >= 400 ? httplib::Server::HandlerResponse::Handled
                                      : httplib::Server::HandlerResponse::Unhandled;
    });
    http.set_error_handler([](const Request&, Response& response) {
        if (response.body.empty())
            response.set_content("{\"error\": \"there is nothing here\"}", "application/json");
    });
    for (const auto& [name, file] : page) {
        const auto send = [&file = file](const Request&, Response& response) {
            response.set_content(file.bytes, file.type.c_str());
        };
        http.Get("/" + (name == "index.html" ? std::string() : name), send);
    }
    const char *as_json = "application/json", *as_bytes = "application/octet-stream";
    http.Get("/api/runs", handler(as_json, [this](const Request&) { return describe_runs(); }));
    http.Get(R"(/api/runs/(\d{1,3})/model)",
             handler(as_json, [this](const Request& r) { return open_run(r)->model_json; }));
    http.Get(R"(/api/runs/(\d{1,3})/geometry)",
             handler(as_bytes, [this](const Request& r) { return open_run(r)->geometry.bytes; }));
    http.Get(
        R"(/api/runs/(\d{1,3})/times)", handler(as_bytes, [this](const Request& r) {
            const auto times = open_run(r)->times(whole_number(r, "from", 0, 0, 1L << 40), largest_times);
            return std::string(reinterpret_cast<const char*>(times.data()), times.size() * sizeof(double));
        }));
    const auto frames = [this](const Request& r) { return frames_of(r, look(run_index(r)).frames); };
    http.Get(R"(/api/runs/(\d{1,3})/frames)", handler(as_bytes, [this, frames](const Request& r) {
                 return pack_frames(*open_run(r), frames(r));
             }));
    http.Get(R"(/api/runs/(\d{1,3})/contacts)", handler(as_bytes, [this, frames](const Request& r) {
                 return pack_contacts(*open_run(r), frames(r));
             }));
    http.Get(R"(/api/runs/(\d{1,3})/field)", handler(as_bytes, [this, frames](const Request& r) {
                 return pack_field(*open_run(r), frames(r), r.get_param_value("name"));
             }));
    http.Get(R"(/api/runs/(\d{1,3})/series)", handler(as_json, [this](const Request& r) {
                 return describe_series(*open_run(r), names_of(r));
             }));
    http.Get(R"(/api/runs/(\d{1,3})/verdict)",
             handler(as_json, [this](const Request& r) { return verdicts[run_index(r)]->json(); }));
    http.Post(R"(/api/runs/(\d{1,3})/verdict)", handler(as_json, [this](const Request& r) {
                  const std::size_t index = run_index(r);
                  verdicts[index]->start(runs[index]->file(), runs[index]->open()->generation);
                  return verdicts[index]->json();
              }));
    http.Get(R"(/api/runs/(\d{1,3})/events)", [this](const Request& request, Response& response) {
        guarded(response, [&] { send_events(request, response); });
    });
    http.Post("/api/steer", [this](const Request& request, Response& response) {
        guarded(response, [&] { steer(request, response); });
    });
}

Server::Server(PageFiles page, std::vector<std::shared_ptr<RunStore>> runs, ServerOptions options)
    : impl_(std::make_unique<Impl>()) {
    impl_->page = std::move(page);
    impl_->runs = std::move(runs);
    impl_->options = options;
    impl_->http.request_seconds = options.request_seconds;
    impl_->http.idle_seconds = options.idle_seconds;
    for (std::size_t i = 0; i < impl_->runs.size(); ++i)
        impl_->verdicts.push_back(std::make_unique<Verdict>());
    impl_->add_handlers();
}

Server::~Server() {
    stop();
}

int Server::bind() {
    const char* here = "127.0.0.1";
    // another server must be told of, not joined: no SO_REUSEPORT
    impl_->http.set_socket_options([](socket_t socket) {
        const int yes = 1;
        ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    if (impl_->options.port == 0) {
        impl_->port = impl_->http.bind_to_any_port(here);
        if (impl_->port < 0) throw InputError("", "--port", "no port is free", "close other programs");
    } else {
        if (!impl_->http.bind_to_port(here, impl_->options.port))
            throw InputError("", "--port", fmt::format("port {} is taken", impl_->options.port),
                             "name another, or leave --port away for a free one");
        impl_->port = impl_->options.port;
    }
    return impl_->port;
}

void Server::listen() {
    impl_->http.listen_after_bind();
}

void Server::stop() {
    impl_->http.stopping = true;
    impl_->http.stop();
    for (const auto& verdict : impl_->verdicts) verdict->cancel();
}

}  // namespace tenon::serve
