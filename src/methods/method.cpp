// A method with its parameters, and how it finds what it left in a state.
#include "tenon/method.hpp"

#include <sstream>

#include <fmt/format.h>

#include "methods/opens_start.hpp"
#include "model/expand.hpp"
#include "model/saved_memory.hpp"

namespace tenon {

std::unique_ptr<MethodMemory> Stepper::clone() const {
    std::ostringstream out;
    save(out);
    return std::make_unique<SavedMemory>(out.str());
}

Method::Method(const Scene& scene)
    : info_(&find_method(scene.method, {scene.file, "method.type"})),
      params_(resolve_params(info_->parameters, scene.method_params, {scene.file, "method"})) {
    const std::optional<Scene> full = model::expanded(scene);
    const auto unsupported = info_->supports(full ? *full : scene);
    if (unsupported)
        throw InputError(scene.file.empty() ? scene.name : scene.file, unsupported->path,
                         unsupported->problem, unsupported->cure);
    for (std::size_t i = 0; i < scene.bodies.size() && scene.method != "articulated"; ++i)
        if (scene.bodies[i].geometry < 0)
            throw InputError(scene.file.empty() ? scene.name : scene.file,
                             "bodies[" + std::to_string(i) + "]",
                             "the " + scene.method + " method moves bodies by their geometry",
                             "add a \"shape\", or use --method articulated");
}

Stepper& Method::stepper(const Model& model, State& state) const {
    if (auto* present = dynamic_cast<Stepper*>(state.memory.get())) return *present;
    std::unique_ptr<Stepper> made = info_->make(model, state, params_);
    if (const auto* saved = dynamic_cast<const SavedMemory*>(state.memory.get())) {
        std::istringstream in(saved->bytes());
        made->load(in);
        if (in.peek() != std::istringstream::traits_type::eof())
            throw std::runtime_error("the checkpoint holds more than the method reads");
    }
    if (auto* opens = dynamic_cast<OpensStart*>(made.get())) opens->open(state);
    Stepper& result = *made;
    state.memory.reset(std::move(made));
    return result;
}

StepReport Method::step(const Model& model, State& state, Outputs& outputs, double dt) const {
    if (release_kinematic_bodies(model, state)) state.memory.reset();  // laid out without these bodies
    Stepper& stepper = this->stepper(model, state);
    stepper.last_good_.assign_without_memory(state);
    try {
        StepReport report = stepper.step(model, state, outputs, dt);
        if (!all_finite(state)) throw StepFailure("a coordinate is no longer a finite number");
        state.step = stepper.last_good_.step + 1;
        state.time = static_cast<double>(state.step) * dt;
        return report;
    } catch (...) {
        outputs.contacts.clear();
        state.assign_without_memory(stepper.last_good_);
        state.memory.reset();
        throw;
    }
}

}  // namespace tenon
