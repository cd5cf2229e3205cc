// Run files edited by someone who knows the format: every edit has to be noticed.
#include <cmath>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/sqlite.hpp"
#include "tenon/error.hpp"
#include "verify/made_run.hpp"

namespace tenon::verify {
namespace {

using nlohmann::json;
using run::Database;
using run::Statement;
using test::has_kind;
using test::MadeRun;
using test::scene_from;
using test::set_motion;

constexpr int ball = 1, block = 3, arm = 4;
const Vec3 fall(0, -9.81, 0);

// A ball flies past a wall, a block rests on a table, an arm swings within its limits.
MadeRun honest_run() {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "name": "honest", "gravity": [0, -9.81, 0],
        "bodies": [
          {"name": "wall", "type": "static", "shape": {"type": "box", "size": [0.1, 40, 40]}, "position": [1, 0, 0]},
          {"name": "ball", "shape": {"type": "icosphere", "radius": 0.1, "subdivisions": 1}, "position": [-1, 8, 0]},
          {"name": "table", "type": "static", "shape": {"type": "box", "size": [2, 1, 2]}, "position": [-4, -0.5, 0]},
          {"name": "block", "shape": {"type": "box", "size": [0.4, 0.4, 0.4]}, "position": [-4, 0.2001, 0]},
          {"name": "arm", "shape": {"type": "box", "size": [1, 0.1, 0.1]}, "position": [-7.5, 3, 0]}],
        "joints": [{"name": "pin", "type": "hinge", "bodies": ["world", "arm"], "point": [-8, 3, 0],
                    "axis": [0, 0, 1], "limits": [-1, 1]}]})");
    made.steps = 20;
    made.pose = [](const Model& model, State& state, double t) {
        set_motion(model, state, ball, Vec3(-1 + 2 * t, 8, 0) + 0.5 * t * t * fall, Vec3(2, 0, 0) + t * fall,
                   Vec3::UnitY(), 0, 0);
        const double rate = 3, angle = rate * t;
        const Vec3 along(std::cos(angle), std::sin(angle), 0), across(-std::sin(angle), std::cos(angle), 0);
        set_motion(model, state, arm, Vec3(-8, 3, 0) + 0.5 * along, 0.5 * rate * across, Vec3::UnitZ(), angle,
                   rate);
    };
    made.contacts = [](const Model& model) {
        Contact contact;
        contact.a = 2, contact.b = block;
        contact.point = Vec3(-4, 0, 0), contact.normal = Vec3::UnitY();
        contact.force = -model.bodies.mass[block] * fall, contact.distance = 1e-4;
        return std::vector{contact};
    };
    return made;
}

// The same without joints and limits: nothing here adds energy.
MadeRun free_run() {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "name": "free", "gravity": [0, -9.81, 0], "bodies": [
          {"name": "wall", "type": "static", "shape": {"type": "box", "size": [0.1, 2, 2]}, "position": [0, 8, 0]},
          {"name": "ball", "shape": {"type": "icosphere", "radius": 0.1, "subdivisions": 1}, "position": [-1, 8, 0]}]})");
    made.pose = [](const Model& model, State& state, double t) {
        set_motion(model, state, ball, Vec3(-0.6 + t, 8, 0) + 0.5 * t * t * fall, Vec3(1, 0, 0) + t * fall,
                   Vec3::UnitY(), 0, 0);
    };
    return made;
}

void edit(const std::string& file, const std::string& sql) {
    Database(file, Database::Mode::read_write).execute(sql.c_str());
}

std::string asked(const std::string& file, const std::string& sql) {
    return Database(file, Database::Mode::read_write).pragma(sql.c_str());
}

void set_meta(const std::string& file, const std::string& key, const std::string& value) {
    const Database database(file, Database::Mode::read_write);
    Statement(database, "UPDATE meta SET value=? WHERE key=?").bind(0, value).bind(1, key).run();
}

template <class Change>
void edit_json(const std::string& file, const std::string& key, const Change& change) {
    json value = json::parse(asked(file, "SELECT value FROM meta WHERE key='" + key + "'"));
    change(value);
    set_meta(file, key, value.dump());
}

