#include "sweep/order.hpp"

#include <algorithm>
#include <cstdlib>

namespace tenon::sweep {

Order::Order(const std::vector<Task>& tasks, const std::vector<long>& waiting)
    : tasks_(tasks), waiting_(waiting.begin(), waiting.end()) {
    by_value_.resize(tasks.empty() ? 1 : tasks[0].values.size() + 1);
    sort();
}

// What the plan itself says about a run's length.
double Order::steps(const Task& task) const {
    double length = 1.0;
    for (const Override& entry : task.overrides) {
        const double value = std::strtod(entry.value.c_str(), nullptr);
        if (!(value > 0)) continue;
        if (entry.key == "seconds") length *= value;
        if (entry.key == "dt" || entry.key == "method.dt") length /= value;
    }
    return length;
}

void Order::note(long number, double seconds) {
    const Task& task = tasks_[static_cast<std::size_t>(number)];
    const double cost = seconds / steps(task);
    const auto add = [&](Mean& mean) {
        mean.sum += cost;
        ++mean.count;
    };
    add(all_);
    add(by_value_[0][task.scene]);
    for (std::size_t i = 0; i < task.values.size(); ++i) add(by_value_[i + 1][plain_text(task.values[i])]);
    if (all_.count < sort_at_) return;
    sort();
    sort_at_ = 2 * all_.count;
}

// Main effects: the mean cost of a step, times what each of the run's values makes of it.
double Order::expected(long number) const {
    const Task& task = tasks_[static_cast<std::size_t>(number)];
    double seconds = steps(task);
    if (all_.count == 0 || all_.sum <= 0) return seconds;
    const double mean = all_.sum / static_cast<double>(all_.count);
    const auto factor = [&](std::size_t column, const std::string& value) {
        const auto found = by_value_[column].find(value);
        return found == by_value_[column].end()
                   ? 1.0
                   : found->second.sum / static_cast<double>(found->second.count) / mean;
    };
    seconds *= mean * factor(0, task.scene);
    for (std::size_t i = 0; i < task.values.size(); ++i) seconds *= factor(i + 1, plain_text(task.values[i]));
    return seconds;
}

void Order::sort() {
    std::vector<std::pair<double, long>> keyed;
    for (const long task : waiting_) keyed.emplace_back(-expected(task), task);
    std::sort(keyed.begin(), keyed.end());
    waiting_.clear();
    for (const auto& [length, task] : keyed) waiting_.push_back(task);
}

long Order::next() {
    const long task = waiting_.front();
    waiting_.pop_front();
    return task;
}

}  // namespace tenon::sweep
