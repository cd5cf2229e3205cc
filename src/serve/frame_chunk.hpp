// Pieces of a run as bytes for the page; docs/view.md gives their layout.
#pragma once

#include <string>
#include <vector>

#include "serve/run_store.hpp"

namespace tenon::serve {

constexpr int max_chunk_frames = 64;
constexpr long pose_bytes = 32, vertex_bytes = 12;  // of a moving body and a drawn vertex, per frame
constexpr long max_listed_contacts = 20000;         // of a frame: those with the largest forces

// Affine maps whose A^T A differs from I by more than this are sent as matrices, others as rotations.
constexpr double visible_deformation = 5e-4;

// Poses, velocities and elastic vertices of the given frames. Throws InputError.
std::string pack_frames(const OpenRun& run, const std::vector<long>& frames);

// Contacts and joint forces of the given frames.
std::string pack_contacts(const OpenRun& run, const std::vector<long>& frames);

// One number per drawn triangle of the elastic bodies: `strain` (norm of Green's strain), `strain_rate` (norm of the
// rate of deformation, 1/s), `component` (0 elastic, k + 1 the k-th rigid component).
std::string pack_field(const OpenRun& run, const std::vector<long>& frames, const std::string& name);

}  // namespace tenon::serve
