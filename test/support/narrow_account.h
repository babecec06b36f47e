// An account of heads with a bound that tests set, which checks that no byte is given back twice.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

#include "proxy/http/head_account.h"

namespace sluice::test {

class NarrowAccount final : public http::HeadAccount {
 public:
  std::optional<http::Limit> take(std::size_t bytes) override {
    if (used + bytes > most) return http::Limit::kHeaderMemory;
    used += bytes;
    return std::nullopt;
  }
  void giveBack(std::size_t bytes) override {
    EXPECT_LE(bytes, used);
    used -= bytes;
  }

  std::size_t most = std::size_t{1024} * 1024;
  std::size_t used = 0;
};

}  // namespace sluice::test
