#include "apps/tenon/html.hpp"

#include <cctype>

#include <fmt/format.h>

#include "export/page_look.hpp"

namespace tenon::app {
namespace {

bool numeric(const std::string& text) {
    return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-');
}

}  // namespace

std::string html_escaped(const std::string& text) {
    return exporting::markup_escaped(text);
}

std::string base64(const std::vector<std::uint8_t>& bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = bytes.size() - i;
        const unsigned word =
            bytes[i] << 16 | (left > 1 ? bytes[i + 1] << 8 : 0) | (left > 2 ? bytes[i + 2] : 0);
        out += digits[word >> 18];
        out += digits[word >> 12 & 63];
        out += left > 1 ? digits[word >> 6 & 63] : '=';
        out += left > 2 ? digits[word & 63] : '=';
    }
    return out;
}

HtmlPage::HtmlPage(const std::string& title, const std::string& subtitle) : title_(title) {
    body_ =
        fmt::format("<h1>{}</h1>\n<p class=\"sub\">{}</p>\n", html_escaped(title), html_escaped(subtitle));
}

void HtmlPage::heading(const std::string& text) {
    body_ += fmt::format("<h2>{}</h2>\n", html_escaped(text));
}

void HtmlPage::paragraph(const std::string& text) {
    body_ += fmt::format("<p>{}</p>\n", html_escaped(text));
}

void HtmlPage::picture(const std::vector<std::uint8_t>& png, const std::string& caption) {
    body_ += fmt::format(
        "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"><figcaption>{0}</figcaption></figure>\n",
        html_escaped(caption), base64(png));
}

void HtmlPage::plots(const std::vector<std::string>& svgs) {
    body_ += "<div class=\"grid\">\n";
    for (const std::string& svg : svgs) body_ += "<div class=\"card\">\n" + svg + "</div>\n";
    body_ += "</div>\n";
}

void HtmlPage::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
    body_ += "<div class=\"wide\"><table class=\"facts\">\n";
    for (const auto& [name, value] : rows)
        body_ += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_escaped(name), html_escaped(value));
    body_ += "</table></div>\n";
}

void HtmlPage::table(const std::vector<std::vector<std::string>>& rows) {
    body_ += "<div class=\"wide\"><table>\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
        body_ += "<tr>";
        for (const std::string& cell : rows[r]) {
            const char* const open = r == 0           ? "<th>"
                                     : cell == "PASS" ? "<td class=\"pass\">"
                                     : cell == "FAIL" ? "<td class=\"fail\">"
                                     : numeric(cell)  ? "<td class=\"n\">"
                                                      : "<td>";
            body_ += open + html_escaped(cell) + (r == 0 ? "</th>" : "</td>");
        }
        body_ += "</tr>\n";
    }
    body_ += "</table></div>\n";
}

void HtmlPage::verdict(bool good, const std::string& text) {
    body_ += fmt::format("<p class=\"verdict {}\">{}</p>\n", good ? "good" : "bad", html_escaped(text));
}

void HtmlPage::cards(const std::vector<PictureCard>& cards) {
    body_ += "<div class=\"grid\">\n";
    for (const PictureCard& card : cards) {
        body_ += fmt::format("<div class=\"card\">\n<h3>{}</h3>\n", html_escaped(card.title));
        if (!card.png.empty())
            body_ += fmt::format("<img alt=\"{}\" src=\"data:image/png;base64,{}\">\n",
                                 html_escaped(card.title), base64(card.png));
        for (const std::string& text : card.good) verdict(true, text);
        for (const std::string& text : card.bad) verdict(false, text);
        for (const std::string& text : card.notes) paragraph(text);
        body_ += "</div>\n";
    }
    body_ += "</div>\n";
}

std::string HtmlPage::text() const {
    return exporting::page_head(title_) + "<body>\n<main>\n" + body_ + "</main>\n" + exporting::page_tail() +
           "</body>\n</html>\n";
}

}  // namespace tenon::app
