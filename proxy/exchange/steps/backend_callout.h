// A callout is a processor's own request to a Backend; this one is made by the data path. Its step owns it; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/terms/caller.h"
#include "proxy/exchange/egress/own_dial.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"
#include "proxy/net/timers.h"
#include "proxy/processing/buffer_budget.h"
#include "proxy/processing/call.h"
#include "proxy/processing/callout.h"
#include "proxy/routing/snapshot.h"
#include "proxy/upstream/async_request.h"

namespace sluice::exchange {

class ExchangeContext;

class BackendCallout final : public processing::Callout, private upstream::AsyncRequestOwner {
 public:
  BackendCallout(ExchangeContext& context, const processing::CalloutRequest& request, const processing::Place& place);
  ~BackendCallout() override;

  // processing::Callout
  void send(std::string_view bytes) override;
  void end() override;
  std::size_t unsent() const override { return isPausing() ? kept_.size() : request_->body().bytes.size(); }
  void await(processing::Resumer resumer, Moment moment) override;
  void wake() override { tell(); }
  void releasePlace() override { request_->releasePlace(); }
  void cancel() override;
  const http::ResponseHead* head() const override { return answer_ ? &answer_->head : nullptr; }
  const base::ByteQueue& received() const override { return received_; }
  void take(std::size_t count) override;
  bool over() const override { return ended_ || error_; }
  const http::Headers* trailers() const override { return trailers_ ? &trailers_->fields : nullptr; }
  const std::optional<base::Error>& error() const override { return error_; }

  /// Read by the observer.
  const processing::Place& place() const { return place_; }
  /// Returns the caller for whose request it is made; null if nothing is known of it.
  const base::Caller* caller() const { return caller_.get(); }
  const routing::BackendPlan& plan() const { return *plan_; }
  http::Method method() const { return message_.head.method; }
  base::MonotonicTime begun() const { return request_->begun(); }
  /// See upstream::AsyncRequest.
  bool attempted() const { return request_->attempted(); }

 private:
  // upstream::AsyncRequestOwner
  upstream::PlaceClaim claim() const override { return {client_}; }
  void onAddresses() override {}
  void onResponse(http::ResponseMessage&& message) override;
  void onResponseBody(std::string_view bytes) override;
  void onRequestTaken() override { tell(); }
  void onResponseEnd(std::optional<http::Trailers> trailers) override;
  void onFailed(const base::Error& error) override;

  /// Ends the pause before another attempt.
  class PauseTimer final : public net::Timer {
   public:
    explicit PauseTimer(BackendCallout& owner) : owner_(owner) {}

   private:
    void onTimer() override { owner_.begin(); }
    BackendCallout& owner_;
  };

  /// Begins an attempt, with all of the body that there is.
  void begin();
  /// Called when there will be no other attempt.
  void keepNoMore() {
    keeps_ = false;
    kept_ = {};
    share_.keep(received_.size());
  }
  bool isPausing() const { return pause_.isSet(); }
  /// Plans another attempt if the policy has one for that status of gRPC, and nothing of the answer has come.
  bool planAnother(std::uint32_t status);
  /// Wakes the steps that wait for such an event.
  void tell();
  void failBeyondBound();
  std::uint64_t mostReceived() const;

  ExchangeContext& context_;
  const std::shared_ptr<const routing::BackendPlan> plan_;
  http::RequestMessage message_;
  processing::Place place_;
  const std::shared_ptr<const base::Caller> caller_;
  const net::ClientNetwork client_;  // the key of its share
  const processing::CalloutRetry retry_;
  const base::Duration timeout_;
  const base::MonotonicTime made_;
  OwnDial dial_;
  std::optional<std::uint64_t> hash_;              // by which consistent hashing chooses the endpoint
  std::optional<upstream::AsyncRequest> request_;  // the current attempt, or the last one
  std::uint32_t attempts_ = 0;                     // begun so far
  std::string kept_;                               // the body, for another attempt
  bool keeps_;                                     // kept_ has all of it
  bool isWhole_;                                   // the body has ended
  PauseTimer pause_{*this};
  std::optional<http::ResponseMessage> answer_;
  base::ByteQueue received_;
  processing::BufferShare share_;  // pays for received_ and kept_
  std::size_t withheld_ = 0;       // bytes that came beyond limits.processorBuffer, and for which no more may come
  std::optional<http::Trailers> trailers_;
  std::optional<base::Error> error_;
  bool ended_ = false;
  bool cancelled_ = false;
  bool changed_ = false;  // since await() was called last
  Moment moment_ = Moment::kChange;
  std::vector<processing::Resumer> waiting_;  // resumed at `moment_`
};

}  // namespace sluice::exchange
