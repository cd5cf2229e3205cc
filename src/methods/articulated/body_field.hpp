// The arrays over bodies that a step works on, indexed like the world's bodies, and what is done body by body.
#pragma once

#include <vector>

#include <Eigen/Cholesky>

#include "methods/articulated/corotated.hpp"
#include "tenon/state.hpp"

namespace tenon::articulated {

// A body with contact terms: its matrix is dense, factored for the iteration.
struct DenseBody {
    Mat12 matrix;
    Eigen::LLT<Mat12> factor;
    Mat34 force = Mat34::Zero();  // of the contacts, added to the body's own
    double energy = 0.0;
};

struct BodyField {
    // per body
    std::vector<Mat34> x;       // the iterate; static and scripted bodies hold their pose at the step's end
    std::vector<Mat34> target;  // q~: where inertia and given forces alone would take the body
    std::vector<Mat34> dq;
    std::vector<Mat3> rotation;
    std::vector<Mat3> stress;     // V P
    std::vector<double> elastic;  // energy of the strain
    std::vector<int> kind;
    std::vector<char> moving;  // dynamic
    std::vector<char> euler;   // this step by implicit Euler, whatever the integrator
    std::vector<int> dense;    // index into dense_bodies, or -1

    std::vector<BodyKind> kinds;
    std::vector<KindMatrix> matrices[2];  // per kind: for the integrator's eta, and for implicit Euler's
    std::vector<DenseBody> dense_bodies;
    bool polar_free = false;  // the paper's normalisation instead of the polar decomposition

    const KindMatrix& matrix(int body) const { return matrices[static_cast<int>(euler[body])][kind[body]]; }
    double eta(int body) const { return etas[static_cast<int>(euler[body])]; }
    double etas[2] = {0.0, 0.0};

    Mat34 force(int body) const {
        Mat34 f = body_force(matrix(body), x[body], target[body], rotation[body], stress[body]);
        if (dense[body] >= 0) f += dense_bodies[dense[body]].force;
        return f;
    }
    BodyInverse inverse(int body) const {
        return make_body_inverse(matrix(body), geometric_stiffness(stress[body]));
    }
    // H^-1 force, where `inverse` is inverse(body).
    Mat34 apply_inverse(int body, const BodyInverse& inverse, const Mat34& force) const {
        if (dense[body] < 0) return apply(inverse, rotation[body], force);
        Mat34 out;
        Eigen::Map<Vec12>(out.data()) =
            dense_bodies[dense[body]].factor.solve(Eigen::Map<const Vec12>(force.data()));
        return out;
    }
};

// J(x) H^-1 J(y)^T of such a body, in the world frame.
Mat3 dense_compliance(const DenseBody& dense, const Vec3& x, const Vec3& y);

// What a pass over bodies found.
struct FieldReport {
    double energy = 0.0;  // incremental potential without contacts and springs
    double strain = 0.0;  // largest entry of |S - I|
    double excess = 0.0;  // the largest of it that comes from turning along a straight line
    int fallbacks = 0;    // polar decompositions by singular values
};

// Rotation and stress of the iterate; returns its potential and strain. `frames`: the rotations of the pose, by place in
// `bodies`, from which a whole increment was added; all strain counts as excess without.
FieldReport refresh(BodyField& field, const std::vector<int>& bodies,
                    const std::vector<Mat3>* frames = nullptr);

// Takes the excess out of the iterate: each body keeps its rotation and the part of its stretch that is symmetric in the
// frame from which it was moved. Joints open by as much; the next solve closes them.
void straighten(BodyField& field, const std::vector<int>& bodies, const std::vector<Mat3>& frames);

// Takes the excess out of the stress alone, so that the next step does not start from it: the geometric stiffness that goes
// with it would resist the turning of stiff, light bodies.
void forget_excess(BodyField& field, const std::vector<int>& bodies, const std::vector<Mat3>& frames);

// Potential of the iterate while rotation and stress are still those of the iterate.
double known_energy(const BodyField& field, const std::vector<int>& bodies);

// Turns each body, with the strain of its stress, to where inertia would take it: a solve from there only has to find what forces
// change. From the last pose it would also have to find the whole turn, which the geometric stiffness resists.
void predict(BodyField& field, const std::vector<int>& bodies);

}  // namespace tenon::articulated
