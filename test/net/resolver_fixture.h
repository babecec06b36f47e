// A resolver with a name server on its own loop.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/dns/resolver.h"
#include "test/net/loop_name_server.h"
#include "test/support/loop_driver.h"

namespace sluice::test {

inline std::vector<std::string> texts(const base::Result<net::Addresses>* result) {
  std::vector<std::string> list;
  if (result == nullptr) return {"nothing is known"};
  if (!result->ok()) return {result->error().detail};
  for (const net::Address& address : result->value()) list.push_back(address.toString());
  return list;
}
using Texts = std::vector<std::string>;

/// Time is moved by hand, except where c-ares' own clock matters.
template <typename Clock>
class ResolverFixture : public ::testing::Test {
 protected:
  ResolverFixture() : worker_(clock_), server_(worker_) { settings_.servers = {server_.server()}; }

  void start() { resolver_ = net::makeResolver(worker_, settings_, parts_).value(); }
  /// Queries and waits for the answer.
  const base::Result<net::Addresses>* lookUp(std::string_view name) {
    if (!resolver_) start();
    bool done = false;
    {
      const net::Worker::Turn turn(worker_);
      resolver_->resolve(name, [&] { done = true; });
      EXPECT_FALSE(done) << "an answer from within the question";
    }
    EXPECT_TRUE(runUntil(worker_, [&] { return done; }));
    return resolver_->cached(name);
  }
  void turn() { const net::Worker::Turn one(worker_); }

  Clock clock_;
  net::Worker worker_;
  LoopNameServer server_;
  base::DnsSettings settings_;
  net::ResolverParts parts_;
  std::unique_ptr<net::Resolver> resolver_;
};

}  // namespace sluice::test
