// The look that all written pages share: style, and a script of their own that shows a plot's values under the pointer.
#pragma once

#include <string>

namespace tenon::exporting {

// <head> with title, style, light and dark. Nothing is fetched from anywhere.
std::string page_head(const std::string& title);
// The end of <body>: the script for plots drawn by panel_svg.
std::string page_tail();

std::string markup_escaped(const std::string& text);

}  // namespace tenon::exporting
