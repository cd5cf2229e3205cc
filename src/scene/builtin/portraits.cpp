#include "scene/builtin/portraits.hpp"

#include <map>

namespace tenon {

double portrait_share(const std::string& scene) {
    static const std::map<std::string, double> shares = {
        {"arm-pick-place", 0.6},  {"basin", 0.85},
        {"bike-chain", 0.6},      {"blob", 0.45},
        {"bouncing-ball", 0.35},  {"cantilever", 0.3},
        {"card-house", 0.75},     {"chain-net", 0.8},
        {"chess", 0.9},           {"cloak", 0.6},
        {"cubes", 1.0},           {"cut", 0.6},
        {"detailed-pair", 0.8},   {"falling-joints", 0.9},
        {"forest", 0.6},          {"grasp", 0.8},
        {"incline", 0.35},        {"heavy-chain", 0.3},
        {"joint-net", 0.9},       {"mattress", 0.6},
        {"newtons-cradle", 0.05}, {"octopus", 0.9},
        {"octopus-soft", 0.6},    {"octopuses", 0.9},
        {"organs", 0.45},         {"overlapping-pile", 1.0},
        {"pachinko", 0.8},        {"physical-pendulum", 0.1},
        {"pulley", 0.7},          {"ragdolls", 0.9},
        {"snake", 0.9},           {"soft-toys", 0.9},
        {"spiky-pile", 0.8},      {"stack", 0.7},
        {"tori-stack", 1.0},      {"truck", 0.7},
        {"wheel", 0.9},           {"wrecking-ball", 0.5},
    };
    const auto found = shares.find(scene);
    return found == shares.end() ? 0.5 : found->second;
}

}  // namespace tenon
