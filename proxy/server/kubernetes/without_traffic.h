// The Publisher of a process that compiles configurations and serves none of them: it opens no sockets and has no
// workers, so it never waits. Lives on the main thread.
#pragma once

#include "proxy/control/publisher.h"

namespace sluice::server {

class WithoutTraffic final : public control::Publisher {
 public:
  compile::UnusablePlaces open(const control::Generation&) override { return {}; }
  bool openAny(const compile::UnusablePlaces&) override { return false; }
  Handover publish(const std::shared_ptr<const control::Generation>&, std::function<void()>) override {
    return Handover::kDone;
  }
  Handover accept(const control::Generation&, std::function<void()>) override { return Handover::kDone; }
  void closeOthers(const control::Generation&) override {}
};

}  // namespace sluice::server
