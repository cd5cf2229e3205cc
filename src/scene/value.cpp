#include "scene/value.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tenon/error.hpp"

namespace tenon::scene {

Value::Value(List list) : data_(std::make_unique<List>(std::move(list))) {}
Value::Value(Object object) : data_(std::make_unique<Object>(std::move(object))) {}
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

List& Value::as_list() {
    if (is_numbers()) {
        List general;
        general.reserve(numbers().size());
        for (double number : numbers()) general.emplace_back(number);
        *this = Value(std::move(general));
    }
    return list();
}

const Value* Value::find(std::string_view key) const {
    for (const Member& member : object())
        if (member.key == key) return &member.value;
    return nullptr;
}

Value* Value::find(std::string_view key) {
    return const_cast<Value*>(std::as_const(*this).find(key));
}

Value& Value::set(std::string_view key, Value value) {
    if (Value* present = find(key)) return *present = std::move(value);
    object().push_back({std::string(key), std::move(value)});
    return object().back().value;
}

void Value::erase(std::string_view key) {
    std::erase_if(object(), [&](const Member& member) { return member.key == key; });
}

const char* Value::type_name() const {
    static const char* const names[] = {"null",   "true or false",     "a number", "a text",
                                        "a list", "a list (of parts)", "an object"};
    return is_list() ? "a list" : names[data_.index()];
}

namespace {

std::string position_text(std::string_view text, std::size_t offset) {
    offset = std::min(offset, text.size());
    const std::string_view before = text.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t last_break = before.rfind('\n');
    const std::size_t column = last_break == std::string_view::npos ? offset : offset - last_break - 1;
    return fmt::format("line {}, column {}", line, std::max<std::size_t>(column, 1));
}

// What follows "syntax error ..." in the parser's own message, without its repeated position.
std::string syntax_problem(const std::string& message) {
    const std::size_t colon = message.find(": ");
    std::string rest = colon == std::string::npos ? message : message.substr(colon + 2);
    if (rest.rfind("syntax error", 0) != 0) rest = "syntax error: " + rest;
    for (char& c : rest)  // the text read last may be anything
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
    return "JSON " + rest;
}

// Builds the tree without recursion. Numbers of a list are gathered on one stack, so that a finished flat
// list costs exactly one allocation of its size.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
  public:
    TreeBuilder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    bool null() override { return add(Value()); }
    bool boolean(bool flag) override { return add(Value(flag)); }
    bool number_integer(number_integer_t number) override { return add_number(static_cast<double>(number)); }
    bool number_unsigned(number_unsigned_t number) override {
        return add_number(static_cast<double>(number));
    }
    bool number_float(number_float_t number, const string_t&) override { return add_number(number); }
    bool string(string_t& text) override { return add(Value(std::string(text))); }
    bool binary(binary_t&) override { return false; }

    bool start_object(std::size_t) override { return open(true); }
    bool start_array(std::size_t) override { return open(false); }
    bool key(string_t& name) override {
        frames_[depth_ - 1].members.push_back({name, Value()});
        return true;
    }
    bool end_object() override {
        Frame& frame = frames_[--depth_];
        refuse_repeated_keys(frame.members);
        Object object(std::make_move_iterator(frame.members.begin()),
                      std::make_move_iterator(frame.members.end()));
        frame.members.clear();
        return add(Value(std::move(object)));
    }
    bool end_array() override {
        Frame& frame = frames_[--depth_];
        if (frame.flat) {
            Numbers list(numbers_.begin() + static_cast<std::ptrdiff_t>(frame.first_number), numbers_.end());
            numbers_.resize(frame.first_number);
            return add(Value(std::move(list)));
        }
        List list(std::make_move_iterator(frame.items.begin()), std::make_move_iterator(frame.items.end()));
        frame.items.clear();
        return add(Value(std::move(list)));
    }
    bool parse_error(std::size_t offset, const std::string&,
                     const nlohmann::detail::exception& error) override {
        if (error.id == 406)
            throw InputError(file_, position_text(text_, offset), "a number is too large for a double",
                             "numbers must be below 1.8e308");
        throw InputError(file_, position_text(text_, offset), syntax_problem(error.what()),
                         "scene files are JSON; NaN, Infinity and comments are not part of it");
    }

