// Where the vertices of a tetrahedral mesh go: on corners, along sharp edges, over patches, and inside.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "geometry/tet_features.hpp"

namespace tenon::geometry {

struct Site {
    enum class Kind : std::uint8_t { corner, curve, patch, inside };
    Vec3 x = Vec3::Zero();
    Kind kind = Kind::inside;
    int owner = -1;      // corner, curve or patch
    double along = 0.0;  // place on the curve
    double size = 0.0;   // edge length wanted here
    bool on_surface() const { return kind != Kind::inside; }
};

struct SurfaceSample {
    Vec3 x;
    int triangle;
};
// About `per_area` points a unit of area, spread evenly.
std::vector<SurfaceSample> scatter(const FeatureSurface& surface, double per_area);

// The edge length wanted at a point: the cell, less where the solid is thin, strongly curved or its features are close.
class SizeField {
  public:
    SizeField(const FeatureSurface& surface, double cell);
    double at(const Vec3& p) const;
    double cell() const { return cell_; }
    double least() const { return least_; }

  private:
    void lower(const Vec3& p, double size);
    void spread();
    std::size_t node(const std::array<int, 3>& at) const {
        return (static_cast<std::size_t>(at[2]) * count_[1] + at[1]) * count_[0] + at[0];
    }

    double cell_, least_, step_;
    Vec3 origin_;
    std::array<int, 3> count_;
    std::vector<float> value_;
};

struct SiteSet {
    std::vector<Site> sites;
    std::vector<std::array<int, 2>> segments;  // neighbours along curves, by number
    std::vector<int> segment_curve;
};

SiteSet place_sites(const FeatureSurface& surface, const SizeField& size);

// A point on one of the curves between two neighbours on it.
Site between(const FeatureSurface& surface, const Site& a, const Site& b, int curve, const SizeField& size);

}  // namespace tenon::geometry
