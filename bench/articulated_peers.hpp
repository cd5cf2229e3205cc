// The heavy chain and the joint net in Bullet and MuJoCo, where they are installed.
#pragma once

#include <string>
#include <vector>

namespace tenon::bench {

struct PeerRun {
    std::string engine, setting;
    double ms_per_step = 0.0;
    double gap = 0.0;  // largest distance between the two sides of a joint, m
    bool finite = true;
    double processor_ms_per_step = 0.0;  // of the multibody chain
};

// Links of 10 x 2 x 2 cm and 1000 kg/m^3 from horizontal, with an end mass.
std::vector<PeerRun> peer_chains(int links, double end_mass_ratio, double dt, int steps);

// n x n nodes and their rods of 0.2 m, pinned along one edge: Bullet with point-to-point constraints, and up to
// n = 10 MuJoCo with connect constraints.
std::vector<PeerRun> peer_nets(int n, double dt, int steps, int iterations);

// A chain of ball joints in Bullet's multibody solver: milliseconds per step.
std::vector<PeerRun> peer_multibody_chain(int links, double dt, int steps);

}  // namespace tenon::bench
