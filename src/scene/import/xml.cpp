#include "scene/import/xml.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

#include <expat.h>
#include <fmt/format.h>

#include "scene/value.hpp"
#include "tenon/error.hpp"

namespace tenon::scene {

// Fills a document from one file and those it includes.
class XmlBuilder {
  public:
    XmlBuilder(XmlDocument& document, const std::string& include_tag, const XmlLimits& limits)
        : document_(document), include_tag_(include_tag), limits_(limits) {}

    void parse(const std::string& file, int include_depth) {
        const auto file_number = static_cast<std::uint32_t>(document_.files_.size());
        document_.files_.push_back(file);
        const std::string text = read_text_file(file, limits_.bytes - std::min(limits_.bytes, bytes_));
        bytes_ += text.size();
        if (text.find_first_not_of(" \t\r\n") == std::string::npos)
            throw InputError(file, "", "is empty", "give a URDF or MJCF file");
        const Parser parser(XML_ParserCreate(nullptr), XML_ParserFree);
        if (!parser) throw std::bad_alloc();
        File here{this, parser.get(), file_number, include_depth, {}};
        XML_SetUserData(parser.get(), &here);
        XML_SetElementHandler(parser.get(), start_element, end_element);
        XML_SetCharacterDataHandler(parser.get(), character_data);
        XML_SetStartDoctypeDeclHandler(parser.get(), start_doctype);
        XML_SetEntityDeclHandler(parser.get(), entity_declaration);
        feed(here, text);
    }

  private:
    using Parser = std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)>;
    struct File {
        XmlBuilder* builder;
        XML_Parser parser;
        std::uint32_t number;
        int include_depth;
        std::exception_ptr error;  // thrown once expat, which is C, has returned
        bool root_seen = false;
    };

    void feed(File& here, const std::string& text) {
        constexpr std::size_t piece = std::size_t{1} << 24;
        for (std::size_t at = 0; at < text.size() || at == 0; at += piece) {
            const std::size_t size = std::min(piece, text.size() - at);
            const bool last = at + size == text.size();
            const XML_Status status = XML_Parse(here.parser, text.data() + at, static_cast<int>(size), last);
            if (here.error) std::rethrow_exception(here.error);
            if (status != XML_STATUS_OK)
                throw InputError(
                    document_.files_[here.number],
                    fmt::format("line {}", XML_GetCurrentLineNumber(here.parser)),
                    fmt::format("is not well-formed XML: {}", XML_ErrorString(XML_GetErrorCode(here.parser))),
                    "every element must be closed, every attribute quoted");
            if (last) break;
        }
    }

    template <class Action>
    static void guarded(void* data, const Action& action) {
        File& here = *static_cast<File*>(data);
        if (here.error) return;
        try {
            action(here);
        } catch (...) {
            here.error = std::current_exception();
            XML_StopParser(here.parser, XML_FALSE);
        }
    }

    [[noreturn]] void refuse(const File& here, const std::string& problem, const std::string& cure) const {
        throw InputError(document_.files_[here.number],
                         fmt::format("line {}", XML_GetCurrentLineNumber(here.parser)), problem, cure);
    }

    static void start_doctype(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) {
        guarded(data, [](File& here) {
            here.builder->refuse(here, "has a document type (DOCTYPE)",
                                 "remove it: document types and entities are not read");
        });
    }
    static void entity_declaration(void* data, const XML_Char*, int, const XML_Char*, int, const XML_Char*,
                                   const XML_Char*, const XML_Char*, const XML_Char*) {
        guarded(data, [](File& here) {
            here.builder->refuse(here, "declares an entity", "write out what it stands for");
        });
    }
    static void start_element(void* data, const XML_Char* name, const XML_Char** attributes) {
        guarded(data, [&](File& here) { here.builder->start(here, name, attributes); });
    }
    static void end_element(void* data, const XML_Char*) {
        guarded(data, [](File& here) { here.builder->open_.pop_back(); });
    }
    static void character_data(void* data, const XML_Char* characters, int size) {
        guarded(data, [&](File& here) {
            here.builder->add_text({characters, static_cast<std::size_t>(size)});
        });
    }

    void start(File& here, std::string_view name, const XML_Char** attributes) {
        if (open_.size() >= static_cast<std::size_t>(limits_.depth))
            refuse(here, fmt::format("is nested deeper than {} elements", limits_.depth),
                   "flatten the model");
        if (document_.elements_.size() >= limits_.elements)
            refuse(here, fmt::format("has more than {} elements", limits_.elements), "split the model");
        const bool included_root = here.include_depth > 0 && !here.root_seen;
        here.root_seen = true;
        if (included_root) return open_.push_back(open_.back());
        if (!include_tag_.empty() && name == include_tag_) return include(here, attributes);
        add_element(here, name, attributes);
    }

    void add_element(File& here, std::string_view name, const XML_Char** attributes) {
        XmlDocument::Element element{};
        const auto index = static_cast<std::uint32_t>(document_.elements_.size());
        element.name = name_id(name);
        element.first_attribute = static_cast<std::uint32_t>(document_.attributes_.size());
        element.parent = element.first_child = element.next = XmlDocument::none;
        element.line = static_cast<std::uint32_t>(XML_GetCurrentLineNumber(here.parser));
        element.file = here.number;
        for (; *attributes; attributes += 2) {
            document_.attributes_.push_back({name_id(attributes[0]), store(attributes[1])});
            ++element.attributes;
        }
        if (!open_.empty()) {
            const std::uint32_t parent = open_.back();
            element.parent = parent;
            std::uint32_t& last = last_child_[parent];
            (last == XmlDocument::none ? document_.elements_[parent].first_child
                                       : document_.elements_[last].next) = index;
            last = index;
        }
        document_.elements_.push_back(element);
        last_child_.push_back(XmlDocument::none);
        open_.push_back(index);
    }

