// Stress and stiffness of four elements at a time: the innermost loop of every elastic step.
#pragma once

#include "model/elastic_model.hpp"

namespace tenon {

// Four elements side by side; the last index of every array is the element. Matrices are stored by columns.
struct alignas(32) ElementBatch {
    static constexpr int lanes = 4;

    double f[9][lanes];     // deformation gradients
    double rate[9][lanes];  // dF/dt: stiffness times this is part of the load
    double gradient[9]
                   [lanes];  // rest gradients of the weights of corners 1 to 3; corner 0 has minus their sum
    double mu[lanes], lambda[lanes];
    double push[lanes];        // scale of the forces, volume included
    double stiffening[lanes];  // scale of the stiffness K, volume included
    double damping[lanes];     // scale of the damping D: K without what resists rotation

    double step[lanes];  // h, for the turning of damped elements

    // push * force - (stiffening * K + damping * D) * velocity, by corner
    double load[12][lanes];
    // stiffening * K + damping * D: diagonal blocks of corners 0 to 3, then pairs 01 02 03 12 13 23 (row is the first)
    double block[10][9][lanes];
};

struct ElementKernel {
    // `flat`: plane strain, corners stay in their plane. `project`: made positive semidefinite. Without `blocks` only the
    // load is wanted.
    void (*respond)(ElasticModel model, bool flat, bool project, bool blocks, ElementBatch& batch);
};
extern const ElementKernel portable_element_kernel, avx2_element_kernel;

const ElementKernel& element_kernel();  // the fastest this processor has; both give the same bits

}  // namespace tenon
