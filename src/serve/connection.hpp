// A connection that cannot hold the server up: a request must be complete, and an answer taken, within a time.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "serve/http.hpp"

namespace tenon::serve {

class Connection : public httplib::Stream {
  public:
    using Clock = std::chrono::steady_clock;

    explicit Connection(int socket) : socket_(socket) {}

    // Waits for the first byte of a request; false when none came or `stopped` says so.
    bool wait_for_request(std::chrono::milliseconds limit, const std::function<bool()>& stopped);
    void set_deadline(std::chrono::milliseconds from_now) { deadline_ = Clock::now() + from_now; }

    bool is_readable() const override;
    bool is_writable() const override;  // false when the other side has hung up
    ssize_t read(char* to, size_t size) override;
    ssize_t write(const char* from, size_t size) override;
    void get_remote_ip_and_port(std::string& ip, int& port) const override;
    void get_local_ip_and_port(std::string& ip, int& port) const override;
    socket_t socket() const override { return socket_; }

  private:
    bool ready(short events, std::chrono::milliseconds limit) const;
    std::chrono::milliseconds left() const;

    int socket_;
    Clock::time_point deadline_ = Clock::now();
    char buffer_[4096];
    std::size_t begin_ = 0, end_ = 0;
};

}  // namespace tenon::serve
