// `tenon view`: a run, or a scene while it is simulated, in the browser or as one HTML file.
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "apps/tenon/common.hpp"
#include "apps/tenon/progress.hpp"
#include "math/parallel.hpp"
#include "math/whole_file.hpp"
#include "serve/html_page.hpp"
#include "serve/live_run.hpp"
#include "serve/server.hpp"
#include "tenon/error.hpp"

extern char** environ;

namespace tenon::app {
namespace {

// Where there is a desktop, its browser; elsewhere nothing happens, and the address was printed.
void open_browser(const std::string& address) {
    if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) return;
    char program[] = "xdg-open";
    std::string argument = address;
    char* arguments[] = {program, argument.data(), nullptr};
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    (void)posix_spawnp(&child, program, &quiet, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&quiet);
}

void check_flags(const ViewRequest& request, bool live) {
    const SceneRequest& scene = request.scene;
    if (request.runs.size() > 2)
        throw InputError("", request.runs[2], "two runs can be seen side by side", "name one or two");
    for (const std::string& file : request.runs)
        if (request.runs.size() > 1 && !is_run_file(file))
            throw InputError(file, "", "is not a run file", "side by side needs two recorded runs");
    if (!live && (scene.method || scene.dt || scene.seconds || !scene.set.empty() || !request.output.empty()))
        throw InputError(request.runs.front(), "", "is a run that was made already",
                         "--method, --dt, --seconds, --set and -o are for scenes");
    if (request.max_size && request.html.empty())
        throw InputError("", "--max-size", "is the size of a page", "add --html FILE");
    if (!request.html.empty() && live)
        throw InputError(request.runs.front(), "--html", "a page is made from a recorded run",
                         "first 'tenon run' the scene");
}

int write_page(const ViewRequest& request) {
    std::vector<std::unique_ptr<serve::OpenRun>> runs;
    for (const std::string& file : request.runs) runs.push_back(std::make_unique<serve::OpenRun>(file, 1));
    serve::HtmlOptions options;
    options.max_bytes = static_cast<std::size_t>(1e6 * request.max_size.value_or(20.0));
    const serve::HtmlPage page = serve::html_page(serve::load_page(), runs, options);
    write_whole_file(request.html, page.text);
    if (!request.quiet) {
        std::cout << fmt::format("{}: {:.2f} MB, {} of {} frames\n", request.html,
                                 static_cast<double>(page.text.size()) / 1e6, page.frames,
                                 page.recorded_frames);
        for (const std::string& note : page.notes) std::cout << "  " << note << "\n";
    }
    return 0;
}

// Serves until Ctrl-C.
int serve_runs(const ViewRequest& request, serve::LiveRun* live, serve::PageFiles page) {
    std::vector<std::shared_ptr<serve::RunStore>> runs;
    if (live)
        runs.push_back(std::make_shared<serve::RunStore>(live->file()));
    else
        for (const std::string& file : request.runs) runs.push_back(std::make_shared<serve::RunStore>(file));
    serve::ServerOptions options;
    options.port = request.port;
    options.steering = live;
    serve::Server server(std::move(page), std::move(runs), options);
    const std::string address = fmt::format("http://127.0.0.1:{}/", server.bind());
    std::cout << address << (request.quiet ? "" : "  (Ctrl-C ends)") << std::endl;
    if (!request.no_open) open_browser(address);
    const std::atomic<bool>& stop = stop_on_interrupt();
    std::thread watch([&] {
        while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(50));
        server.stop();
    });
    server.listen();
    watch.join();
    return 0;
}

}  // namespace

int view_verb(const ViewRequest& request) {
    set_threads(request.scene.threads);
    const std::string& first = request.runs.front();
    const bool live = request.runs.size() == 1 && !is_run_file(first);
    check_flags(request, live);
    serve::PageFiles page = serve::load_page();
    if (!request.html.empty()) return write_page(request);
    if (!live) return serve_runs(request, nullptr, std::move(page));
    SceneRequest wanted = request.scene;
    wanted.scene = first;
    serve::LiveRun simulation(load_requested(wanted), request.output);
    const int code = serve_runs(request, &simulation, std::move(page));
    simulation.finish();
    if (!request.output.empty() && !request.quiet) std::cout << "written " << request.output << "\n";
    return code;
}

}  // namespace tenon::app