// Numbers of a blob column of one row.
template <class T, class Change>
void edit_blob(const std::string& file, const std::string& table, const std::string& column,
               const std::string& where, const Change& change) {
    const Database database(file, Database::Mode::read_write);
    std::vector<T> values;
    {
        Statement row(database, ("SELECT " + column + " FROM " + table + " WHERE " + where).c_str());
        ASSERT_TRUE(row.next());
        const std::string_view bytes = row.blob(0);
        values.resize(bytes.size() / sizeof(T));
        std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    }
    change(values);
    Statement write(database, ("UPDATE " + table + " SET " + column + "=? WHERE " + where).c_str());
    write.bind_array(0, values).run();
}

template <class Change>
void edit_frame(const std::string& file, long frame, const char* column, const Change& change) {
    edit_blob<Mat34>(file, "frames", column, "id=" + std::to_string(frame), change);
}

// Whoever edits a frame knows how to hash it.
void mend_hashes(const std::string& file) {
    std::vector<std::pair<long, std::string>> hashes;
    {
        const run::RunReader reader(file);
        for (const run::FrameEntry& entry : reader.frame_list())
            hashes.emplace_back(entry.id, run::state_hash(reader.frame(entry.id)));
    }
    const Database database(file, Database::Mode::read_write);
    for (const auto& [id, hash] : hashes)
        Statement(database, "UPDATE hashes SET state=? WHERE frame=?").bind(0, hash).bind(1, id).run();
}

// And how to make the recorded steps agree with the frames.
void mend_steps(const std::string& file, const Scene& scene) {
    const run::RunReader reader(file);
    const Model model = compile(scene);
    State state = initial_state(model);
    const Database database(file, Database::Mode::read_write);
    for (const run::FrameEntry& entry : reader.frame_list()) {
        const run::Frame frame = reader.frame(entry.id);
        state.q = frame.q;
        state.rate = frame.rate;
        const run::StepRow row = run::measure(model, state, StepReport{}, 0.0);
        Statement update(
            database,
            "UPDATE steps SET kinetic=?, gravity=?, px=?, py=?, pz=?, lx=?, ly=?, lz=? WHERE step=?");
        update.bind(0, row.energy.kinetic).bind(1, row.energy.gravity);
        for (int k = 0; k < 3; ++k)
            update.bind(2 + k, row.linear_momentum[k]).bind(5 + k, row.angular_momentum[k]);
        update.bind(8, entry.step).run();
    }
}

struct Forgery {
    const char* name;
    std::function<void(const std::string&)> edit;
    const char* kind;  // that must be among the findings; "" when the file may be refused as a whole
};

void expect_noticed(MadeRun made, const std::vector<Forgery>& forgeries) {
    const Result honest = made.verify();
    ASSERT_TRUE(honest.proven()) << honest.to_json();
    for (const Forgery& forgery : forgeries) {
        made.tamper = [&](const std::string& file) {
            forgery.edit(file);
            mend_hashes(file);
        };
        try {
            const Result result = made.verify();
            EXPECT_FALSE(result.clean()) << forgery.name;
            EXPECT_TRUE(!*forgery.kind || has_kind(result, forgery.kind)) << forgery.name << result.to_json();
        } catch (const InputError& error) {
            EXPECT_STREQ(forgery.kind, "") << forgery.name << ": " << error.what();
        }
    }
}

