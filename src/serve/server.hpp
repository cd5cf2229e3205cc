// The viewer's server: the page, and what it asks about the runs, on 127.0.0.1 alone. docs/view.md lists the requests.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/page_files.hpp"
#include "serve/run_store.hpp"

namespace tenon::serve {

// A simulation that is going on while it is watched.
class Steering {
  public:
    virtual ~Steering() = default;
    // A spring from a point of a body (its own frame) to a target in the world; stiffness is the run's choice.
    virtual void drag(int body, const Vec3& point, const Vec3& target) = 0;
    virtual void release() = 0;
    virtual void pause(bool paused) = 0;
    virtual bool paused() const = 0;
};

struct ServerOptions {
    int port = 0;  // 0: a free one
    double request_seconds = 10.0, idle_seconds = 5.0;
    Steering* steering = nullptr;  // of the first run
};

class Server {
  public:
    Server(PageFiles page, std::vector<std::shared_ptr<RunStore>> runs, ServerOptions options);
    ~Server();

    int bind();     // the port; throws InputError when it is taken
    void listen();  // until stop()
    void stop();    // from any thread

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace tenon::serve
