#include "run/csv.hpp"

#include <fmt/format.h>

namespace tenon::run {

std::string csv_cell(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool c1 = c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (c == '"')
            out += "\"\"";
        else if (c1)
            out += fmt::format("\\u{:04x}", static_cast<unsigned char>(text[++i]));
        else if (c < 0x20 || c == 0x7F)
            out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : fmt::format("\\x{:02x}", c);
        else
            out += text[i];
    }
    return out.find_first_of(",\"") == std::string::npos ? out : "\"" + out + "\"";
}

}  // namespace tenon::run