TEST(Forgery, TimesFramesAndStepsAreOneStory) {
    expect_noticed(
        honest_run(),
        {{"all times 0", [](const auto& f) { edit(f, "UPDATE frames SET time=0"); }, "frames"},
         {"twice as slow",
          [](const auto& f) { edit(f, "UPDATE frames SET time=2*time; UPDATE steps SET time=2*time"); },
          "frames"},
         {"times swapped",
          [](const auto& f) {
              edit(f, "UPDATE frames SET time=0.07 WHERE id=6; UPDATE frames SET time=0.06 WHERE id=7");
          },
          "frames"},
         {"a frame dropped",
          [](const auto& f) {
              edit(f, "DELETE FROM frames WHERE id=7; DELETE FROM joint_forces WHERE frame=7");
          },
          "frames"},
         {"a frame dropped, the rest renumbered",
          [](const auto& f) {
              edit(f,
                   "DELETE FROM frames WHERE id=7; DELETE FROM contacts WHERE frame=7; DELETE FROM "
                   "joint_forces WHERE frame=7;"
                   "DELETE FROM hashes WHERE frame=7");
              for (int i = 8; i <= 20; ++i)
                  for (const char* column :
                       {"frames.id", "contacts.frame", "joint_forces.frame", "hashes.frame"}) {
                      const std::string table = std::string(column).substr(0, std::string(column).find('.'));
                      const std::string key = std::string(column).substr(table.size() + 1);
                      edit(f, "UPDATE " + table + " SET " + key + "=" + std::to_string(i - 1) + " WHERE " +
                                  key + "=" + std::to_string(i));
                  }
          },
          "frames"},
         {"two frames swapped",
          [](const auto& f) {
              edit(f,
                   "UPDATE frames SET id=-1 WHERE id=5; UPDATE frames SET id=5 WHERE id=9; UPDATE frames SET "
                   "id=9 WHERE id=-1");
          },
          "frames"},
         {"the end cut off",
          [](const auto& f) {
              edit(f,
                   "DELETE FROM frames WHERE id>15; DELETE FROM contacts WHERE frame>15; DELETE FROM "
                   "joint_forces WHERE frame>15;"
                   "DELETE FROM hashes WHERE frame>15; DELETE FROM steps WHERE step>15");
          },
          "status"},
         {"steps deleted", [](const auto& f) { edit(f, "DELETE FROM steps WHERE step BETWEEN 4 AND 8"); },
          "steps"},
         {"a frame shown twice",
          [](const auto& f) { edit(f, "UPDATE frames SET q=(SELECT q FROM frames WHERE id=5) WHERE id=6"); },
          "momentum"},
         {"another recording rate",
          [](const auto& f) { set_meta(f, "record", R"([{"after":0,"every":2}])"); }, "frames"}});
}

TEST(Forgery, StatusAndConvergenceAreNotHidden) {
    expect_noticed(
        honest_run(),
        {{"failed", [](const auto& f) { set_meta(f, "status", "failed"); }, "status"},
         {"no step converged", [](const auto& f) { edit(f, "UPDATE steps SET converged=0"); }, "unconverged"},
         {"one did not", [](const auto& f) { edit(f, "UPDATE steps SET converged=0 WHERE step=3"); },
          "unconverged"},
         {"flags erased, the report not",
          [](const auto& f) { edit_json(f, "report", [](json& r) { r["unconverged_steps"] = 3; }); },
          "status"},
         {"no report", [](const auto& f) { edit(f, "DELETE FROM meta WHERE key='report'"); }, "status"}});
    MadeRun made = honest_run();
    made.tamper = [](const std::string& f) {
        edit(f, "UPDATE steps SET converged=0 WHERE step=3");
        edit_json(f, "report", [](json& r) { r["unconverged_steps"] = 1; });
    };
    Options options;
    options.allow_unconverged = true;
    const Result allowed = made.verify(options);
    EXPECT_TRUE(allowed.clean()) << allowed.to_json();
    EXPECT_EQ(allowed.unconverged_steps, 1);
}

