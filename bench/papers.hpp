// Which benchmarks measure the tables and figures of the five papers, and the numbers that the papers print there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace tenon::bench {

struct PaperColumn {
    std::string title;
    std::string field;             // of the benchmark's rows
    std::string paper_field = {};  // of the same row, where the benchmark holds the paper's number
    bool printed = false;          // the paper's number is in PaperItem::printed
    bool has_paper() const { return printed || !paper_field.empty(); }
};

struct PaperItem {
    std::string paper;               // 000 to 004
    std::string name;                // table2, fig9
    std::string title;               // what it shows
    std::string bench;               // the benchmark ...
    std::vector<std::string> cases;  // ... and its cases (Options::only), one after the other
    std::vector<std::string> label;  // fields that name a line
    std::vector<PaperColumn> columns;
    std::map<std::string, std::map<std::string, Value>> printed = {};  // by label, then by field
    std::string says = {};                                             // what the paper says in words
};

struct Paper {
    std::string number, title, method;
};

const std::vector<Paper>& papers();
const std::vector<PaperItem>& paper_items();

// The words that name a row's line: its label fields, joined.
std::string paper_label(const PaperItem& item, const Row& row);

// A number as the tables show it; empty when the row has no such field.
std::string field_text(const Row& row, const std::string& field);
std::string value_text(const Value& value);

}  // namespace tenon::bench
