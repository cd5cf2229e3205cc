#include "scene/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tenon/error.hpp"
#include "tenon/params.hpp"

namespace tenon::scene {

std::string Where::text() const {
    std::string path = parent ? parent->text() : std::string();
    if (index >= 0) return path + fmt::format("[{}]", index);
    if (key.empty()) return path;
    if (!path.empty()) path += '.';
    return path + std::string(key);
}

void Context::fail(const Where& where, std::string problem, std::string cure) const {
    throw InputError(file, where.text(), std::move(problem), std::move(cure));
}

namespace {

[[noreturn]] void wrong_type(const Context& context, const Where& where, const Value& value,
                             const std::string& wanted) {
    context.fail(where, fmt::format("is {}", value.type_name()), "must be " + wanted);
}

std::string range_text(const KeyInfo& info) {
    const bool low = std::isfinite(info.min), high = std::isfinite(info.max);
    const std::string low_text = fmt::format("{} {:g}", info.open_min ? "above" : "at least", info.min);
    const std::string high_text = fmt::format("{} {:g}", info.open_max ? "below" : "at most", info.max);
    return low && high ? low_text + " and " + high_text : low ? low_text : high_text;
}

void check_number(const Context& context, const Where& where, double value, const KeyInfo& info) {
    if (!std::isfinite(value)) context.fail(where, "is not a finite number", "give a finite number");
    const bool low = value < info.min || (info.open_min && value == info.min);
    const bool high = value > info.max || (info.open_max && value == info.max);
    if (low || high)
        context.fail(where, fmt::format("{:g} is out of range", value), "must be " + range_text(info));
}

double scale_of(const Context& context, const KeyInfo& info) {
    return info.is_length() ? context.length : 1.0;
}

void check_numbers(const Context& context, const Where& where, Value& value, const KeyInfo& info,
                   std::size_t count) {
    if (!value.is_numbers() || value.array_size() != count) {
        const std::string wanted = fmt::format("a list of {} numbers", count);
        if (value.is_numbers())
            context.fail(where, fmt::format("has {} entries", value.array_size()), "must be " + wanted);
        if (value.is_list())
            for (std::size_t i = 0; i < value.list().size(); ++i)
                if (!value.list()[i].is_number())
                    wrong_type(context, where / static_cast<long>(i), value.list()[i], "a number");
        wrong_type(context, where, value, wanted);
    }
    const double factor = scale_of(context, info);
    for (std::size_t i = 0; i < count; ++i) {
        double& number = value.numbers()[i];
        check_number(context, where / static_cast<long>(i), number, info);
        number *= factor;
    }
}

// "; did you mean 'hinge'?", or nothing when no choice is near.
std::string nearest(const std::string& wrong, const std::vector<std::string>& choices) {
    const std::string words = suggestion(wrong, choices);
    return words.starts_with("did you mean") ? "; " + words : "";
}

void check_text(const Context& context, const Where& where, const Value& value, const KeyInfo& info) {
    if (!value.is_text()) wrong_type(context, where, value, "a text");
    if (info.choices.empty()) return;
    for (const std::string& choice : info.choices)
        if (choice == value.text()) return;
    context.fail(where, fmt::format("unknown value '{}'", value.text()),
                 fmt::format("must be one of: {}{}", fmt::join(info.choices, ", "),
                             nearest(value.text(), info.choices)));
}

void check_index(const Context& context, const Where& where, double value) {
    if (value < 0 || value != std::floor(value) || value > std::numeric_limits<int>::max())
        context.fail(where, fmt::format("{:g} is no index", value), "must be a whole number from 0");
}

void check_scale(const Context& context, const Where& where, Value& value) {
    const KeyInfo any{.name = "scale", .kind = Kind::number, .help = {}};
    const auto refuse_zero = [&](double factor) {
        if (factor == 0) context.fail(where, "has a factor of zero", "factors must not be zero");
    };
    if (value.is_number()) {
        check_number(context, where, value.number(), any);
        return refuse_zero(value.number());
    }
    if (!value.is_array()) wrong_type(context, where, value, "a number or a list of 3 numbers");
    check_numbers(context, where, value, any, 3);
    for (double factor : value.numbers()) refuse_zero(factor);
}

void check_names(const Context& context, const Where& where, const Value& value, std::size_t count) {
    if (!value.is_list() || value.array_size() != count)
        context.fail(where,
                     value.is_array() ? fmt::format("has {} entries", value.array_size())
                                      : fmt::format("is {}", value.type_name()),
                     fmt::format("must be a list of {} names", count));
    for (std::size_t i = 0; i < count; ++i)
        if (!value.list()[i].is_text())
            wrong_type(context, where / static_cast<long>(i), value.list()[i], "a name");
}

void check_number_list(const Context& context, const Where& where, Value& value, const KeyInfo& info) {
    if (value.is_number()) {
        check_number(context, where, value.number(), info);
        value.number() *= scale_of(context, info);
        return;
    }
    if (!value.is_numbers()) wrong_type(context, where, value, "a number or a list of numbers");
    check_numbers(context, where, value, info, value.array_size());
}

// Six numbers, or three rows that mirror each other about the diagonal.
void check_matrix(const Context& context, const Where& where, Value& value, const KeyInfo& info) {
    const std::string wanted = "six numbers [xx,xy,xz,yy,yz,zz], or three rows of three numbers";
    if (value.is_numbers()) {
        if (value.array_size() != 6)
            context.fail(where, fmt::format("has {} entries", value.array_size()), "must be " + wanted);
        return check_numbers(context, where, value, info, 6);
    }
    if (!value.is_list() || value.array_size() != 3) wrong_type(context, where, value, wanted);
    double largest = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        check_numbers(context, where / static_cast<long>(i), value.list()[i], info, 3);
        for (const double entry : value.list()[i].numbers()) largest = std::max(largest, std::abs(entry));
    }
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (std::abs(value.list()[i].numbers()[k] - value.list()[k].numbers()[i]) > 1e-12 * largest)
                context.fail(where / static_cast<long>(i), "the matrix is not symmetric",
                             "entries mirrored about the diagonal are equal");
}

void check_fixed(const Context& context, const Where& where, const Value& value) {
    const std::string wanted = "true, names out of x y z rx ry rz, or six of true and false";
    if (value.is_flag() || (value.is_numbers() && value.array_size() == 0)) return;
    if (!value.is_list()) wrong_type(context, where, value, wanted);
    const List& entries = value.list();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Where place = where / static_cast<long>(i);
        if (entries[0].is_flag() && (!entries[i].is_flag() || entries.size() != 6))
            context.fail(where, "is not six of true and false", "must be " + wanted);
        if (entries[0].is_flag()) continue;
        if (!entries[i].is_text()) wrong_type(context, place, entries[i], "a name out of x y z rx ry rz");
        const std::vector<std::string> names = {"x", "y", "z", "rx", "ry", "rz"};
        if (std::find(names.begin(), names.end(), entries[i].text()) == names.end())
            context.fail(place, fmt::format("unknown coordinate '{}'", entries[i].text()),
                         "must be one of x y z rx ry rz");
    }
}

