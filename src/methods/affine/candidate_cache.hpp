// Which motions the candidates cover, how long a set of them serves, and whose are found anew.
//
// Candidates are made for the predicted motion of each body plus a margin. One set serves all Newton iterations of a step,
// and further steps while bodies stay within their margin; bodies out of margin are searched again by themselves.
#pragma once

#include <iosfwd>
#include <vector>

#include "methods/affine/bodies.hpp"
#include "methods/affine/contact_field.hpp"

namespace tenon::affine {

// A step as predicted: what candidates are made for.
struct PredictedStep {
    const Model& model;
    const StepBodies& bodies;
    const std::vector<Mat34>& q;     // current iterate
    const std::vector<Mat34>& free;  // where bodies would go without contact
    const std::vector<BodyHistory>& history;
    const ContactScale& scale;
    const ContactLoads& loads;
    double h;
};

// What the islands of a step found out of margin.
struct MarginUse {
    const std::vector<char>& finished;  // bodies whose island has converged
    const std::vector<char>& outside;   // bodies out of margin
    const std::vector<Mat34>& heading;  // where they were going
    double largest_motion;              // m, of any body in this step
};

class CandidateCache {
  public:
    explicit CandidateCache(ContactField& field) : field_(field) {}

    void start_step(const PredictedStep& step);
    // Within a step: candidates from where bodies are to where they were heading, with more margin.
    void renew(const PredictedStep& step, const MarginUse& use, int round);
    void end_step(const PredictedStep& step, int rounds);
    void expire() { age_ = -1; }  // nothing is kept for the next step

    const std::vector<Motion>& motions() const { return motions_; }
    int take_builds();  // since the last call

    void save(std::ostream& out) const;
    void load(std::istream& in, std::size_t bodies);

  private:
    int steps_ahead(const PredictedStep& step) const;
    Motion motion_ahead(const PredictedStep& step, std::size_t i, int steps) const;
    void find_bodies_out_of_margin(const PredictedStep& step);
    void find_bodies_out_of_margin(const PredictedStep& step, const MarginUse& use);
    void mark_crowded(std::size_t count);
    void rebuild(const PredictedStep& step, bool some);

    ContactField& field_;
    std::vector<Motion> motions_;  // what the candidates cover
    int planned_ = 1;              // how many steps they were made for
    int can_last_ = 0;             // how many the last ones would have served
    int age_ = -1;                 // steps since they were found; -1: none to keep
    std::vector<char> outside_;    // bodies that they do not cover any more
    int outside_count_ = 0;
    std::vector<char> crowded_;        // bodies with many candidates
    std::vector<double> step_margin_;  // of bodies that were out of margin in this step
    bool must_find_again_ = false;     // after a checkpoint, which has their motions only
    int builds_ = 0;
};

}  // namespace tenon::affine
