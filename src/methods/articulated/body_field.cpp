#include "methods/articulated/body_field.hpp"

#include <algorithm>

#include "math/parallel.hpp"

namespace tenon::articulated {

Mat3 dense_compliance(const DenseBody& dense, const Vec3& x, const Vec3& y) {
    Mat3 S;
    for (int c = 0; c < 3; ++c) {
        Mat34 load;
        load.leftCols<3>() = Vec3::Unit(c) * y.transpose();
        load.col(3) = Vec3::Unit(c);
        Mat34 moved;
        Eigen::Map<Vec12>(moved.data()) = dense.factor.solve(Eigen::Map<const Vec12>(load.data()));
        S.col(c) = transform(moved, x);
    }
    return S;
}

namespace {

// What is symmetric in the frame of R of a map A.
Mat3 symmetric_part(const Mat3& R, const Mat3& A) {
    const Mat3 M = product_left_transposed(R, A);
    return 0.5 * (M + M.transpose());
}

}  // namespace

FieldReport refresh(BodyField& field, const std::vector<int>& bodies, const std::vector<Mat3>* frames) {
    constexpr std::size_t grain = 4096;
    const std::size_t chunks = (bodies.size() + grain - 1) / grain;
    std::vector<FieldReport> partial(chunks);
    parallel_for(chunks, 1, [&](std::size_t chunk) {
        FieldReport report;
        const std::size_t end = std::min(bodies.size(), (chunk + 1) * grain);
        for (std::size_t i = chunk * grain; i < end; ++i) {
            const int body = bodies[i];
            const KindMatrix& kind = field.matrix(body);
            Mat3 stretch;
            if (field.polar_free) {
                const Mat3 A = field.x[body].leftCols<3>();
                field.rotation[body] = normalised_columns(A);
                const Mat3 S = field.rotation[body].transpose() * A;
                stretch = 0.5 * (S + S.transpose());
            } else {
                const Polar polar = safe_polar(linear_part(field.x[body]));
                field.rotation[body] = polar.rotation;
                stretch = polar.stretch;
                report.fallbacks += polar.fallback;
            }
            field.stress[body] = volume_stress(kind, stretch);
            field.elastic[body] = elastic_energy(kind, stretch);
            report.energy += field.elastic[body] + inertial_energy(kind, field.x[body], field.target[body]);
            const double strain = (stretch - Mat3::Identity()).cwiseAbs().maxCoeff();
            report.strain = std::max(report.strain, strain);
            // most bodies strain too little to be asked where it comes from
            if (strain > report.excess)
                report.excess =
                    frames ? std::max(report.excess,
                                      (stretch - symmetric_part((*frames)[i], linear_part(field.x[body])))
                                          .cwiseAbs()
                                          .maxCoeff())
                           : strain;
        }
        partial[chunk] = report;
    });
    FieldReport total;
    for (const FieldReport& report : partial) {
        total.energy += report.energy;
        total.strain = std::max(total.strain, report.strain);
        total.excess = std::max(total.excess, report.excess);
        total.fallbacks += report.fallbacks;
    }
    return total;
}

void straighten(BodyField& field, const std::vector<int>& bodies, const std::vector<Mat3>& frames) {
    parallel_for(bodies.size(), 4096, [&](std::size_t i) {
        const int body = bodies[i];
        const Mat3 stretch = symmetric_part(frames[i], linear_part(field.x[body]));
        set_linear_part(field.x[body], product(field.rotation[body], stretch));
        field.stress[body] = volume_stress(field.matrix(body), stretch);
    });
}

void forget_excess(BodyField& field, const std::vector<int>& bodies, const std::vector<Mat3>& frames) {
    parallel_for(bodies.size(), 4096, [&](std::size_t i) {
        const int body = bodies[i];
        field.stress[body] =
            volume_stress(field.matrix(body), symmetric_part(frames[i], linear_part(field.x[body])));
    });
}

double known_energy(const BodyField& field, const std::vector<int>& bodies) {
    return parallel_sum(bodies.size(), 4096, 0.0, [&](std::size_t i) {
        const int body = bodies[i];
        return field.elastic[body] + inertial_energy(field.matrix(body), field.x[body], field.target[body]);
    });
}

void predict(BodyField& field, const std::vector<int>& bodies) {
    parallel_for(bodies.size(), 4096, [&](std::size_t i) {
        const int body = bodies[i];
        const Mat3 A = linear_part(field.target[body]);
        const Mat3 R = field.polar_free ? normalised_columns(A) : safe_polar(A).rotation;
        const Mat3 stretch = field.polar_free
                                 ? product_left_transposed(field.rotation[body], linear_part(field.x[body]))
                                 : stretch_of_stress(field.matrix(body), field.stress[body]);
        set_linear_part(field.x[body], product(R, stretch));
        field.x[body].col(3) = field.target[body].col(3);
        field.rotation[body] = R;
    });
}

}  // namespace tenon::articulated
