// Where a run's energy comes from and where it goes, step by step: each share by a formula of its own.
//
// With v the mean of the velocities before and after a step, P an impulse of the step, (dx, dtheta) a body's displacement
// and F, T the force and torque on it (about its centre of mass) that the method has recorded:
//   forces       F . dx + T . dtheta of applied forces, pushes and wind
//   motors       force along a joint's coordinate times its change (drive_work.hpp)
//   scripts      what contacts and joints do on bodies that a script moves, and on scenery, with the sign turned
//   friction     -P_t . v of contacts (Thomson and Tait), and dry friction of joints
//   impact       -P_n . v of contacts, and of joint limits
//   damping      dampers of joints; mass-proportional damping of elastic bodies
//   correction   potential energy given by displacements that are no velocity's, where the method tells them
//   integrator   what the scheme's momentum change does over the displacement, minus the change of kinetic energy; the
//                same of contacts is theirs; forces of joints over finite displacements; springs' forces over theirs
//   unexplained  change of the energy minus all of these: momentum that no recorded force accounts for
#pragma once

#include <cstdint>
#include <iosfwd>
#include <vector>

#include "run/drive_work.hpp"
#include "run/energy_shares.hpp"
#include "tenon/method.hpp"

namespace tenon::run {

class EnergyBooks {
  public:
    EnergyBooks(const Scene& scene, const Model& model, const State& state);

    // Scenes of more bodies keep no books: they would cost as much memory as the state.
    static constexpr int most_bodies = 100000;
    bool kept() const { return kept_; }

    void before_step(const Model& model, const State& state, double dt);
    EnergyShares after_step(const Model& model, const State& state, const Outputs& outputs,
                            const StepReport& report, double dt);

    // What a resumed run needs to go on as if it had not been interrupted.
    void save(std::ostream& out) const;
    void load(const State& state, std::istream& in);

  private:
    enum class Scheme { euler, bdf2, midpoint };
    // What is known of a body after a step.
    struct Past {
        Mat34 q = Mat34::Zero(), rate = Mat34::Zero(), rate_before = Mat34::Zero();
        Vec3 x_before = Vec3::Zero();
        Vec6 joints = Vec6::Zero(), outside = Vec6::Zero();  // wrenches about the centre of mass
        Vec6 momentum_rate = Vec6::Zero();                   // that the scheme gave it
        std::int64_t contacts = 0, history = 0, known = 0;   // no padding: it is saved byte for byte
    };
    struct Load {
        Vec6 joints = Vec6::Zero(), contacts = Vec6::Zero();
        char touched = 0;
    };

    Scheme scheme_of(const Past& past, const State& state, int body, double dt) const;
    void add_contacts(const Model& model, const State& state, const Outputs& outputs, double dt,
                      EnergyShares& shares);
    void add_joint_loads(const Model& model, const State& state, const Outputs& outputs);
    double add_body(const Model& model, const State& state, int body, double dt, EnergyShares& shares);
    void add_elastic(const Model& model, const State& state, const Outputs& outputs, const StepReport& report,
                     double dt, EnergyShares& shares);
    void close(const Model& model, const StepReport& report, EnergyShares& shares);
    Vec3 velocity_at(const Model& model, const State& state, int body, const Vec3& point, double dt,
                     bool before) const;
    Vec3 place_of(int body, const State& state) const;

    bool kept_ = true;
    Scheme usual_ = Scheme::euler;
    bool angular_rule_ = false;       // the method turns bodies by their angular momentum
    bool loads_at_end_ = true;        // the method takes applied forces at the step's end
    bool contacts_at_start_ = false;  // the method finds its contacts at the step's start
    bool levers_at_end_ = false;      // it takes their levers where bodies will be then
    bool told_at_end_ = false;        // of a step that it cuts up the method tells the last part's forces
    bool motors_ = false;
    bool impacts_ = false;  // in the last step, by a law of its own
    std::vector<Past> past_;
    std::vector<Load> load_;
    std::vector<Vec6> displacement_;
    std::vector<Wrench> outside_;
    std::vector<ElasticState> elastic_;
    double elastic_energy_ = 0;
    bool elastic_known_ = false;
    DriveBooks drives_;
    Vec3 gravity_ = Vec3::Zero();
    std::vector<BodyType> type_;
};

}  // namespace tenon::run