    Value take() { return std::move(root_); }

  private:
    struct Frame {
        bool is_object = false, flat = true;
        std::size_t first_number = 0;
        List items;
        Object members;
    };

    bool open(bool is_object) {
        if (depth_ == max_json_depth)
            throw InputError(file_, "", fmt::format("is nested deeper than {} levels", max_json_depth),
                             "scenes are flat: nothing in them nests that deep");
        if (depth_ == static_cast<int>(frames_.size())) frames_.emplace_back();
        Frame& frame = frames_[depth_++];
        frame.is_object = is_object;
        frame.flat = true;
        frame.first_number = numbers_.size();
        return true;
    }
    bool add_number(double number) {
        if (depth_ > 0 && !frames_[depth_ - 1].is_object && frames_[depth_ - 1].flat) {
            numbers_.push_back(number);
            return true;
        }
        return add(Value(number));
    }
    bool add(Value value) {
        if (depth_ == 0) {
            root_ = std::move(value);
            return true;
        }
        Frame& frame = frames_[depth_ - 1];
        if (frame.is_object) {
            frame.members.back().value = std::move(value);
            return true;
        }
        if (frame.flat) {  // the first entry that is no number: make the list general
            for (std::size_t i = frame.first_number; i < numbers_.size(); ++i)
                frame.items.emplace_back(numbers_[i]);
            numbers_.resize(frame.first_number);
            frame.flat = false;
        }
        frame.items.push_back(std::move(value));
        return true;
    }
    void refuse_repeated_keys(const Object& members) const {
        const auto refuse = [&](const std::string& key) {
            throw InputError(file_, "", fmt::format("the key '{}' appears twice in one object", key),
                             "keep one of them");
        };
        if (members.size() > 64) {
            std::unordered_set<std::string_view> seen;
            for (const Member& member : members)
                if (!seen.insert(member.key).second) refuse(member.key);
            return;
        }
        for (std::size_t i = 1; i < members.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (members[i].key == members[j].key) refuse(members[i].key);
    }

    std::string_view text_;
    const std::string& file_;
    Value root_;
    std::vector<Frame> frames_;
    int depth_ = 0;
    Numbers numbers_;
};

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Value parse_json(std::string_view text, const std::string& file) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
        throw InputError(file, "", "is empty", "a scene is a JSON object with at least \"bodies\"");
    TreeBuilder builder(text, file);
    nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
    return builder.take();
}

std::string read_text_file(const std::string& file, std::size_t max_bytes) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (!fs::exists(status)) throw InputError(file, "", "no such file", "check the path");
    if (fs::is_directory(status)) throw InputError(file, "", "is a folder", "give a file");
    // A pipe that the shell set up has a writer; any other one would be waited for.
    const bool from_shell =
        file.starts_with("/dev/stdin") || file.starts_with("/dev/fd/") || file.starts_with("/proc/");
    if (!fs::is_regular_file(status) && !from_shell)
        throw InputError(file, "", "is not a plain file", "give a scene file");
    const auto refuse_size = [&] {
        throw InputError(file, "", fmt::format("is larger than {} MB", max_bytes >> 20),
                         "keep meshes in files of their own");
    };
    if (fs::is_regular_file(status) && fs::file_size(file, error) > max_bytes) refuse_size();
    const std::unique_ptr<std::FILE, FileCloser> handle(std::fopen(file.c_str(), "rb"));
    if (!handle) throw InputError(file, "", fmt::format("cannot be opened: {}", std::strerror(errno)));
    std::string text;
    if (fs::is_regular_file(status)) text.reserve(fs::file_size(file, error));
    char buffer[1 << 16];
    while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, handle.get())) {
        if (text.size() + count > max_bytes) refuse_size();
        text.append(buffer, count);
    }
    if (std::ferror(handle.get()))
        throw InputError(file, "", fmt::format("cannot be read: {}", std::strerror(errno)));
    return text;
}

}  // namespace tenon::scene
