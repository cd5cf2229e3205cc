// Self-contained HTML pages: pictures, plots and tables in one file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tenon::app {

std::string html_escaped(const std::string& text);
std::string base64(const std::vector<std::uint8_t>& bytes);

// A picture with what is said about it.
struct PictureCard {
    std::string title;
    std::vector<std::uint8_t> png;  // empty: none
    std::vector<std::string> good, bad, notes;
};

class HtmlPage {
  public:
    HtmlPage(const std::string& title, const std::string& subtitle);

    void heading(const std::string& text);
    void paragraph(const std::string& text);
    void picture(const std::vector<std::uint8_t>& png, const std::string& caption);
    void plots(const std::vector<std::string>& svgs);                          // two in a row
    void facts(const std::vector<std::pair<std::string, std::string>>& rows);  // name and value
    void table(const std::vector<std::vector<std::string>>& rows);             // the first row is the head
    void cards(const std::vector<PictureCard>& cards);  // side by side where there is room
    void verdict(bool good, const std::string& text);
    std::string text() const;

  private:
    std::string body_;
    std::string title_;
};

}  // namespace tenon::app