    void include(File& here, const XML_Char** attributes) {
        if (open_.empty()) refuse(here, "is an include alone", "put it inside the model");
        std::string target;
        for (; *attributes; attributes += 2)
            if (std::strcmp(attributes[0], "file") == 0) target = attributes[1];
        if (target.empty()) refuse(here, "an include has no 'file'", "name the file to include");
        if (here.include_depth >= limits_.include_depth)
            refuse(here, fmt::format("includes are nested deeper than {}", limits_.include_depth),
                   "does a file include itself?");
        if (document_.files_.size() >= static_cast<std::size_t>(limits_.files))
            refuse(here, fmt::format("includes more than {} files", limits_.files), "merge some");
        namespace fs = std::filesystem;
        const fs::path path = fs::path(document_.files_[0]).parent_path() / target;
        std::error_code error;
        if (!fs::exists(path, error))
            refuse(here, fmt::format("no such file: {}", path.string()),
                   "included files are found from the folder of the first file");
        open_.push_back(open_.back());
        parse(path.string(), here.include_depth + 1);
    }

    void add_text(std::string_view text) {
        if (open_.empty()) return;
        XmlDocument::Text& out = document_.elements_[open_.back()].text;
        const bool blank = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
        if (out.size == 0 && blank) return;
        if (out.size == 0)
            out = store(text);
        else if (out.begin + out.size == document_.characters_.size()) {
            document_.characters_ += text;
            out.size += static_cast<std::uint32_t>(text.size());
        }
    }

    std::uint32_t name_id(std::string_view name) {
        const auto [entry, is_new] = document_.name_index_.try_emplace(
            std::string(name), static_cast<std::uint32_t>(document_.names_.size()));
        if (is_new) document_.names_.emplace_back(name);
        return entry->second;
    }

    XmlDocument::Text store(std::string_view text) {
        const XmlDocument::Text stored{static_cast<std::uint32_t>(document_.characters_.size()),
                                       static_cast<std::uint32_t>(text.size())};
        document_.characters_ += text;
        return stored;
    }

    XmlDocument& document_;
    const std::string& include_tag_;
    const XmlLimits& limits_;
    std::size_t bytes_ = 0;
    // The element that children are added to, for each level: an include and the root of its file stand for the
    // element that holds the include.
    std::vector<std::uint32_t> open_;
    std::vector<std::uint32_t> last_child_;  // by element
};

XmlDocument::XmlDocument(const std::string& file, const std::string& include_tag, const XmlLimits& limits) {
    XmlBuilder(*this, include_tag, limits).parse(file, 0);
}

std::string_view XmlElement::name() const {
    return document_->names_[document_->elements_[index_].name];
}

std::string_view XmlElement::text() const {
    const std::string_view raw = document_->view(document_->elements_[index_].text);
    const std::size_t first = raw.find_first_not_of(" \t\r\n"), last = raw.find_last_not_of(" \t\r\n");
    return first == std::string_view::npos ? std::string_view() : raw.substr(first, last - first + 1);
}

int XmlElement::line() const {
    return static_cast<int>(document_->elements_[index_].line);
}

const std::string& XmlElement::file() const {
    return document_->files_[document_->elements_[index_].file];
}

std::optional<std::string_view> XmlElement::attribute(std::string_view name) const {
    const XmlDocument::Element& element = document_->elements_[index_];
    for (std::uint32_t k = 0; k < element.attributes; ++k) {
        const XmlDocument::Attribute& attribute = document_->attributes_[element.first_attribute + k];
        if (document_->names_[attribute.name] == name) return document_->view(attribute.value);
    }
    return std::nullopt;
}

std::vector<std::pair<std::string_view, std::string_view>> XmlElement::attributes() const {
    const XmlDocument::Element& element = document_->elements_[index_];
    std::vector<std::pair<std::string_view, std::string_view>> all;
    for (std::uint32_t k = 0; k < element.attributes; ++k) {
        const XmlDocument::Attribute& attribute = document_->attributes_[element.first_attribute + k];
        all.emplace_back(document_->names_[attribute.name], document_->view(attribute.value));
    }
    return all;
}

XmlElement XmlElement::parent() const {
    const std::uint32_t index = document_->elements_[index_].parent;
    return index == XmlDocument::none ? XmlElement() : XmlElement(document_, index);
}

XmlElement XmlElement::first_child() const {
    const std::uint32_t index = document_->elements_[index_].first_child;
    return index == XmlDocument::none ? XmlElement() : XmlElement(document_, index);
}

XmlElement XmlElement::next() const {
    const std::uint32_t index = document_->elements_[index_].next;
    return index == XmlDocument::none ? XmlElement() : XmlElement(document_, index);
}

XmlElement XmlElement::child(std::string_view wanted) const {
    for (XmlElement entry = first_child(); entry; entry = entry.next())
        if (entry.name() == wanted) return entry;
    return {};
}

std::string XmlElement::where() const {
    return fmt::format("line {}", line());
}

void XmlElement::fail(const std::string& problem, const std::string& cure) const {
    throw InputError(file(), where(), problem, cure);
}

}  // namespace tenon::scene
