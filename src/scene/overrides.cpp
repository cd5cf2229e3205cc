#include "scene/overrides.hpp"

#include <charconv>

#include <fmt/format.h>

#include "scene/keys.hpp"
#include "tenon/error.hpp"

namespace tenon::scene {
namespace {

// One step of a path: a key, or a number or name in brackets.
struct Step {
    std::string text;
    bool bracket = false;
};

class Setter {
  public:
    Setter(Value& root, const Override& entry, const std::string& file)
        : root_(root), entry_(entry), file_(file) {}

    void apply() {
        std::vector<Step> steps = split();
        if (steps.size() == 1 && steps[0].text == "dt") steps.insert(steps.begin(), {"method", false});
        if (steps[0].text == "method") return set_method(steps);
        descend(root_, scene_keys(), steps, 0);
    }

    // A target or profile that was set counts, not what the keyframe that the run starts with says of it.
    void take_out_of_keyframe() {
        const std::vector<Step> steps = split();
        const bool of_actuator = steps.size() == 3 && steps[0].text == "actuators" &&
                                 (steps[2].text == "target" || steps[2].text == "profile");
        const Value *actuators = root_.find("actuators"), *start = root_.find("start");
        Value* keyframes = root_.find("keyframes");
        if (!of_actuator || !actuators || !start || !start->is_text() || !keyframes || !keyframes->is_list())
            return;
        const Value& actuator = actuators->list()[entry_index(*actuators, steps[1])];
        const Value* name = actuator.find("name");
        for (Value& key : keyframes->list()) {
            if (!name || !name->is_text() || !key.is_object())
                return;  // the reader says what is wrong with it
            const Value* called = key.find("name");
            Value* targets = key.find("targets");
            if (called && called->is_text() && called->text() == start->text() && targets &&
                targets->is_object())
                targets->erase(name->text());
        }
    }

  private:
    [[noreturn]] void fail(const std::string& problem, const std::string& cure) const {
        throw InputError(file_, "--set " + entry_.key, problem, cure);
    }

    std::vector<Step> split() const {
        std::vector<Step> steps;
        std::string word;
        const auto finish = [&] {
            if (!word.empty()) steps.push_back({std::exchange(word, {}), false});
        };
        for (std::size_t i = 0; i < entry_.key.size(); ++i) {
            const char c = entry_.key[i];
            if (c == '.') {
                finish();
            } else if (c == '[') {
                finish();
                const std::size_t end = entry_.key.find(']', i);
                if (end == std::string::npos || end == i + 1)
                    fail("has an open or empty bracket", "write bodies[3].mass");
                steps.push_back({entry_.key.substr(i + 1, end - i - 1), true});
                i = end;
            } else {
                word += c;
            }
        }
        finish();
        if (steps.empty() || steps[0].bracket) fail("is no path", "write key=value, such as method.dt=0.01");
        return steps;
    }

    // The method's parameters are checked with the method; here only the path's form matters. Another
    // method keeps the time step but none of the other one's parameters.
    void set_method(const std::vector<Step>& steps) {
        Value* method = root_.find("method");
        if (!method) method = &root_.set("method", Value(Object{}));
        if (method->is_text()) {
            Object object;
            object.push_back({"type", Value(method->text())});
            *method = Value(std::move(object));
        }
        Value value = override_value(entry_.value);
        if (steps.size() == 1 && value.is_object()) {
            *method = std::move(value);
            return;
        }
        const std::string key = steps.size() == 1 ? "type" : steps[1].text;
        if (!method->is_object()) *method = Value(Object{});
        if (key == "type") {
            const Value* old = method->find("type");
            if (!old || !old->is_text() || !value.is_text() || old->text() != value.text())
                std::erase_if(method->object(), [](const Member& member) { return member.key != "dt"; });
        }
        if (steps.size() == 3 && steps[2].bracket) {
            Value* list = method->find(key);
            if (!list || !list->is_array())
                fail(fmt::format("'{}' is no list in this scene", key), "set all of it");
            return set_entry(*list, steps[2], std::move(value));
        }
        if (steps.size() > 2) fail("goes too deep", "method parameters are method.NAME");
        method->set(key, std::move(value));
    }

    void set_entry(Value& list, const Step& step, Value value) const {
        List& entries = list.as_list();
        entries[entry_index(list, step)] = std::move(value);
        bool flat = true;
        for (const Value& entry : entries) flat = flat && entry.is_number();
        if (!flat) return;
        Numbers numbers;
        for (const Value& entry : entries) numbers.push_back(entry.number());
        list = Value(std::move(numbers));
    }

    // A number, or the name of the entry.
    std::size_t entry_index(const Value& list, const Step& step) const {
        std::size_t index = 0;
        const char* const end = step.text.data() + step.text.size();
        const bool number = std::from_chars(step.text.data(), end, index).ptr == end;
        if (number && index < list.array_size()) return index;
        if (number)
            fail(fmt::format("there is no entry {}", step.text),
                 fmt::format("the list has {} entries, numbered from 0", list.array_size()));
        if (list.is_list())
            for (std::size_t i = 0; i < list.list().size(); ++i) {
                const Value& entry = list.list()[i];
                const Value* name = entry.is_object() ? entry.find("name") : nullptr;
                if (name && name->is_text() && name->text() == step.text) return i;
            }
        fail(fmt::format("no entry is named '{}'", step.text), "give its number or its name in brackets");
    }

