// tenon-bench: does what `tenon bench` and `tenon paper` ask for.
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include "apps/tenon/bench_line.hpp"
#include "tenon/error.hpp"

namespace {

int run_command_line(int argc, char** argv) {
    using namespace tenon::app;
    CLI::App app("Benchmarks of Tenon.", "tenon");
    app.require_subcommand(1);
    BenchRequest bench;
    PaperRequest paper;
    Action action;
    add_bench(app, bench, [&] { action = [&] { return bench_verb(bench); }; });
    add_paper(app, paper, [&] { action = [&] { return paper_verb(paper); }; });
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& done) {
        return app.exit(done);
    } catch (const CLI::ParseError& error) {
        std::cerr << "error: " << error.what() << " ('tenon bench --help' explains)\n";
        return 2;
    }
    return action();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run_command_line(argc, argv);
    } catch (const tenon::InputError& error) {
        std::cerr << "error: " << error.what() << "\n";
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "error: " << error.what() << "\n";
        return 1;
    }
}
