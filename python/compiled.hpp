// A scene with its model and method: what `scene.compile()` gives, and what states are made from. Const: threads share it.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tenon/method.hpp"
#include "tenon/model.hpp"
#include "tenon/scene.hpp"

namespace tenon::python {

class Compiled {
  public:
    // Throws InputError, also for what the method cannot express or start from.
    explicit Compiled(Scene scene);

    const Scene& scene() const { return scene_; }
    const Model& model() const { return *model_; }
    std::shared_ptr<const Model> shared_model() const { return model_; }
    const Method& method() const { return method_; }
    double dt() const { return scene_.dt; }

    int body(const std::string& name) const;  // throws InputError with the nearest name
    int joint(const std::string& name) const;
    int elastic(const std::string& name) const;
    int actuator(const std::string& name) const;
    const std::vector<int>& elastic_start() const {
        return elastic_start_;
    }  // first vertex of each, and the end

    // Targets of the actuators at the start.
    const std::vector<double>& start_targets() const { return start_targets_; }

    // Writes the drives of the joints for these targets into a copy of the model; entries that equal those of the start
    // keep the scene's profile. True when the drives are of the same kinds as before. Throws InputError.
    bool set_targets(Model& model, const std::vector<double>& targets) const;

  private:
    Scene scene_;
    Method method_;
    std::shared_ptr<const Model> model_;
    std::unordered_map<std::string, int> bodies_, joints_;
    std::vector<double> start_targets_;
    std::vector<int> elastic_start_;
};

}  // namespace tenon::python
