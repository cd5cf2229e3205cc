// How far contacts reach and how hard they push: the numbers behind it.
#pragma once

namespace tenon::affine {

constexpr double unusually_close = 1e-3;    // of the contact range: a gap that says the barrier is too soft
constexpr double stiffening_factor = 10.0;  // of its strength then
constexpr double most_stiffening = 1e9;     // beyond it a contact is as stiff as arithmetic allows
constexpr double relaxed = 0.1;             // of the contact range: a gap that says it may be softer again
constexpr double smallest_gap_part = 1e-6;  // of a body's size: starts closer than this are opened first
constexpr double bounce_range = 0.005;      // of the thinnest body: the range where bodies bounce at its edge
constexpr double certain_gap = 4e-13;       // of the coordinates: gaps that arithmetic tells from none

}  // namespace tenon::affine
