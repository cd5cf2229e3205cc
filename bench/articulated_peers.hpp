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
    double processor_ms_per_step = 0.0;
    double seconds = 0.0;  // simulated: until it failed, was done, or took too long
    bool sound = true;  // of a chain: no joint opened by 10 cm, the end mass never twice as fast as falling
};

// Links of 10 x 2 x 2 cm and 1000 kg/m^3 from horizontal, with an end mass. A run ends when it is no longer sound, or after
// `most_seconds` of processor time.
std::vector<PeerRun> peer_chains(int links, double end_mass_ratio, double dt, int steps, double most_seconds);

// n x n nodes and their rods of 0.2 m, pinned along one edge: Bullet with point-to-point constraints, and up to
// n = 10 MuJoCo with connect constraints.
std::vector<PeerRun> peer_nets(int n, double dt, int steps, int iterations);

// A chain of ball joints in Bullet's multibody solver: milliseconds per step.
std::vector<PeerRun> peer_multibody_chain(int links, double dt, int steps);

}  // namespace tenon::bench
