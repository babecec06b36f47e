// A BeatGroup makes several parts of one worker beat as one, for loops that serve more than one purpose.
//
// Belongs to the worker's thread; its members outlive the loop.
#pragma once

#include <algorithm>
#include <vector>

#include "proxy/net/worker.h"

namespace sluice::net {

class BeatGroup final : public Beats {
 public:
  void add(Beats& member) { members_.push_back(&member); }

  void drive() override {
    for (Beats* each : members_) each->drive();
  }
  void flush() override {
    for (Beats* each : members_) each->flush();
  }
  void reap() override {
    for (Beats* each : members_) each->reap();
  }
  bool quiet() const override {
    return std::all_of(members_.begin(), members_.end(), [](const Beats* each) { return each->quiet(); });
  }

 private:
  std::vector<Beats*> members_;
};

}  // namespace sluice::net
