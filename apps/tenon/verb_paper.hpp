// `tenon paper`: the papers' tables and figures, measured here.
#pragma once

#include <string>

namespace tenon::app {

struct PaperRequest {
    std::string paper, item;  // empty: list what there is
    std::string only, plots;
    bool json = false, quick = false;
    int repeats = 3, threads = 1;
};
int paper_verb(const PaperRequest& request);

}  // namespace tenon::app
