// httplib's server with connections that keep time.
#pragma once

#include <atomic>

#include "serve/connection.hpp"

namespace tenon::serve {

class TimedServer : public httplib::Server {
  public:
    std::atomic<bool> stopping{false};
    double request_seconds = 10, idle_seconds = 5;

  private:
    bool process_and_close_socket(socket_t socket) override;
};

}  // namespace tenon::serve
