// The impacts of a step: which bodies that touch at its end have met in it, and how they leave.
#pragma once

#include <utility>
#include <vector>

#include "methods/affine/integrator.hpp"
#include "methods/affine/settings.hpp"
#include "tenon/method.hpp"

namespace tenon::affine {

// Where two bodies touch at the end of a step.
struct MetPoint {
    int a = -1, b = -1;   // bodies; points of a pair follow each other
    Vec3 point, normal;   // normal: unit, from b to a
    double closed = 0.0;  // m, by which the gap has closed in the step
    Vec3 impulse =
        Vec3::Zero();  // N s on a; what the step's contact forces do is replaced by it where `replaced`
    bool replaced = false, bounced = false;
};

struct ImpactStep {
    const Model& model;
    const State& state;                     // types, poses at the end of the step
    const std::vector<Mat34>&start, &rate;  // when it began
    const std::vector<Wrench>& loads;       // applied to bodies, beside gravity
    double restitution = -1.0;              // of all pairs; negative: what their materials say
    double h = 0.0;                         // s
    bool plastic = false;  // pairs without restitution count, too: the integrator would throw them back
    double slowest =
        0.0;  // m/s: impacts slower than this do not bounce, nor those slower than two steps of free fall
};

struct ImpactResult {
    int impacts = 0;
    std::vector<std::pair<int, Mat34>> rates;  // bodies whose velocity is no longer the step's
};

ImpactResult find_impacts(const ImpactStep& step, std::vector<MetPoint>& points);

// Whether any pair that may touch bounces at all.
bool something_bounces(const Model& model, double restitution);

// Whether impacts follow Newton's law: where something bounces, and with BDF2, whose barrier gives
// back what it took from a body that lands.
bool impacts_follow_law(const Model& model, const Settings& settings);

}  // namespace tenon::affine
