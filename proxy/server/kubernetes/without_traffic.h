// The Publisher of a process that compiles configurations and serves none of them: it opens no sockets and has no
// workers. Lives on the main thread.
#pragma once

#include "proxy/control/publisher.h"
#include "proxy/net/worker.h"

namespace sluice::server {

class WithoutTraffic final : public control::Publisher {
 public:
  /// `main` outlives it.
  explicit WithoutTraffic(net::Worker& main) : main_(main) {}

  compile::UnusablePlaces open(const control::Generation&) override { return {}; }
  bool openAny(const compile::UnusablePlaces&) override { return false; }
  void publish(const std::shared_ptr<const control::Generation>&, std::function<void()> adopted) override {
    main_.post(std::move(adopted));
  }
  void accept(const control::Generation&, std::function<void()> accepted) override { main_.post(std::move(accepted)); }
  void closeOthers(const control::Generation&) override {}

 private:
  net::Worker& main_;
};

}  // namespace sluice::server
