// The command lines of `tenon bench` and `tenon paper`. They are the same in the program, which checks them and
// hands over to tenon-bench beside it, and in tenon-bench, so that nobody compiles benchmarks to run a scene.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tenon::app {

struct BenchRequest {
    std::string name, only, plots, compare, save;
    bool list = false, json = false, quick = false;
    int repeats = 3, threads = 0;
    double tolerance = 0.25;
};
int bench_verb(const BenchRequest& request);

struct PaperRequest {
    std::string paper, item;  // empty: list what there is
    std::string only, plots;
    bool json = false, quick = false;
    int repeats = 3, threads = 1;
};
int paper_verb(const PaperRequest& request);

using Action = std::function<int()>;
// A verb with its summary and an example under its help.
CLI::App* add_verb(CLI::App& app, const std::string& name, const std::string& summary,
                   const std::string& example);
// `chosen` is called when the line is read without fault.
void add_bench(CLI::App& app, BenchRequest& request, const std::function<void()>& chosen);
void add_paper(CLI::App& app, PaperRequest& request, const std::function<void()>& chosen);

}  // namespace tenon::app
