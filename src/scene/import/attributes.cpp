#include "scene/import/attributes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "tenon/params.hpp"

namespace tenon::scene {
namespace {

// A file may hold anything: what is quoted back is short and printable.
std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 40)) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    return text.size() > 40 ? out + "..." : out;
}

}  // namespace

std::vector<double> parse_numbers(const XmlElement& element, std::string_view attribute,
                                  std::string_view text, std::size_t least, std::size_t most) {
    std::vector<double> numbers;
    const char *at = text.data(), *const end = at + text.size();
    const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
    while (true) {
        while (at != end && blank(*at)) ++at;
        if (at == end) break;
        const char* const word = at;
        if (*at == '+') ++at;
        double value = 0;
        const auto [next, error] = std::from_chars(at, end, value);
        if (error != std::errc() || next == at || (next != end && !blank(*next)) || !std::isfinite(value)) {
            const char* stop = word;
            while (stop != end && !blank(*stop)) ++stop;
            element.fail(fmt::format("{}: '{}' is not a finite number", attribute,
                                     shown({word, static_cast<std::size_t>(stop - word)})),
                         "give plain numbers, parted by blanks");
        }
        numbers.push_back(value);
        at = next;
        if (numbers.size() > most) break;
    }
    if (numbers.size() < least || numbers.size() > most)
        element.fail(fmt::format("{} has {} numbers", attribute,
                                 numbers.size() > most ? "too many" : std::to_string(numbers.size())),
                     least == most ? fmt::format("it takes {}", least)
                                   : fmt::format("it takes {} to {}", least, most));
    return numbers;
}

double number_attribute(const XmlElement& element, std::string_view attribute, double fallback) {
    const auto text = element.attribute(attribute);
    return text ? parse_numbers(element, attribute, *text, 1, 1)[0] : fallback;
}

Vec3 vec3_attribute(const XmlElement& element, std::string_view attribute, const Vec3& fallback) {
    const auto text = element.attribute(attribute);
    if (!text) return fallback;
    const std::vector<double> n = parse_numbers(element, attribute, *text, 3, 3);
    return {n[0], n[1], n[2]};
}

std::string text_attribute(const XmlElement& element, std::string_view attribute,
                           const std::string& fallback) {
    const auto text = element.attribute(attribute);
    return text ? std::string(*text) : fallback;
}

std::string needed_attribute(const XmlElement& element, std::string_view attribute) {
    const auto text = element.attribute(attribute);
    if (!text || text->empty())
        element.fail(fmt::format("<{}> has no '{}'", element.name(), attribute), "add it");
    return std::string(*text);
}

void check_attributes(const XmlElement& element, std::span<const std::string> known) {
    for (const auto& [name, unused] : element.attributes())
        if (std::find(known.begin(), known.end(), name) == known.end() &&
            name.find(':') == std::string_view::npos)
            element.fail(fmt::format("<{}> has an unknown attribute '{}'", element.name(), shown(name)),
                         suggestion(std::string(name.substr(0, 100)), {known.begin(), known.end()}));
}

void check_children(const XmlElement& element, std::span<const std::string> known) {
    for (XmlElement child = element.first_child(); child; child = child.next())
        if (std::find(known.begin(), known.end(), child.name()) == known.end())
            child.fail(
                fmt::format("<{}> is not known inside <{}>", shown(child.name()), shown(element.name())),
                suggestion(std::string(child.name().substr(0, 100)), {known.begin(), known.end()}));
}

}  // namespace tenon::scene
