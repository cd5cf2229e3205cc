// `tenon paper`: runs the benchmarks behind a table or a figure and prints each line beside the paper's numbers.
#include "apps/tenon/bench_line.hpp"

#include <algorithm>

#include <iostream>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "bench/papers.hpp"
#include "math/parallel.hpp"
#include "math/whole_file.hpp"
#include "tenon/error.hpp"
#include "tenon/params.hpp"

namespace tenon::app {
namespace {

using bench::PaperColumn;
using bench::PaperItem;
using bench::Row;

constexpr std::size_t label_width = 34, number_width = 10;

void list(const std::string& wanted) {
    for (const bench::Paper& paper : bench::papers()) {
        if (!wanted.empty() && paper.number != wanted) continue;
        fmt::print("{}  {} (method {})\n", paper.number, paper.title, paper.method);
        for (const PaperItem& item : bench::paper_items())
            if (item.paper == paper.number) fmt::print("  {:<10} {}\n", item.name, item.title);
    }
    fmt::print(
        "'tenon paper NUMBER NAME' measures one; paper sizes take minutes to hours, --quick seconds\n");
}

std::size_t width_of(const PaperColumn& column) {
    return std::max(column.title.size(), number_width);
}

// Prints lines as they are measured. The row of a paper's own numbers may follow ours, so one is held back.
class Table {
  public:
    Table(const PaperItem& item, bool json) : item_(item), json_(json) {
        if (json_) return;
        std::string line = fmt::format("{:<{}}", "", label_width);
        for (const PaperColumn& column : item.columns) {
            line += fmt::format("  {:>{}}", column.title, width_of(column));
            if (column.has_paper()) line += fmt::format("  {:>{}}", "paper", number_width);
        }
        std::cout << line << std::endl;
    }

    void add(Row row) {
        if (held_ && bench::field_text(row, "engine") == "paper" &&
            bench::paper_label(item_, row) == bench::paper_label(item_, *held_)) {
            for (const auto& [name, value] : row.fields())
                std::visit([&, &key = name](const auto& v) { held_->set("paper_" + key, v); }, value);
            return;
        }
        flush();
        held_ = std::move(row);
        ++rows_;
    }

    void flush() {
        if (!held_) return;
        add_printed();
        std::cout << (json_ ? held_->to_json() : line()) << std::endl;
        held_.reset();
    }

    int rows() const { return rows_; }

  private:
    // The paper's numbers that the benchmark itself does not hold.
    void add_printed() {
        const auto printed = item_.printed.find(bench::paper_label(item_, *held_));
        if (printed == item_.printed.end()) return;
        for (const auto& [field, value] : printed->second)
            std::visit([&, &key = field](const auto& v) { held_->set("paper_" + key, v); }, value);
    }

    std::string line() const {
        std::string label = bench::paper_label(item_, *held_);
        if (label.size() > label_width) label = label.substr(0, label_width - 3) + "...";
        std::string text = fmt::format("{:<{}}", label, label_width);
        for (const PaperColumn& column : item_.columns) {
            text += fmt::format("  {:>{}}", shown(column.field), width_of(column));
            if (!column.has_paper()) continue;
            const std::string field = column.printed ? "paper_" + column.field : column.paper_field;
            text += fmt::format("  {:>{}}", shown(field), number_width);
        }
        if (item_.columns.empty()) text += rest();
        return text;
    }

    std::string shown(const std::string& field) const {
        const std::string text = bench::field_text(*held_, field);
        return text.empty() ? "-" : text;
    }

    // Of figures: every measured quantity by its name.
    std::string rest() const {
        static const std::set<std::string> known = {"bench", "engine", "method", "size", "threads"};
        std::string text;
        for (const auto& [name, value] : held_->fields())
            if (!known.contains(name) &&
                std::find(item_.label.begin(), item_.label.end(), name) == item_.label.end())
                text += fmt::format("  {} {}", name, bench::value_text(value));
        return text;
    }

    const PaperItem& item_;
    bool json_;
    std::optional<Row> held_;
    int rows_ = 0;
};

const PaperItem& find_item(const PaperRequest& request) {
    std::vector<std::string> names;
    for (const PaperItem& item : bench::paper_items()) {
        if (item.paper != request.paper) continue;
        if (item.name == request.item) return item;
        names.push_back(item.name);
    }
    throw InputError("", request.paper + " " + request.item, "no table or figure of this name is measured",
                     suggestion(request.item, names));
}

void check_paper(const std::string& number) {
    std::vector<std::string> numbers;
    for (const bench::Paper& paper : bench::papers()) numbers.push_back(paper.number);
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end())
        throw InputError("", number, "no paper of this number", suggestion(number, numbers));
}

}  // namespace

int paper_verb(const PaperRequest& request) {
    if (!request.paper.empty()) check_paper(request.paper);
    if (request.item.empty()) {
        list(request.paper);
        return 0;
    }
    const PaperItem& item = find_item(request);
    set_threads(request.threads);
    if (!request.plots.empty()) make_folder_of(request.plots + "/");
    if (!request.json) {
        for (const bench::Paper& paper : bench::papers())
            if (paper.number == item.paper) fmt::print("{}. {}\n", paper.title, item.title);
        if (request.quick) fmt::print("--quick: small sizes; not comparable with the paper's numbers\n");
        if (!item.says.empty()) fmt::print("the paper: {}\n", item.says);
        std::cout << std::flush;
    }
    Table table(item, request.json);
    for (const bench::Bench& bench : bench::all_benches()) {
        if (bench.name != item.bench) continue;
        for (const std::string& only : item.cases) {
            bench::Options options;
            options.only = only;
            options.quick = request.quick;
            options.repeats = request.repeats;
            options.plots = request.plots;
            options.note = [](const std::string& text) { std::cerr << text << "\n"; };
            options.print = [&](const Row& row) {
                if (bench::paper_label(item, row).find(request.only) != std::string::npos) table.add(row);
            };
            if (!request.only.empty() && request.only.find(only) != std::string::npos)
                options.only = request.only;
            bench.run(options);
        }
    }
    table.flush();
    if (table.rows() > 0) return 0;
    throw InputError("", request.only.empty() ? item.name : "--only " + request.only, "measured nothing",
                     request.quick ? "leave --quick away: its small sizes have no such case"
                                   : "'tenon paper' lists what there is");
}

}  // namespace tenon::app
