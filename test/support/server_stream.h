// A callout to a server of gRPC whose answers a test writes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/no_services.h"

namespace sluice::test {

class ServerStream final : public FailedCallout {
 public:
  ServerStream() { head_.status = 200; }
  ~ServerStream() override {
    for (processing::Resumer& each : waiting_) each.release();
  }

  void send(std::string_view bytes) override {
    sent += bytes;
    isPlaceReleased = false;
  }
  void end() override { ended = true; }
  void await(processing::Resumer resumer, Moment) override {
    waiting_.push_back(std::move(resumer));
    if (over_) wake();
  }
  void wake() override {
    for (processing::Resumer& each : std::exchange(waiting_, {})) each.resume();
  }
  void releasePlace() override { isPlaceReleased = true; }
  void cancel() override { cancelled = over_ = true; }
  const http::ResponseHead* head() const override { return &head_; }
  const base::ByteQueue& received() const override { return received_; }
  void take(std::size_t count) override { received_.consume(count); }
  bool over() const override { return over_; }
  const http::Headers* trailers() const override { return &trailers_.fields; }
  const std::optional<base::Error>& error() const override { return none_; }

  /// Has the server send these bytes.
  void bring(std::string_view bytes) {
    received_.append(bytes);
    wake();
  }
  /// The server ends the call with that status.
  void finish(std::string_view status) {
    trailers_.fields.set(trailers_.arena, "grpc-status", trailers_.arena.copy(status));
    over_ = true;
    wake();
  }

  std::string sent;
  bool ended = false;
  bool cancelled = false;
  bool isPlaceReleased = false;  // since the last send()

 private:
  base::ChunkPool pool_;
  base::ByteQueue received_{pool_};
  http::ResponseHead head_;
  http::Trailers trailers_{pool_};
  std::vector<processing::Resumer> waiting_;
  bool over_ = false;
  const std::optional<base::Error> none_;
};

/// Services whose callouts are such streams.
class StreamServices final : public processing::Services {
 public:
  std::unique_ptr<processing::Callout> callout(const processing::CalloutRequest&, const processing::Place&) override {
    auto made = std::make_unique<ServerStream>();
    stream = made.get();
    return made;
  }
  void leave(std::unique_ptr<processing::Callout> callout) override { left = std::move(callout); }
  processing::WorkerStates& workerStates() override { return states_; }
  observe::MetricShard& metrics() override { return nothing_.metrics(); }
  const std::shared_ptr<const processing::WorkerTasks>& tasks() override { return nothing_.tasks(); }
  void record(const processing::ProcessorRecord&) override {}
  bool count(std::string_view, std::string_view, std::uint64_t) override { return true; }

  ServerStream* stream = nullptr;  // the one that was made last
  std::unique_ptr<processing::Callout> left;

 private:
  NoServices nothing_;
  processing::WorkerStates states_;
};

}  // namespace sluice::test
