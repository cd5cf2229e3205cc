// A run as one HTML file that works from a disk or a mail: the page with the data inside it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "serve/page_files.hpp"
#include "serve/run_store.hpp"

namespace tenon::serve {

struct HtmlOptions {
    std::size_t max_bytes = 20'000'000;
};

struct HtmlPage {
    std::string text;
    long frames = 0, recorded_frames = 0;
    std::vector<std::string> notes;  // what was left out to keep the size
};

// Throws InputError when not even two frames fit.
HtmlPage html_page(const PageFiles& page, const std::vector<std::unique_ptr<OpenRun>>& runs,
                   const HtmlOptions& options);

std::string deflated(const std::string& bytes);  // zlib's format, as DecompressionStream("deflate") reads it
std::string base64_text(const std::string& bytes);

}  // namespace tenon::serve
