// A compact JSON tree: lists of plain numbers are flat, so that a million bodies stay within a gigabyte.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenon::scene {

class Value;
struct Member;
using Numbers = std::vector<double>;
using List = std::vector<Value>;
using Object = std::vector<Member>;  // in the order of the file

class Value {
  public:
    Value() = default;
    explicit Value(bool flag) : data_(flag) {}
    explicit Value(double number) : data_(number) {}
    explicit Value(std::string text) : data_(std::make_unique<std::string>(std::move(text))) {}
    explicit Value(Numbers numbers) : data_(std::make_unique<Numbers>(std::move(numbers))) {}
    explicit Value(List list);
    explicit Value(Object object);
    Value(Value&&) noexcept;
    Value& operator=(Value&&) noexcept;
    ~Value();

    bool is_null() const { return data_.index() == 0; }
    bool is_flag() const { return data_.index() == 1; }
    bool is_number() const { return data_.index() == 2; }
    bool is_text() const { return data_.index() == 3; }
    bool is_numbers() const { return data_.index() == 4; }  // a list of numbers, or an empty list
    bool is_list() const { return data_.index() == 5; }     // a list that holds something else
    bool is_object() const { return data_.index() == 6; }
    bool is_array() const { return is_numbers() || is_list(); }

    bool flag() const { return std::get<1>(data_); }
    double number() const { return std::get<2>(data_); }
    double& number() { return std::get<2>(data_); }
    const std::string& text() const { return *std::get<3>(data_); }
    const Numbers& numbers() const { return *std::get<4>(data_); }
    Numbers& numbers() { return *std::get<4>(data_); }
    const List& list() const { return *std::get<5>(data_); }
    List& list() { return *std::get<5>(data_); }
    const Object& object() const { return *std::get<6>(data_); }
    Object& object() { return *std::get<6>(data_); }

    std::size_t array_size() const { return is_numbers() ? numbers().size() : list().size(); }
    List& as_list();  // turns a flat list into a general one first

    const Value* find(std::string_view key) const;  // of an object; nullptr when there is none
    Value* find(std::string_view key);
    Value& set(std::string_view key, Value value);  // replaces or appends
    void erase(std::string_view key);
    const char* type_name() const;  // "a number", "a list" ... for error texts

  private:
    std::variant<std::monostate, bool, double, std::unique_ptr<std::string>, std::unique_ptr<Numbers>,
                 std::unique_ptr<List>, std::unique_ptr<Object>>
        data_;
};

struct Member {
    std::string key;
    Value value;
};

constexpr int max_json_depth = 64;

// Throws InputError with line and column; refuses repeated keys, depth above max_json_depth and numbers
// that do not fit a double.
Value parse_json(std::string_view text, const std::string& file);

// The whole file as text. Throws InputError for missing files, folders and files beyond `max_bytes`.
std::string read_text_file(const std::string& file, std::size_t max_bytes = std::size_t{4} << 30);

}  // namespace tenon::scene