TEST(Forgery, TheSceneIsTheOneThatWasRun) {
    const auto in_scene = [](auto change) {
        return [change](const std::string& f) { edit_json(f, "scene", change); };
    };
    expect_noticed(
        honest_run(),
        {{"another method claimed", [](const auto& f) { set_meta(f, "method", "impulse"); }, "scene"},
         {"another method claimed twice",
          [](const auto& f) {
              set_meta(f, "method", "volume");
              edit_json(f, "scene", [](json& s) { s["method"]["type"] = "volume"; });
          },
          "status"},
         {"another step", [](const auto& f) { set_meta(f, "dt", "0.005"); }, "scene"},
         {"another step everywhere",
          [](const auto& f) {
              set_meta(f, "dt", "0.02");
              edit_json(f, "scene", [](json& s) { s["method"]["dt"] = 0.02; });
          },
          "frames"},
         {"gravity changed in the file", [](const auto& f) { set_meta(f, "gravity", "[0, -1.62, 0]"); },
          "scene"},
         {"gravity changed in the scene", in_scene([](json& s) {
              s["gravity"] = {0, -1.62, 0};
          }),
          "scene"},
         {"gravity changed everywhere",
          [](const auto& f) {
              set_meta(f, "gravity", "[0.0,-1.62,0.0]");
              edit_json(f, "scene", [](json& s) { s["gravity"] = {0, -1.62, 0}; });
              edit(f, "UPDATE steps SET gravity=gravity*1.62/9.81");
          },
          "flight"},
         {"another unit", in_scene([](json& s) { s["units"] = "mm"; }), "scene"},
         {"another length", in_scene([](json& s) { s["seconds"] = 2.0; }), "status"},
         {"another scene",
          [](const auto& f) {
              set_meta(
                  f, "scene",
                  R"({"tenon": 1, "name": "honest", "bodies": [{"name": "ball", "shape": {"type": "sphere"}}]})");
          },
          ""},
         {"tighter limits", in_scene([](json& s) {
              s["joints"][0]["limits"] = {-0.1, 0.1};
          }),
          "limit"},
         {"an anchor moved", in_scene([](json& s) {
              s["joints"][0]["point"] = {-8.2, 3, 0};
          }),
          "joint"},
         {"an axis turned", in_scene([](json& s) {
              s["joints"][0]["axis"] = {0, 1, 0};
          }),
          "joint"}});
}

TEST(Forgery, BodiesAndShapesAreTheScenes) {
    expect_noticed(
        honest_run(),
        {{"hidden by its flag",
          [](const auto& f) { edit(f, "UPDATE bodies SET collides=0 WHERE name='ball'"); }, "scene"},
         {"hidden by a group", [](const auto& f) { edit(f, "UPDATE bodies SET grp='g'"); }, "scene"},
         {"hidden by the list", [](const auto& f) { edit(f, "INSERT INTO ignored VALUES(0, 1)"); }, "scene"},
         {"rescaled",
          [](const auto& f) {
              edit_blob<double>(f, "shapes", "vertices", "id=1", [](auto& v) {
                  for (double& x : v) x *= 0.5;
              });
          },
          "scene"},
         {"triangles taken out",
          [](const auto& f) {
              edit_blob<Triangle>(f, "shapes", "triangles", "id=0", [](auto& t) { t.resize(2); });
          },
          "scene"},
         {"said to be open", [](const auto& f) { edit(f, "UPDATE shapes SET closed=0"); }, "scene"},
         {"renamed", [](const auto& f) { edit(f, "UPDATE bodies SET name='bullet' WHERE name='ball'"); },
          "scene"},
         {"a shape exchanged", [](const auto& f) { edit(f, "UPDATE bodies SET shape=1 WHERE name='block'"); },
          "scene"},
         {"lighter", [](const auto& f) { edit(f, "UPDATE bodies SET mass=0.1*mass WHERE name='ball'"); },
          "scene"},
         {"turns otherwise",
          [](const auto& f) { edit(f, "UPDATE bodies SET second_x=2*second_x WHERE name='arm'"); }, "scene"},
         {"made static", [](const auto& f) { edit(f, "UPDATE bodies SET type='static' WHERE name='block'"); },
          "scene"},
         {"a joint given to others", [](const auto& f) { edit(f, "UPDATE joints SET body_b=1"); }, "scene"},
         {"a joint made weaker", [](const auto& f) { edit(f, "UPDATE joints SET type='ball'"); }, "scene"},
         {"a joint elsewhere",
          [](const auto& f) {
              edit_blob<double>(f, "joints", "point_b", "id=0", [](auto& p) { p[0] += 0.1; });
          },
          "scene"},
         {"a joint's axis turned",
          [](const auto& f) {
              edit_blob<double>(f, "joints", "frame_a", "id=0", [](auto& m) { std::swap(m[0], m[2]); });
          },
          "scene"},
         {"a joint longer at rest", [](const auto& f) { edit(f, "UPDATE joints SET rest_length=1"); },
          "scene"},
         {"a shape renamed", [](const auto& f) { edit(f, "UPDATE shapes SET name='cube'"); }, "scene"},
         {"what drives a joint cut short",
          [](const auto& f) { edit(f, "UPDATE joint_drives SET motor=x'00' WHERE frame=4"); }, ""},
         {"what drives a joint not finite",
          [](const auto& f) {
              edit_blob<double>(f, "joint_drives", "rate", "frame=4", [](auto& r) { r[0] = NAN; });
          },
          ""}});
}