    void descend(Value& object, const ObjectInfo& info, const std::vector<Step>& steps, std::size_t at) {
        const Step& step = steps[at];
        const KeyInfo* key = step.bracket ? nullptr : info.find(step.text);
        if (!key)
            fail(fmt::format("a {} has no key '{}'", info.name, step.text),
                 suggestion(step.text, info.names()));
        if (at + 1 == steps.size()) {
            const bool plain_text = key->kind == Kind::text && !entry_.value.starts_with('"');  // name=2024
            object.set(step.text, plain_text ? Value(entry_.value) : override_value(entry_.value));
            return;
        }
        Value* child = object.find(step.text);
        const Step& next = steps[at + 1];
        const bool last = at + 2 == steps.size();
        switch (key->kind) {
            case Kind::object:
                if (!child) child = &object.set(step.text, Value(Object{}));
                if (!child->is_object()) fail(fmt::format("'{}' is no object in this scene", step.text), "");
                return descend(*child, key->object(), steps, at + 1);
            case Kind::object_map: {
                if (!child) child = &object.set(step.text, Value(Object{}));
                if (!child->is_object()) fail(fmt::format("'{}' is no object in this scene", step.text), "");
                Value* entry = child->find(next.text);
                if (next.bracket && !entry)  // would make one of that name, which nothing uses
                    fail(fmt::format("there is no '{}' in {}", next.text, step.text),
                         fmt::format("its entries go by name: {}.NAME", step.text));
                if (last) return void(child->set(next.text, override_value(entry_.value)));
                if (!entry) entry = &child->set(next.text, Value(Object{}));
                if (!entry->is_object()) fail(fmt::format("'{}' is no object in this scene", next.text), "");
                return descend(*entry, key->object(), steps, at + 2);
            }
            case Kind::objects: {
                if (!child || !child->is_list()) fail(fmt::format("the scene has no {}", step.text), "");
                Value& entry = child->list()[entry_index(*child, next)];
                if (last) return void(entry = override_value(entry_.value));
                if (!entry.is_object()) fail(fmt::format("'{}' is no object in this scene", next.text), "");
                return descend(entry, key->object(), steps, at + 2);
            }
            case Kind::number_lists:  // by name
                if (!child) child = &object.set(step.text, Value(Object{}));
                if (!last || !child->is_object()) break;
                return void(child->set(next.text, override_value(entry_.value)));
            case Kind::shape:
            case Kind::shape_map:
                return set_inside_shape(child, *key, steps, at);
            default:
                break;
        }
        if (!next.bracket || !last || !child || !child->is_array())
            fail(fmt::format("'{}' has no parts named '{}'", step.text, next.text), "set all of it");
        set_entry(*child, next, override_value(entry_.value));
    }

    // Shape parameters are checked with the shape.
    void set_inside_shape(Value* child, const KeyInfo& key, const std::vector<Step>& steps, std::size_t at) {
        if (child && child->is_object() && key.kind == Kind::shape_map) {
            child = child->find(steps[++at].text);
            if (at + 1 == steps.size())
                fail("names a whole shape", "set its parameters: shapes.NAME.PARAMETER");
        }
        if (!child || !child->is_object())
            fail(fmt::format("there is no shape object at '{}' in this scene", steps[at].text),
                 "shapes by name are set under shapes.NAME");
        const Step& parameter = steps[at + 1];
        if (at + 2 == steps.size()) return void(child->set(parameter.text, override_value(entry_.value)));
        Value* list = child->find(parameter.text);
        if (!list || !list->is_array() || at + 3 != steps.size() || !steps[at + 2].bracket)
            fail(fmt::format("'{}' is no list in this scene", parameter.text), "set all of it");
        set_entry(*list, steps[at + 2], override_value(entry_.value));
    }

    Value& root_;
    const Override& entry_;
    const std::string& file_;
};

}  // namespace

Value override_value(const std::string& text) {
    const bool quoted = text.starts_with('[') || text.starts_with('{') || text.starts_with('"');
    try {
        return parse_json(text, "--set");
    } catch (const InputError&) {
        if (quoted) throw;  // meant as JSON: the syntax error is the user's
        return Value(text);
    }
}

ParamValue override_param(const Override& entry, const ParamValue& like, const std::string& scene) {
    if (std::holds_alternative<std::string>(like)) return entry.value;  // 007 stays a text
    const Value value = override_value(entry.value);
    if (value.is_flag()) return value.flag();
    if (value.is_number()) return value.number();
    if (value.is_text()) return value.text();
    if (value.is_numbers()) return value.numbers();
    throw InputError(scene, "--set " + entry.key, fmt::format("is {}", value.type_name()),
                     "must be true or false, a number, a text or a list of numbers");
}

void apply_overrides(Value& root, const std::vector<Override>& overrides, const std::string& file) {
    if (!root.is_object()) return;  // the reader says what is wrong with it
    for (const Override& entry : overrides) Setter(root, entry, file).apply();
    for (const Override& entry : overrides) Setter(root, entry, file).take_out_of_keyframe();
}

}  // namespace tenon::scene