// Runs `check` over the entries of a list that is not flat.
template <class Check>
void check_entries(const Context& context, const Where& where, Value& value, const std::string& wanted,
                   Check check) {
    if (!value.is_array()) wrong_type(context, where, value, wanted);
    if (value.is_numbers()) {
        if (value.array_size() > 0) context.fail(where, "is a list of numbers", "must be " + wanted);
        return;
    }
    List& entries = value.list();
    for (std::size_t i = 0; i < entries.size(); ++i) check(where / static_cast<long>(i), entries[i]);
}

void check_index_tuple(const Context& context, const Where& where, Value& value, int count) {
    if (!value.is_numbers() || value.array_size() != static_cast<std::size_t>(count))
        context.fail(where, fmt::format("is not a list of {} indices", count),
                     fmt::format("give {} vertex numbers", count));
    for (double index : value.numbers()) check_index(context, where, index);
}

}  // namespace

void check_value(const Context& context, const Where& where, Value& value, const KeyInfo& info) {
    switch (info.kind) {
        case Kind::flag:
            if (!value.is_flag()) wrong_type(context, where, value, "true or false");
            return;
        case Kind::number:
        case Kind::integer:
            if (!value.is_number()) wrong_type(context, where, value, "a number");
            check_number(context, where, value.number(), info);
            if (info.kind == Kind::integer && value.number() != std::floor(value.number()))
                context.fail(where, fmt::format("{:g} is not whole", value.number()),
                             "must be a whole number");
            value.number() *= scale_of(context, info);
            return;
        case Kind::text:
            return check_text(context, where, value, info);
        case Kind::vec3:
            return check_numbers(context, where, value, info, 3);
        case Kind::numbers:
            return check_numbers(context, where, value, info, static_cast<std::size_t>(info.count));
        case Kind::scale:
            return check_scale(context, where, value);
        case Kind::object:
            return check_object(context, where, value, info.object());
        case Kind::objects:
            return check_entries(context, where, value, "a list of objects",
                                 [&](const Where& place, Value& entry) {
                                     check_object(context, place, entry, info.object());
                                 });
        case Kind::object_map:
            if (!value.is_object()) wrong_type(context, where, value, "an object of named objects");
            for (Member& member : value.object())
                if (!is_comment(member.key))
                    check_object(context, where / member.key, member.value, info.object());
            return;
        case Kind::names:
            return check_names(context, where, value, static_cast<std::size_t>(info.count));
        case Kind::name_pairs:
            return check_entries(
                context, where, value, "a list of pairs of names",
                [&](const Where& place, Value& entry) { check_names(context, place, entry, 2); });
        case Kind::points:
            return check_entries(
                context, where, value, "a list of points",
                [&](const Where& place, Value& entry) { check_numbers(context, place, entry, info, 3); });
        case Kind::indices:
            return check_entries(context, where, value, "a list of index lists",
                                 [&](const Where& place, Value& entry) {
                                     check_index_tuple(context, place, entry, info.count);
                                 });
        case Kind::index_list:
            if (!value.is_numbers()) wrong_type(context, where, value, "a list of vertex numbers");
            for (double index : value.numbers()) check_index(context, where, index);
            return;
        case Kind::number_pairs:
            return check_entries(
                context, where, value, "a list of pairs of numbers",
                [&](const Where& place, Value& entry) { check_numbers(context, place, entry, info, 2); });
        case Kind::number_list:
            return check_number_list(context, where, value, info);
        case Kind::number_lists:
            if (!value.is_object()) wrong_type(context, where, value, "an object of numbers by name");
            for (Member& member : value.object())
                if (!is_comment(member.key))
                    check_number_list(context, where / member.key, member.value, info);
            return;
        case Kind::name_list:
            if (!value.is_list()) wrong_type(context, where, value, "a list of names");
            return check_names(context, where, value, value.array_size());
        case Kind::matrix:
            return check_matrix(context, where, value, info);
        case Kind::fixed:
            return check_fixed(context, where, value);
        case Kind::shape:
            if (!value.is_text() && !value.is_object())
                wrong_type(context, where, value, "an object with a type, or the name of a shape");
            return;
        case Kind::shape_map:
            if (!value.is_object()) wrong_type(context, where, value, "an object of named shapes");
            for (Member& member : value.object())
                if (!member.value.is_object() && !is_comment(member.key))
                    wrong_type(context, where / member.key, member.value, "an object");
            return;
        case Kind::method:
            if (!value.is_text() && !value.is_object())
                wrong_type(context, where, value, "a method's name, or an object with its type");
            return;
    }
}

void check_object(const Context& context, const Where& where, Value& value, const ObjectInfo& info) {
    if (!value.is_object()) wrong_type(context, where, value, "an object");
    for (Member& member : value.object()) {
        if (is_comment(member.key)) continue;
        const KeyInfo* known = info.find(member.key);
        if (!known && !where.parent && where.key.empty() && member.key == "dt")
            context.fail(where / member.key, "the time step belongs to the method",
                         "write \"method\": {\"type\": \"affine\", \"dt\": 0.01}");
        if (!known)
            context.fail(where / member.key, fmt::format("unknown key '{}'", member.key),
                         suggestion(member.key, info.names()));
        check_value(context, where / member.key, member.value, *known);
    }
    for (const KeyInfo& key : info.keys)
        if (key.required && !value.find(key.name))
            context.fail(where, fmt::format("has no '{}'", key.name), fmt::format("add it: {}", key.help));
}

}  // namespace tenon::scene
