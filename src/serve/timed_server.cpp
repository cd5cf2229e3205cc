#include "serve/timed_server.hpp"

#include <unistd.h>

#include <chrono>
#include <cmath>

namespace tenon::serve {
namespace {

std::chrono::milliseconds of_seconds(double seconds) {
    return std::chrono::milliseconds(std::llround(1000 * seconds));
}

}  // namespace

bool TimedServer::process_and_close_socket(socket_t socket) {
    Connection connection(socket);
    const auto stopped = [this] { return stopping.load(); };
    while (connection.wait_for_request(of_seconds(idle_seconds), stopped)) {
        connection.set_deadline(of_seconds(request_seconds));
        bool closed = false;
        const bool good = process_request(connection, false, closed, [&](httplib::Request& request) {
            request.headers.erase("Accept-Encoding");  // nothing is gained on the same machine
            connection.set_deadline(of_seconds(6 * request_seconds));
        });
        if (!good || closed) break;
    }
    ::shutdown(socket, SHUT_RDWR);
    ::close(socket);
    return true;
}

}  // namespace tenon::serve
