#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "scene/value.hpp"
#include "sweep/plan.hpp"
#include "tenon/error.hpp"
#include "tenon/method.hpp"
#include "tenon/params.hpp"

namespace tenon::sweep {
namespace {

using scene::Member;
using scene::Value;

constexpr long most_runs = 1'000'000;

// A value as `--set` would be given it: texts bare, everything else as JSON.
nlohmann::json json_of(const Value& value) {
    if (value.is_flag()) return value.flag();
    if (value.is_number()) return value.number();
    if (value.is_text()) return value.text();
    nlohmann::json list = nlohmann::json::array();
    if (value.is_numbers())
        for (const double number : value.numbers()) list.push_back(number);
    if (value.is_list())
        for (const Value& entry : value.list()) list.push_back(json_of(entry));
    if (!value.is_object()) return list;
    nlohmann::json object = nlohmann::json::object();
    for (const Member& member : value.object()) object[member.key] = json_of(member.value);
    return object;
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

class PlanReader {
  public:
    PlanReader(Plan& plan, const KnownFields& known) : plan_(plan), known_(known) {}

    void read(const Value& root) {
        if (!root.is_object()) fail("", fmt::format("is {}", root.type_name()), "a plan is a JSON object");
        check_keys(root, "",
                   {"tenon_sweep", "name", "comment", "scene", "scenes", "methods", "seeds", "seed_parameter",
                    "set", "sample", "parameters", "runs", "results", "record", "keep_runs",
                    "allow_unconverged", "limit_seconds"});
        if (const Value* version = root.find("tenon_sweep"))
            if (!version->is_number() || version->number() != 1)
                fail("tenon_sweep", "is a version this program does not know", "must be 1");
        plan_.name = text_or(root, "name", std::filesystem::path(plan_.file).stem().string());
        text_or(root, "comment", "");
        read_scenes(root);
        read_methods(root);
        read_seeds(root);
        read_set(root);
        read_sample(root);
        read_parameters(root);
        read_runs(root);
        read_results(root);
        read_record(root);
        plan_.keep_runs = flag(root, "keep_runs");
        plan_.allow_unconverged = flag(root, "allow_unconverged");
        if (const Value* limit = root.find("limit_seconds")) {
            plan_.seconds_limit = number(*limit, "limit_seconds");
            if (!(plan_.seconds_limit > 0))
                fail("limit_seconds", "is not positive", "give seconds, or leave it away for no limit");
        }
        check_columns();
        check_size();
    }

  private:
    [[noreturn]] void fail(const std::string& path, const std::string& problem,
                           const std::string& cure) const {
        throw InputError(plan_.file, path, problem, cure);
    }

    void check_keys(const Value& object, const std::string& path,
                    const std::vector<std::string>& known) const {
        for (const Member& member : object.object())
            if (std::find(known.begin(), known.end(), member.key) == known.end())
                fail(path + (path.empty() ? "" : ".") + member.key, "is no key of a sweep's plan",
                     suggestion(member.key, known));
    }

    double number(const Value& value, const std::string& path) const {
        if (!value.is_number()) fail(path, fmt::format("is {}", value.type_name()), "must be a number");
        return value.number();
    }

    long whole(const Value& value, const std::string& path, long least) const {
        const double given = number(value, path);
        if (given != std::floor(given) || given < static_cast<double>(least) || given > 1e15)
            fail(path, fmt::format("is {:g}", given),
                 fmt::format("must be a whole number, {} or more", least));
        return static_cast<long>(given);
    }

    bool flag(const Value& root, const std::string& key) const {
        const Value* value = root.find(key);
        if (!value) return false;
        if (!value->is_flag()) fail(key, fmt::format("is {}", value->type_name()), "must be true or false");
        return value->flag();
    }

    std::string text_or(const Value& root, const std::string& key, const std::string& fallback) const {
        const Value* value = root.find(key);
        if (!value) return fallback;
        return text(*value, key);
    }

    std::string text(const Value& value, const std::string& path) const {
        if (!value.is_text() || value.text().empty())
            fail(path, value.is_text() ? "is empty" : fmt::format("is {}", value.type_name()),
                 "must be a text");
        return value.text();
    }

    std::vector<std::string> texts(const Value& value, const std::string& path) const {
        std::vector<std::string> all;
        if (!value.is_list() || value.list().empty())
            fail(path, value.is_array() ? "holds no texts" : fmt::format("is {}", value.type_name()),
                 "must be a list of texts");
        for (std::size_t i = 0; i < value.list().size(); ++i) {
            const std::string place = fmt::format("{}[{}]", path, i);
            all.push_back(text(value.list()[i], place));
            if (std::count(all.begin(), all.end(), all.back()) > 1)
                fail(place, fmt::format("'{}' is named twice", all.back()), "each run is made once");
        }
        return all;
    }

    Cell cell(const Value& value, const std::string& path) const {
        if (value.is_null()) fail(path, "is null", "give a value, or leave the key away");
        if (value.is_number()) return value.number();
        if (value.is_text()) return value.text();
        return json_of(value).dump();
    }

    void read_scenes(const Value& root) {
        const Value *one = root.find("scene"), *many = root.find("scenes");
        if (one && many) fail("scenes", "and 'scene' are both given", "use one of the two");
        if (!one && !many)
            fail("scene", "is missing", "name a scene file beside the plan, or a built-in scene");
        plan_.scenes = one ? std::vector<std::string>{text(*one, "scene")} : texts(*many, "scenes");
    }

    void read_methods(const Value& root) {
        const Value* methods = root.find("methods");
        if (!methods) return;
        plan_.methods = texts(*methods, "methods");
        for (std::size_t i = 0; i < plan_.methods.size(); ++i)
            find_method(plan_.methods[i], {plan_.file, fmt::format("methods[{}]", i)});
    }

    void read_seeds(const Value& root) {
        const Value* seeds = root.find("seeds");
        plan_.seed_parameter = text_or(root, "seed_parameter", "seed");
        if (!seeds) {
            if (root.find("seed_parameter"))
                fail("seed_parameter", "is given without 'seeds'", "add \"seeds\": 5, or leave it away");
            return;
        }
        if (seeds->is_number()) {
            const long count = whole(*seeds, "seeds", 1);
            if (count > most_runs) fail("seeds", "are too many", fmt::format("at most {}", most_runs));
            for (long k = 1; k <= count; ++k) plan_.seeds.push_back(k);
            return;
        }
        if (!seeds->is_numbers() || seeds->numbers().empty())
            fail("seeds", "are neither a number nor a list of numbers", "write 5 for 1 to 5, or [3, 8, 21]");
        for (std::size_t i = 0; i < seeds->numbers().size(); ++i) {
            plan_.seeds.push_back(whole(Value(seeds->numbers()[i]), fmt::format("seeds[{}]", i), 0));
            if (std::count(plan_.seeds.begin(), plan_.seeds.end(), plan_.seeds.back()) > 1)
                fail(fmt::format("seeds[{}]", i), "is named twice", "each run is made once");
        }
    }

    void read_set(const Value& root) {
        const Value* set = root.find("set");
        if (!set) return;
        if (!set->is_object())
            fail("set", fmt::format("is {}", set->type_name()), "must be an object: {\"seconds\": 0.5}");
        for (const Member& member : set->object())
            plan_.set.push_back({member.key, plain_text(cell(member.value, "set." + member.key))});
    }

    void read_sample(const Value& root) {
        const Value* sample = root.find("sample");
        std::string type = root.find("runs") ? "list" : "grid";
        if (sample && sample->is_object()) {
            check_keys(*sample, "sample", {"type", "count", "seed"});
            if (!sample->find("type")) fail("sample.type", "is missing", "grid, random, latin or list");
            type = text(*sample->find("type"), "sample.type");
        } else if (sample) {
            type = text(*sample, "sample");
        }
        static const std::vector<std::string> types = {"grid", "random", "latin", "list"};
        const auto found = std::find(types.begin(), types.end(), type);
        if (found == types.end())
            fail("sample", fmt::format("'{}' is no way to sample", type), "grid, random, latin or list");
        plan_.sampling = static_cast<Sampling>(found - types.begin());
        const Value* count = sample && sample->is_object() ? sample->find("count") : nullptr;
        const Value* seed = sample && sample->is_object() ? sample->find("seed") : nullptr;
        if (plan_.sampling == Sampling::random || plan_.sampling == Sampling::latin) {
            if (!count)
                fail("sample.count", "is missing",
                     fmt::format("write {{\"type\": \"{}\", \"count\": 100}}", type));
            plan_.count = whole(*count, "sample.count", 1);
            if (seed) plan_.sample_seed = whole(*seed, "sample.seed", 0);
        } else if (count || seed) {
            fail(count ? "sample.count" : "sample.seed", "is for random and Latin samples",
                 "a grid takes its counts from the parameters");
        }
    }

    void read_parameters(const Value& root) {
        const Value* parameters = root.find("parameters");
        if (plan_.sampling == Sampling::list) {
            if (parameters)
                fail("parameters", "are given besides 'runs'", "a list names every run under 'runs'");
            return;
        }
        if (!parameters) {
            if (plan_.sampling != Sampling::grid) fail("parameters", "are missing", "name what to sample");
            return;
        }
        if (!parameters->is_object() || parameters->object().empty())
            fail("parameters", parameters->is_object() ? "is empty" : "is no object",
                 "write {\"method.dhat\": [0.001, 0.002]}");
        for (const Member& member : parameters->object())
            plan_.parameters.push_back(parameter(member, "parameters." + member.key));
    }

    Parameter parameter(const Member& member, const std::string& path) const {
        Parameter made;
        made.key = member.key;
        const Value& value = member.value;
        if (value.is_object()) return range(std::move(made), value, path);
        if (!value.is_array() || value.array_size() == 0)
            fail(path, value.is_array() ? "is an empty list" : fmt::format("is {}", value.type_name()),
                 "give a list of values, or a range {\"from\": 0, \"to\": 1, \"count\": 5}; what does not "
                 "vary "
                 "belongs under 'set'");
        for (std::size_t i = 0; i < value.array_size(); ++i) {
            const std::string place = fmt::format("{}[{}]", path, i);
            made.values.push_back(value.is_numbers() ? Cell(value.numbers()[i])
                                                     : cell(value.list()[i], place));
            if (std::count(made.values.begin(), made.values.end(), made.values.back()) > 1)
                fail(place, "is named twice", "each run is made once");
        }
        return made;
    }

    Parameter range(Parameter made, const Value& value, const std::string& path) const {
        check_keys(value, path, {"from", "to", "count", "scale", "integer"});
        for (const char* key : {"from", "to"})
            if (!value.find(key))
                fail(path + "." + key, "is missing", "a range goes from one number to another");
        made.is_range = true;
        made.from = number(*value.find("from"), path + ".from");
        made.to = number(*value.find("to"), path + ".to");
        if (!(made.from < made.to))
            fail(path, fmt::format("goes from {:g} to {:g}", made.from, made.to), "'to' must be the larger");
        if (const Value* scale = value.find("scale")) {
            const std::string word = text(*scale, path + ".scale");
            if (word != "linear" && word != "log")
                fail(path + ".scale", fmt::format("is '{}'", word), "must be linear or log");
            made.logarithmic = word == "log";
        }
        if (made.logarithmic && !(made.from > 0))
            fail(path + ".from", fmt::format("is {:g} on a log scale", made.from), "must be positive");
        if (const Value* integer = value.find("integer")) {
            if (!integer->is_flag()) fail(path + ".integer", "is no flag", "must be true or false");
            made.integer = integer->flag();
        }
        const Value* count = value.find("count");
        const bool grid = plan_.sampling == Sampling::grid;
        if (grid && !count)
            fail(path + ".count", "is missing", "say how many values of the range a grid takes");
        if (!grid && count) fail(path + ".count", "is for grids", "the number of samples is sample.count");
        if (count) made.count = whole(*count, path + ".count", 2);
        if (made.count > most_runs)
            fail(path + ".count", "is too large", fmt::format("at most {}", most_runs));
        return made;
    }

    void read_runs(const Value& root) {
        const Value* runs = root.find("runs");
        if (plan_.sampling != Sampling::list) {
            if (runs) fail("runs", "is for lists", "use \"sample\": \"list\", or 'parameters'");
            return;
        }
        if (!runs || !runs->is_list() || runs->list().empty())
            fail("runs", runs ? "is no list of runs" : "is missing",
                 "write [{\"dt\": 0.01}, {\"dt\": 0.005}]");
        for (std::size_t i = 0; i < runs->list().size(); ++i) {
            const Value& run = runs->list()[i];
            const std::string place = fmt::format("runs[{}]", i);
            if (!run.is_object())
                fail(place, fmt::format("is {}", run.type_name()), "must be an object: {\"dt\": 0.01}");
            auto& made = plan_.runs.emplace_back();
            for (const Member& member : run.object())
                made.emplace_back(member.key, cell(member.value, place + "." + member.key));
        }
    }

    void read_results(const Value& root) {
        const Value* results = root.find("results");
        if (!results || !results->is_object() || results->object().empty())
            fail("results", results ? "names nothing" : "is missing",
                 "name what to keep: {\"height\": \"last(body.ball.y)\"}");
        for (const Member& member : results->object())
            plan_.results.push_back(result(member.key, text(member.value, "results." + member.key)));
    }

    ResultSpec result(const std::string& name, const std::string& expression) const {
        const std::string path = "results." + name;
        ResultSpec made;
        made.name = name;
        made.expression = expression;
        const std::size_t open = expression.find('(');
        if (open != std::string::npos && expression.ends_with(')')) {
            static const std::vector<std::string> statistics = {"last", "first",       "min",        "max",
                                                                "mean", "time_of_min", "time_of_max"};
            made.statistic = expression.substr(0, open);
            made.field = expression.substr(open + 1, expression.size() - open - 2);
            if (std::find(statistics.begin(), statistics.end(), made.statistic) == statistics.end())
                fail(path, fmt::format("there is no statistic '{}'", made.statistic),
                     suggestion(made.statistic, statistics));
            if (made.field.empty()) fail(path, "names no series", "write last(energy)");
            return made;
        }
        if (expression == "expect") {
            made.kind = ResultSpec::Kind::expect;
            return made;
        }
        const bool report = expression.starts_with("report."), verify = expression.starts_with("verify.");
        if (!report && !verify)
            fail(path, fmt::format("'{}' is no result", expression),
                 "write last(SERIES) or min, max, mean, first; report.FIELD, verify.FIELD or expect");
        made.kind = report ? ResultSpec::Kind::report : ResultSpec::Kind::verify;
        made.field = expression.substr(expression.find('.') + 1);
        const std::vector<std::string>& known = report ? known_.report : known_.verify;
        const bool open_ended = made.field.starts_with("phases_ms.") || made.field.starts_with("figures.");
        if (!(report && open_ended) && std::find(known.begin(), known.end(), made.field) == known.end())
            fail(path, fmt::format("a {} has no field '{}'", report ? "report" : "verdict", made.field),
                 suggestion(made.field, known));
        return made;
    }

    void read_record(const Value& root) {
        const Value* record = root.find("record");
        if (!record) return;
        if (!record->is_object())
            fail("record", fmt::format("is {}", record->type_name()),
                 "write {\"fps\": 120} or {\"every\": 1}");
        check_keys(*record, "record", {"fps", "every"});
        const Value *fps = record->find("fps"), *every = record->find("every");
        if (fps && every) fail("record", "has both fps and every", "use one of the two");
        if (every)
            plan_.record_every = static_cast<int>(std::min(whole(*every, "record.every", 1), 2000000000L));
        if (fps) plan_.fps = number(*fps, "record.fps");
        if (!(plan_.fps > 0)) fail("record.fps", "is not positive", "give frames per simulated second");
    }

    // The columns of the table must differ, also for SQLite, which does not tell capitals apart.
    void check_columns() const {
        std::vector<std::string> taken = {"task", "scene", "status", "reason", "wall_seconds", "run"};
        const auto take = [&](const std::string& name, const std::string& path) {
            if (std::find(taken.begin(), taken.end(), lower(name)) != taken.end())
                fail(path, fmt::format("the table has a column '{}' already", name), "choose another name");
            taken.push_back(lower(name));
        };
        std::vector<std::string> fixed;
        for (const Override& entry : plan_.set) {
            if (std::find(fixed.begin(), fixed.end(), entry.key) != fixed.end())
                fail("set." + entry.key, "is given twice", "");
            fixed.push_back(entry.key);
        }
        for (const std::string& name : parameter_columns(plan_)) {
            if (std::find(fixed.begin(), fixed.end(), name) != fixed.end())
                fail("set." + name, "is also a parameter of the sweep", "keep one of the two");
            take(name, "parameters." + name);
        }
        for (const ResultSpec& result : plan_.results) take(result.name, "results." + result.name);
    }

    void check_size() const {
        double samples = 1;
        if (plan_.sampling == Sampling::list) samples = static_cast<double>(plan_.runs.size());
        if (plan_.count > 0) samples = static_cast<double>(plan_.count);
        if (plan_.sampling == Sampling::grid)
            for (const Parameter& parameter : plan_.parameters)
                samples *= parameter.is_range ? static_cast<double>(parameter.count)
                                              : static_cast<double>(parameter.values.size());
        const auto at_least_one = [](std::size_t n) {
            return static_cast<double>(std::max<std::size_t>(n, 1));
        };
        const double runs = samples * at_least_one(plan_.scenes.size()) * at_least_one(plan_.methods.size()) *
                            at_least_one(plan_.seeds.size());
        if (runs > most_runs)
            fail("", fmt::format("asks for {:.3g} runs", runs),
                 fmt::format("at most {}; sample a space of many parameters with \"latin\"", most_runs));
    }

    Plan& plan_;
    const KnownFields& known_;
};

}  // namespace

std::vector<std::string> parameter_columns(const Plan& plan) {
    std::vector<std::string> names;
    if (!plan.methods.empty()) names.push_back("method");
    if (!plan.seeds.empty()) names.push_back(plan.seed_parameter);
    for (const Parameter& parameter : plan.parameters) names.push_back(parameter.key);
    std::vector<std::string> of_runs;
    for (const auto& run : plan.runs)
        for (const auto& [key, value] : run)
            if (std::find(of_runs.begin(), of_runs.end(), key) == of_runs.end()) of_runs.push_back(key);
    names.insert(names.end(), of_runs.begin(), of_runs.end());
    return names;
}

Plan read_plan(const std::string& file, const KnownFields& known) {
    Plan plan;
    plan.file = file;
    plan.folder = std::filesystem::path(file).parent_path().string();
    plan.text = scene::read_text_file(file);
    PlanReader(plan, known).read(scene::parse_json(plan.text, file));
    return plan;
}

}  // namespace tenon::sweep
