// What a pool has to do: grids and jobs, in a list by priority.
#pragma once

#include <climits>
#include <cstdint>

#include "softgpu/exec/pool.hpp"

namespace softgpu::exec {

struct GridRun;

struct Task {
  int priority = 0;
  const void* queue = nullptr;
  GridRun* grid = nullptr;  // else a job
  Task *before = nullptr, *after = nullptr;
  bool listed = false;
};

struct JobRun : Task {
  explicit JobRun(Job work) : job(std::move(work)) {
    priority = job.priority;
    queue = job.queue;
  }
  Job job;
};

// Intrusive, so that adding a task under the pool's lock allocates nothing. First come, first served among equals.
class TaskList {
 public:
  Task* first() const { return first_; }
  bool empty() const { return first_ == nullptr; }
  int best_priority() const { return first_ ? first_->priority : INT_MAX; }

  void add(Task& task) {
    Task* before = last_;
    while (before && before->priority > task.priority) before = before->before;
    task.before = before;
    task.after = before ? before->after : first_;
    (task.before ? task.before->after : first_) = &task;
    (task.after ? task.after->before : last_) = &task;
    task.listed = true;
  }

  void remove(Task& task) {
    (task.before ? task.before->after : first_) = task.after;
    (task.after ? task.after->before : last_) = task.before;
    task.before = task.after = nullptr;
    task.listed = false;
  }

 private:
  Task *first_ = nullptr, *last_ = nullptr;
};

}  // namespace softgpu::exec
