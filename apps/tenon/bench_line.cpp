#include "apps/tenon/bench_line.hpp"

#include <CLI/CLI.hpp>

namespace tenon::app {

CLI::App* add_verb(CLI::App& app, const std::string& name, const std::string& summary,
                   const std::string& example) {
    CLI::App* verb = app.add_subcommand(name, summary);
    verb->footer("Example:\n  " + example + "\n");
    return verb;
}

void add_bench(CLI::App& app, BenchRequest& r, const std::function<void()>& chosen) {
    CLI::App* verb = add_verb(app, "bench", "benchmarks, beside other engines where they are installed",
                              "tenon bench solve --json");
    verb->add_option("name", r.name, "one benchmark; default all")->type_name("NAME");
    verb->add_flag("--list", r.list, "list the benchmarks");
    verb->add_option("--compare", r.compare,
                     "an earlier run that was saved: its times and quality beside each row; exit 1 when "
                     "something became worse than --tolerance allows")
        ->type_name("FILE");
    verb->add_option("--tolerance", r.tolerance,
                     "share by which times and errors may be larger than in --compare")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str()
        ->needs("--compare");
    verb->add_option("--save", r.save, "write the rows as JSON lines here too, with a header for --compare")
        ->type_name("FILE");
    verb->add_flag("--json", r.json, "one JSON object a line");
    verb->add_flag("--quick", r.quick, "small sizes, to see that it works");
    verb->add_option("--only", r.only, "only cases whose name holds this text")->type_name("TEXT");
    verb->add_option("--repeats", r.repeats, "medians of this many")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    verb->add_option("--threads", r.threads, "number of threads; 0: all cores")
        ->check(CLI::NonNegativeNumber);
    verb->add_option("--plots", r.plots, "write plots of what was measured here")->type_name("FOLDER");
    verb->callback(chosen);
}

void add_paper(CLI::App& app, PaperRequest& r, const std::function<void()>& chosen) {
    CLI::App* verb = add_verb(app, "paper", "measure a paper's table or figure, beside the numbers it prints",
                              "tenon paper 000 table2 --only table2-arch");
    verb->add_option("paper", r.paper, "000 to 004; default: list all")->type_name("NUMBER");
    verb->add_option("item", r.item, "table or figure; default: list those of the paper")->type_name("NAME");
    verb->add_option("--only", r.only, "only lines whose name holds this text")->type_name("TEXT");
    verb->add_flag("--quick", r.quick, "small sizes, to see that it works");
    verb->add_flag("--json", r.json, "one JSON object a line, with everything that was measured");
    verb->add_option("--plots", r.plots, "draw the figures here")->type_name("FOLDER");
    verb->add_option("--repeats", r.repeats, "medians of this many")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    verb->add_option("--threads", r.threads, "number of threads; 0: all cores")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    verb->callback(chosen);
}

}  // namespace tenon::app
