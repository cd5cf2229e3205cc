// XML as a flat tree of elements with line numbers, for files that may be hostile.
//
// expat parses without recursion; elements, attributes and texts lie in three arrays, so a million links cost a few
// hundred megabytes at most and a tree of any depth is walked by index. Depth, size and number of elements are bounded.
// Document types and entities are refused: nothing in a robot's description needs them, and they can grow without end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tenon::scene {

struct XmlLimits {
    std::size_t bytes = std::size_t{1} << 30;  // of all files together
    int depth = 100'000;
    std::size_t elements = 50'000'000;
    int include_depth = 16;
    int files = 1000;
};

class XmlDocument;

// A view of one element.
class XmlElement {
  public:
    XmlElement() = default;
    XmlElement(const XmlDocument* document, std::uint32_t index) : document_(document), index_(index) {}

    explicit operator bool() const { return document_ != nullptr; }
    std::uint32_t index() const { return index_; }
    std::string_view name() const;
    std::string_view text() const;  // the first run of characters inside it
    int line() const;
    const std::string& file() const;
    std::optional<std::string_view> attribute(std::string_view name) const;
    std::vector<std::pair<std::string_view, std::string_view>> attributes() const;

    XmlElement parent() const;
    XmlElement first_child() const;
    XmlElement next() const;                        // sibling
    XmlElement child(std::string_view name) const;  // the first of that name

    // "line 12", with the file when it is an included one.
    std::string where() const;
    // Throws InputError at this element.
    [[noreturn]] void fail(const std::string& problem, const std::string& cure = {}) const;

  private:
    const XmlDocument* document_ = nullptr;
    std::uint32_t index_ = 0;
};

class XmlDocument {
  public:
    // Parses the file, and those that elements named `include_tag` point to by their attribute "file": their root's
    // children stand in the include's place. Throws InputError with the line.
    XmlDocument(const std::string& file, const std::string& include_tag = {}, const XmlLimits& limits = {});
    XmlDocument(const XmlDocument&) = delete;
    XmlDocument& operator=(const XmlDocument&) = delete;

    XmlElement root() const { return {this, 0}; }
    const std::string& file() const { return files_[0]; }
    std::size_t size() const { return elements_.size(); }
    // Elements in document order: a parent comes before its children.
    XmlElement element(std::size_t index) const { return {this, static_cast<std::uint32_t>(index)}; }

  private:
    friend class XmlElement;
    friend class XmlBuilder;
    static constexpr std::uint32_t none = ~0u;
    struct Text {
        std::uint32_t begin = 0, size = 0;
    };
    struct Attribute {
        std::uint32_t name;
        Text value;
    };
    struct Element {
        std::uint32_t name, first_attribute, attributes, parent, first_child, next, line, file;
        Text text;
    };
    std::string_view view(const Text& text) const { return {characters_.data() + text.begin, text.size}; }

    std::vector<Element> elements_;
    std::vector<Attribute> attributes_;
    std::string characters_;
    std::vector<std::string> names_, files_;
    std::unordered_map<std::string, std::uint32_t> name_index_;
};

}  // namespace tenon::scene