// Pictures and exports show the fine surface, so it is part of what was run.
TEST(Forgery, ElasticBodiesLookAsTheyAre) {
    MadeRun made;
    made.scene = scene_from(R"({"tenon": 1, "method": "volume", "gravity": [0, 0, 0], "elastic": [
        {"name": "a", "shape": {"type": "icosphere", "radius": 0.5, "subdivisions": 3}, "cell_size": 0.5},
        {"name": "b", "shape": {"type": "box"}, "cell_size": 1, "position": [3, 0, 0]}]})");
    made.steps = 4;
    made.pose = [](const Model&, State&, double) {};
    expect_noticed(
        made,
        {{"drawn larger",
          [](const auto& f) {
              edit_blob<double>(f, "elastic", "embedded_vertices", "id=0", [](auto& v) {
                  for (double& x : v) x *= 2;
              });
          },
          "scene"},
         {"drawn with a hole",
          [](const auto& f) {
              edit_blob<Triangle>(f, "elastic", "embedded_triangles", "id=0", [](auto& t) { t.pop_back(); });
          },
          "scene"},
         {"hung on another element",
          [](const auto& f) {
              edit_blob<int>(f, "elastic", "embedded_tet", "id=0", [](auto& t) { t[0] = t[0] ? 0 : 1; });
          },
          "scene"},
         {"hung by other weights",
          [](const auto& f) {
              edit_blob<double>(f, "elastic", "embedded_weight", "id=0", [](auto& w) { w[0] += 0.1; });
          },
          "scene"},
         {"a state of no element",
          [](const auto& f) { edit(f, "UPDATE elastic_frames SET element_state=x'' WHERE frame=2"); }, ""}});
    made.tamper = [](const std::string& f) {
        edit(f, "UPDATE elastic_frames SET elastic=elastic+7 WHERE frame=2");
    };
    EXPECT_THROW(made.verify(), InputError);
}

TEST(Forgery, PosesVelocitiesAndContactsAreWhatTheyWere) {
    const MadeRun made = honest_run();
    const Scene scene = made.as_it_starts();
    const auto tripled = [](const std::string& f) {
        for (long i = 0; i <= 20; ++i)
            edit_frame(f, i, "rate", [](auto& rate) {
                for (Mat34& r : rate) r *= 3;
            });
    };
    expect_noticed(
        made,
        {{"velocities tripled", tripled, "momentum"},
         {"velocities tripled, steps mended",
          [&](const auto& f) {
              tripled(f);
              mend_steps(f, scene);
          },
          "velocity"},
         {"contacts deleted", [](const auto& f) { edit(f, "DELETE FROM contacts"); }, "contacts"},
         {"one frame's contacts deleted",
          [](const auto& f) { edit(f, "DELETE FROM contacts WHERE frame=11"); }, "contacts"},
         {"the start moved",
          [&](const auto& f) {
              edit_frame(f, 0, "q", [](auto& q) { q[ball](2, 3) += 0.01; });
              mend_steps(f, scene);
          },
          "scene"},
         {"the start faster",
          [&](const auto& f) {
              edit_frame(f, 0, "rate", [](auto& q) { q[ball](2, 3) += 0.01; });
              mend_steps(f, scene);
          },
          "scene"},
         {"the wall set aside",
          [](const auto& f) {
              for (long i = 0; i <= 20; ++i) edit_frame(f, i, "q", [](auto& q) { q[0](0, 3) += 5; });
          },
          "moved"},
         {"stretched",
          [&](const auto& f) {
              edit_frame(f, 9, "q", [](auto& q) { q[ball].template leftCols<3>() *= 1.01; });
              mend_steps(f, scene);
          },
          "deformed"},
         {"inside out", [](const auto& f) { edit_frame(f, 9, "q", [](auto& q) { q[ball].col(0) *= -1; }); },
          "inverted"},
         {"pushed aside in flight",
          [&](const auto& f) {
              edit_frame(f, 9, "rate", [](auto& r) { r[ball](2, 3) += 0.1; });
              mend_steps(f, scene);
          },
          "flight"},
         {"lifted off its joint",
          [&](const auto& f) {
              edit_frame(f, 9, "q", [](auto& q) { q[arm](2, 3) += 1e-5; });
              mend_steps(f, scene);
          },
          "joint"},
         {"sunk into the table",
          [&](const auto& f) {
              edit_frame(f, 9, "q", [](auto& q) { q[block](1, 3) -= 2e-4; });
              mend_steps(f, scene);
          },
          "surface"}});
}

