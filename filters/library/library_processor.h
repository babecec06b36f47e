// A payload processor whose steps a library runs.
//
// The time that the library takes is counted for each call, because it may block its worker for as long as it likes.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "filters/library/call_frame.h"
#include "filters/library/library_use.h"
#include "proxy/base/clock.h"
#include "proxy/observe/metric_instruments.h"
#include "proxy/processing/processor.h"

namespace sluice::filters::library {

class LibraryProcessor final : public processing::Processor {
 public:
  /// `phases` are those in which it may run.
  LibraryProcessor(std::unique_ptr<const LibraryUse> use, LibraryUseName name, std::uint8_t phases);

  processing::Verdict process(processing::Call& call, const processing::Peer& peer) const override;
  std::optional<processing::Verdict> expired(processing::Call& call) const override;
  processing::BodyInterest body(processing::Phase phase) const override {
    return bodies_[static_cast<std::size_t>(phase)];
  }
  std::span<const processing::Phase> phases() const override { return phases_; }

  /// Returns how the library is wrong about the bodies that it wants; empty if it is not.
  const std::string& fault() const { return fault_; }

 private:
  /// The instruments of one worker, by phase.
  struct CallTimes {
    std::array<observe::Histogram*, processing::kPhases> of{};
  };

  processing::BodyInterest interestIn(processing::Phase phase);
  observe::Histogram& timesOf(const processing::Call& call) const;
  static processing::Verdict verdictOf(int returned, CallFrame& frame, const std::string& thrown);

  const std::unique_ptr<const LibraryUse> use_;
  const LibraryUseName name_;
  const base::SystemClock clock_;
  std::vector<processing::Phase> phases_;
  std::array<processing::BodyInterest, processing::kPhases> bodies_{};
  std::string fault_;
  const std::shared_ptr<const int> owner_ = std::make_shared<const int>();  // of the worker states
};

}  // namespace sluice::filters::library
