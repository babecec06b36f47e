// Services for steps without callouts.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "proxy/processing/services.h"

namespace sluice::test {

/// A callout that failed because it had no destination.
class FailedCallout : public processing::Callout {
 public:
  FailedCallout() = default;
  /// Counts itself for as long as it lives.
  explicit FailedCallout(int& alive) : alive_(&alive) { ++*alive_; }
  ~FailedCallout() override {
    if (alive_ != nullptr) --*alive_;
  }
  void send(std::string_view) override {}
  void end() override {}
  std::size_t unsent() const override { return 0; }
  void await(processing::Resumer resumer, Moment) override { resumer.resume(); }
  void wake() override {}
  void releasePlace() override {}
  void cancel() override {}
  const http::ResponseHead* head() const override { return nullptr; }
  const base::ByteQueue& received() const override { return nothing_; }
  void take(std::size_t) override {}
  bool over() const override { return true; }
  const http::Headers* trailers() const override { return nullptr; }
  const std::optional<base::Error>& error() const override { return error_; }

 private:
  int* alive_ = nullptr;
  base::ChunkPool pool_;
  base::ByteQueue nothing_{pool_};
  std::optional<base::Error> error_ = base::Error::internal("there is nobody to ask");
};

class NoServices final : public processing::Services {
 public:
  std::unique_ptr<processing::Callout> callout(const processing::CalloutRequest&, const processing::Place&) override {
    return std::make_unique<FailedCallout>(callouts);
  }
  void leave(std::unique_ptr<processing::Callout>) override {}
  processing::WorkerStates& workerStates() override { return states_; }

  int callouts = 0;  // that are alive

 private:
  processing::WorkerStates states_;
};

}  // namespace sluice::test
