// A processor is few calls below the exchange that is driven, because a reader of a stack trace reads them all.
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "test/exchange/steps/wait_fixture.h"

namespace sluice::exchange {
namespace {

constexpr std::size_t kMostCalls = 8;
constexpr std::size_t kUnknown = 1000;

/// Returns where the code of Exchange::drive() begins.
std::uintptr_t codeOfDrive() {
  const auto drive = &Exchange::drive;
  std::uintptr_t code = 0;
  std::memcpy(&code, &drive, sizeof code);
  return code;
}

class DepthProcessor final : public processing::Processor {
 public:
  explicit DepthProcessor(std::size_t& most) : most_(most) {}
  BodyInterest body(Phase /*phase*/) const override { return {}; }
  Verdict process(Call& /*call*/, const processing::Peer& /*peer*/) const override {
    std::array<void*, 64> frames{};
    const auto end = frames.begin() + backtrace(frames.data(), static_cast<int>(frames.size()));
    constexpr std::uintptr_t kMostCodeBytes = 4096;
    const auto drive = std::find_if(frames.begin(), end, [](void* frame) {
      return reinterpret_cast<std::uintptr_t>(frame) - codeOfDrive() < kMostCodeBytes;
    });
    // A sanitizer's own frames may lie above the one that this function returns to.
    const auto caller = std::find(frames.begin(), drive, __builtin_return_address(0));
    const std::size_t between = drive == end ? kUnknown : static_cast<std::size_t>(drive - caller);
    most_ = std::max(most_, between);
    return Verdict::goOn();
  }

 private:
  std::size_t& most_;
};

class CallDepth : public ProcessWait {
 protected:
  Step deep(const Spot& spot, Scope scope, std::size_t& most) {
    Step made = stepAt(spot, goesOn(), 0, scope);
    made.processor = std::make_shared<const DepthProcessor>(most);
    return made;
  }
};

INSTANTIATE_TEST_SUITE_P(Versions, CallDepth,
                         ::testing::Combine(::testing::Values(Version::kHttp11), ::testing::Values(Version::kHttp11)));

TEST_P(CallDepth, AProcessorIsAtMostEightCallsBelowTheExchange) {
  for (const Scope scope : {Scope::kRoute, Scope::kBackend}) {
    atEach([&](const Spot& spot) {
      std::size_t most = 0;
      const Step step = deep(spot, scope, most);
      scope == Scope::kRoute ? with({step}) : with({}, {step});
      const std::size_t index = askFor(*client_);
      serve();
      EXPECT_EQ(statusOf(*client_, index), 200);
      EXPECT_GT(most, 0U) << "the processor was asked, and the exchange is in its stack trace";
      EXPECT_LE(most, kMostCalls);
      expectOver(1);
    });
  }
}

}  // namespace
}  // namespace sluice::exchange
