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

// A sensor's numbers within the row of all of them.
struct SensorPlace {
    std::string name;
    std::vector<std::string> components;  // a single "" for one that measures one number
    int first = 0;
};

class Compiled {
  public:
    // Throws InputError, also for what the method cannot express or start from.
    explicit Compiled(Scene scene);

    const Scene& scene() const { return scene_; }
    const Model& model() const { return *model_; }
    const Method& method() const { return method_; }
    double dt() const { return scene_.dt; }

    int body(const std::string& name) const;  // throws InputError with the nearest name
    int joint(const std::string& name) const;
    int elastic(const std::string& name) const;
    int actuator(const std::string& name) const;
    int sensor(const std::string& name) const;

    // First vertex of each elastic body, and the end.
    const std::vector<int>& elastic_start() const { return elastic_start_; }
    const std::vector<double>& start_targets() const { return start_targets_; }
    const std::vector<SensorPlace>& sensors() const { return sensors_; }
    int sensor_values() const { return sensor_values_; }  // of all sensors together

  private:
    Scene scene_;
    Method method_;
    std::shared_ptr<const Model> model_;
    std::unordered_map<std::string, int> bodies_, joints_;
    std::vector<double> start_targets_;
    std::vector<int> elastic_start_;
    std::vector<SensorPlace> sensors_;
    int sensor_values_ = 0;
};

}  // namespace tenon::python
