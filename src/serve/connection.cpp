#include "serve/connection.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tenon::serve {

using std::chrono::milliseconds;

bool Connection::ready(short events, milliseconds limit) const {
    pollfd entry{socket_, events, 0};
    int count = 0;
    do count = ::poll(&entry, 1, static_cast<int>(std::max<long>(0, limit.count())));
    while (count < 0 && errno == EINTR);
    return count > 0 && (entry.revents & (events | POLLHUP)) != 0;
}

milliseconds Connection::left() const {
    return std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now());
}

bool Connection::wait_for_request(milliseconds limit, const std::function<bool()>& stopped) {
    if (begin_ < end_) return true;
    const auto end = Clock::now() + limit;
    while (!stopped() && Clock::now() < end)
        if (ready(POLLIN, milliseconds(100))) return true;
    return false;
}

bool Connection::is_readable() const {
    return begin_ < end_ || ready(POLLIN, left());
}

bool Connection::is_writable() const {
    char byte = 0;
    const ssize_t peeked = ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (peeked == 0 || (peeked < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        return false;
    return ready(POLLOUT, std::max(left(), milliseconds(0)));
}

ssize_t Connection::read(char* to, size_t size) {
    if (begin_ == end_) {
        if (!ready(POLLIN, left())) return -1;
        ssize_t count = 0;
        do count = ::recv(socket_, buffer_, sizeof buffer_, 0);
        while (count < 0 && errno == EINTR);
        if (count <= 0) return count;
        begin_ = 0;
        end_ = static_cast<std::size_t>(count);
    }
    const std::size_t taken = std::min(size, end_ - begin_);
    std::memcpy(to, buffer_ + begin_, taken);
    begin_ += taken;
    return static_cast<ssize_t>(taken);
}

ssize_t Connection::write(const char* from, size_t size) {
    if (!ready(POLLOUT, left())) return -1;
    ssize_t count = 0;
    do count = ::send(socket_, from, std::min<std::size_t>(size, 1U << 18), MSG_NOSIGNAL | MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    return count;
}

// The server listens on this machine alone.
void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
    ip = "127.0.0.1";
    port = 0;
}
void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
    ip = "127.0.0.1";
    port = 0;
}

}  // namespace tenon::serve
