#include "apps/tenon/html.hpp"

#include <fmt/format.h>

namespace tenon::app {
namespace {

const char* const style = R"(
:root { color-scheme: light; }
body { margin: 0; background: #f4f5f7; color: #23272e; font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 26px; margin: 0 0 2px; } h2 { font-size: 18px; margin: 34px 0 10px; }
.sub { color: #626b77; margin: 0 0 18px; }
figure { margin: 0 0 18px; } figure img { width: 100%; display: block; border-radius: 6px; border: 1px solid #dde1e6; }
figcaption { color: #626b77; font-size: 13px; padding: 6px 2px; }
.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 14px; }
.card { background: #fff; border: 1px solid #dde1e6; border-radius: 6px; padding: 8px; }
.card svg { width: 100%; height: auto; display: block; }
table { border-collapse: collapse; background: #fff; border: 1px solid #dde1e6; }
td, th { padding: 5px 12px; border-bottom: 1px solid #e8ebef; text-align: left; vertical-align: top; }
th { background: #eef1f4; font-weight: 600; } td.n { text-align: right; font-variant-numeric: tabular-nums; }
.facts td:first-child { color: #626b77; white-space: nowrap; }
.verdict { padding: 6px 12px; border-radius: 6px; margin: 6px 0; }
.good { background: #e3f2e6; color: #1d5c2a; } .bad { background: #fbe4e2; color: #8c1d14; }
)";

bool numeric(const std::string& text) {
    return !text.empty() && (std::isdigit(static_cast<unsigned char>(text[0])) || text[0] == '-');
}

}  // namespace

std::string html_escaped(const std::string& text) {
    std::string out;
    for (char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
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
    body_ += "<table class=\"facts\">\n";
    for (const auto& [name, value] : rows)
        body_ += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_escaped(name), html_escaped(value));
    body_ += "</table>\n";
}

void HtmlPage::table(const std::vector<std::vector<std::string>>& rows) {
    body_ += "<table>\n";
    for (std::size_t r = 0; r < rows.size(); ++r) {
        body_ += "<tr>";
        for (const std::string& cell : rows[r]) {
            const char* const open = r == 0 ? "<th>" : numeric(cell) ? "<td class=\"n\">" : "<td>";
            body_ += open + html_escaped(cell) + (r == 0 ? "</th>" : "</td>");
        }
        body_ += "</tr>\n";
    }
    body_ += "</table>\n";
}

void HtmlPage::verdict(bool good, const std::string& text) {
    body_ += fmt::format("<p class=\"verdict {}\">{}</p>\n", good ? "good" : "bad", html_escaped(text));
}

std::string HtmlPage::text() const {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width, "
        "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}"
        "</main>\n</body>\n</html>\n",
        html_escaped(title_), style, body_);
}

}  // namespace tenon::app
