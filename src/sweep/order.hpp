// Which run is next: those that are expected to take longest go first, so that none is left over at the end.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "sweep/task.hpp"

namespace tenon::sweep {

class Order {
  public:
    // `waiting` are numbers of tasks.
    Order(const std::vector<Task>& tasks, const std::vector<long>& waiting);

    void note(long task,
              double seconds);  // what a finished run took; known ones may be told before the start
    bool empty() const { return waiting_.empty(); }
    long next();
    void put_back(long task) { waiting_.push_front(task); }

    double expected(long task) const;  // seconds, or a number that only orders as long as nothing is known

  private:
    struct Mean {
        double sum = 0.0;
        long count = 0;
    };
    double steps(const Task& task) const;
    void sort();

    const std::vector<Task>& tasks_;
    std::deque<long> waiting_;
    std::vector<std::map<std::string, Mean>> by_value_;  // per column: time per expected step, by the value
    Mean all_;
    long sort_at_ = 1;  // number of finished runs at which what was learnt is used next
};

}  // namespace tenon::sweep
