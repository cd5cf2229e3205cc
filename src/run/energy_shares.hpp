// The shares of a run's energy; energy_books.hpp says what each is.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tenon::run {

struct EnergyShares {
    double change = 0;                             // of kinetic, potential and stored energy
    double forces = 0, motors = 0, scripts = 0;    // into the bodies
    double friction = 0, impact = 0, damping = 0;  // out of them
    double correction = 0, integrator = 0;         // out of them
    double unexplained = 0;                        // into them
    double turnover = 0;                           // sum of the sizes of what was exchanged

    void add(const EnergyShares& other);
};

// The shares by the names of their metrics, "energy.friction" and so on, in the order of a stack.
std::vector<std::pair<std::string, double>> by_name(const EnergyShares& shares);
EnergyShares shares_of(const std::vector<std::pair<std::string, double>>& metrics);
bool is_energy_share(const std::string& metric);

}  // namespace tenon::run
