// Scenes damaged at random: the reader accepts them or refuses them with an InputError, and nothing else.
#include <random>

#include <nlohmann/json.hpp>

#include "scene/samples.hpp"
#include "scene/support.hpp"
#include "tenon/scene_io.hpp"

namespace tenon {
namespace {

using nlohmann::json;

struct Tally {
    int accepted = 0, refused = 0;
};

void try_scene(const std::string& text, const test::Folder& folder, Tally& tally) {
    try {
        const Scene scene = parse_scene(text, "damaged.json", folder.path());
        parse_scene(write_scene(scene), "again.json", "");  // what is accepted can be written and read
        ++tally.accepted;
    } catch (const InputError& error) {
        EXPECT_FALSE(error.problem().empty());
        EXPECT_NE(error.file(), "again.json") << error.what() << "\n" << text;
        ++tally.refused;
    } catch (const std::exception& error) {
        FAIL() << error.what() << "\n" << text;
    }
}

TEST(DamagedScenes, BytesChangedAtRandom) {
    test::Folder folder;
    test::full_scene(folder);  // writes the meshes
    std::mt19937 random(7);
    Tally tally;
    for (int i = 0; i < 1500; ++i) {
        std::string text = test::full_example;
        const int changes = 1 + static_cast<int>(random() % 4);
        for (int k = 0; k < changes; ++k) {
            const std::size_t at = random() % text.size();
            switch (random() % 4) {
                case 0:
                    text[at] = static_cast<char>(random());
                    break;
                case 1:
                    text.erase(at, 1 + random() % 20);
                    break;
                case 2:
                    text.insert(at, text.substr(random() % text.size(), random() % 30));
                    break;
                default:
                    text[at] = "0123456789-.eE[]{}\",:"[random() % 21];
                    break;
            }
        }
        try_scene(text, folder, tally);
    }
    EXPECT_GT(tally.refused, 500);
    EXPECT_GT(tally.accepted, 5);
}

// All values of a document, as pointers into it.
void collect(json& value, std::vector<json*>& out) {
    out.push_back(&value);
    if (value.is_structured())
        for (json& child : value) collect(child, out);
}

TEST(DamagedScenes, ValuesReplacedAtRandom) {
    test::Folder folder;
    test::full_scene(folder);
    const std::vector<json> odd = {nullptr,
                                   true,
                                   -1,
                                   0,
                                   1e300,
                                   -1e-300,
                                   0.5,
                                   "",
                                   "x",
                                   "world",
                                   "a",
                                   json::array(),
                                   json::object(),
                                   {1, 2, 3},
                                   {0, 0, 0},
                                   {{0, 0, 0}},
                                   {"a", "b"},
                                   {{"type", "box"}}};
    std::mt19937 random(11);
    Tally tally;
    for (int i = 0; i < 1000; ++i) {
        json scene = json::parse(test::full_example);
        std::vector<json*> places;
        collect(scene, places);
        *places[random() % places.size()] = odd[random() % odd.size()];
        try_scene(scene.dump(), folder, tally);
    }
    EXPECT_GT(tally.refused, 300);
    EXPECT_GT(tally.accepted, 30);
}

TEST(DamagedScenes, OverridesAtRandom) {
    const std::vector<std::string> parts = {
        "bodies", "joints", "method", "shape",     "size",   "mass",    "[0]",   "[a]",     "[9]",
        "[",      "]",      ".",      "materials", "steel",  "contact", "pairs", "gravity", "dt",
        "motion", "time",   "shapes", "brick",     "camera", "",        "x"};
    const std::vector<std::string> values = {"1", "-1",   "",     "x",     "[1,2,3]", "{}",
                                             "[", "null", "true", "\"a\"", "1e400"};
    std::mt19937 random(13);
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
        std::string key;
        for (unsigned k = 0; k <= random() % 4; ++k) {
            const std::string& part = parts[random() % parts.size()];
            if (!key.empty() && !part.starts_with('[')) key += '.';
            key += part;
        }
        try {
            parse_scene(
                R"({"materials": {"steel": {}}, "shapes": {"brick": {"type": "box"}}, "gravity": [0, 0, 0],
                "bodies": [{"name": "a", "shape": "brick"}, {"shape": {"type": "box", "size": [1, 1, 1]}}]})",
                "base.json", "", {{key, values[random() % values.size()]}});
        } catch (const InputError&) {
            ++refused;
        } catch (const std::exception& error) {
            FAIL() << key << ": " << error.what();
        }
    }
    EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace tenon
