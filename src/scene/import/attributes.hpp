// Numbers, vectors and names out of XML attributes, with errors that name the line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "scene/import/xml.hpp"
#include "tenon/types.hpp"

namespace tenon::scene {

// All numbers of a text; refuses what is no finite number, and other counts than between `least` and `most`.
std::vector<double> parse_numbers(const XmlElement& element, std::string_view attribute,
                                  std::string_view text, std::size_t least, std::size_t most);

double number_attribute(const XmlElement& element, std::string_view attribute, double fallback);
Vec3 vec3_attribute(const XmlElement& element, std::string_view attribute, const Vec3& fallback);
std::string text_attribute(const XmlElement& element, std::string_view attribute,
                           const std::string& fallback = {});
std::string needed_attribute(const XmlElement& element, std::string_view attribute);

// Refuses attributes or children that are not known, with the nearest known name.
void check_attributes(const XmlElement& element, std::span<const std::string> known);
void check_children(const XmlElement& element, std::span<const std::string> known);

}  // namespace tenon::scene