// Through the wall, and back in the next frame; with or without velocities that would take it round.
TEST(Forgery, NoBodyGoesThroughAWall) {
    const MadeRun made = free_run();
    const Scene scene = made.as_it_starts();
    const auto through = [](const std::string& f) {
        edit_frame(f, 10, "q", [](auto& q) { q[ball](0, 3) += 1.0; });
    };
    expect_noticed(made, {{"between two frames",
                           [&](const auto& f) {
                               through(f);
                               mend_steps(f, scene);
                           },
                           ""},
                          {"with a huge velocity",
                           [&](const auto& f) {
                               through(f);
                               edit_frame(f, 10, "rate", [](auto& r) { r[ball](0, 3) = 500; });
                               mend_steps(f, scene);
                           },
                           "energy"}});
}

TEST(Forgery, AHashThatDoesNotFitIsNoticed) {
    MadeRun made = honest_run();
    made.tamper = [](const std::string& f) {
        edit(f, "UPDATE hashes SET state='0123456789abcdef' WHERE frame=3");
    };
    EXPECT_TRUE(has_kind(made.verify(), "hash"));
}

// One hash taken out hides the frame behind it; without any, nothing is known of the frames, so nothing is proven.
TEST(Forgery, HashesTakenOutAreMissed) {
    MadeRun made = honest_run();
    made.tamper = [](const std::string& f) { edit(f, "DELETE FROM hashes WHERE frame=3"); };
    EXPECT_TRUE(has_kind(made.verify(), "hash"));
    for (const char* all : {"DELETE FROM hashes", "DROP TABLE hashes", "UPDATE hashes SET state=''"}) {
        made.tamper = [&](const std::string& f) { edit(f, all); };
        const Result result = made.verify();
        EXPECT_TRUE(result.clean()) << result.to_json();
        EXPECT_FALSE(result.proven()) << all;
        EXPECT_FALSE(result.warnings.empty()) << all;
    }
}

TEST(Forgery, TheFilesOwnWordsAreReadable) {
    expect_noticed(
        honest_run(),
        {{"another direction is up", [](const auto& f) { set_meta(f, "up", "z"); }, "scene"},
         {"up is nowhere", [](const auto& f) { edit(f, "DELETE FROM meta WHERE key='up'"); }, "scene"},
         {"a recording rule that is none", [](const auto& f) { set_meta(f, "record", "[]"); }, "frames"},
         {"a scene without bodies", [](const auto& f) { set_meta(f, "scene", "{}"); }, "scene"},
         {"a scene of a method that is none",
          [](const auto& f) { edit_json(f, "scene", [](json& s) { s["method"] = "magic"; }); }, "scene"},
         {"a start that is no step",
          [](const auto& f) { edit(f, "INSERT INTO meta VALUES('first_step', 'x')"); }, "frames"}});
}

// What pushed is not in the scene: nobody can judge the flight, so nobody calls it proven.
TEST(Forgery, APushedRunIsNeverProven) {
    MadeRun made = free_run();
    made.tamper = [](const std::string& f) { edit(f, "INSERT INTO meta VALUES('pushed', 'yes')"); };
    const Result result = made.verify();
    EXPECT_TRUE(result.clean()) << result.to_json();
    EXPECT_TRUE(result.pushed);
    EXPECT_FALSE(result.proven());
}

// Frames alone never prove that there was none: the words are unproven, the proof is not claimed.
TEST(Forgery, NothingIsProvenWithoutLookingAtMotion) {
    Options options;
    options.motion = false;
    const Result result = honest_run().verify(options);
    EXPECT_TRUE(result.clean()) << result.to_json();
    EXPECT_FALSE(result.proven());
    EXPECT_FALSE(json::parse(result.to_json())["proven"].get<bool>());
}

}  // namespace
}  // namespace tenon::verify
