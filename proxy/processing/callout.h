// A request that a processor makes of its own while its step waits: to a guard, a token endpoint, an external
// processor.
//
// Call::callout() makes it. It belongs to the step, and is cancelled when the step has decided or failed, even by its
// deadline, of which the processor is not notified. It moves on by itself between the times that the processor is
// asked, and wakes the step only through a Resumer. It uses the target's version of HTTP, and is counted against the
// limits of the target as any request is. It lives on the thread of the exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/base/terms/caller.h"
#include "proxy/http/message.h"
#include "proxy/processing/resumer.h"

namespace sluice::processing {

/// A Backend that a processor was configured with. Processors carry it, and only the data path looks into it.
class CalloutTarget {
 public:
  CalloutTarget() = default;
  CalloutTarget(const CalloutTarget&) = delete;
  CalloutTarget& operator=(const CalloutTarget&) = delete;
  virtual ~CalloutTarget() = default;
};

/// The policies about where the requests of an exchange may go. Processors carry it, and only the data path looks into
/// it.
class CalloutScope {
 public:
  CalloutScope() = default;
  CalloutScope(const CalloutScope&) = default;
  CalloutScope& operator=(const CalloutScope&) = default;
  virtual ~CalloutScope() = default;
};

/// How a gRPC call is retried if its server has sent no answer yet (gRPC's retryPolicy).
struct CalloutRetry {
  std::uint32_t attempts = 1;  // in all
  base::Duration firstPause{};
  base::Duration longestPause{};
  double multiplier = 1;       // of a pause, relative to the one before it
  std::uint32_t statuses = 0;  // the gRPC statuses that are retried, one bit each
  base::Duration within{};     // from the first attempt on; no attempt begins later

  bool covers(std::uint32_t status) const { return status < 32 && (statuses >> status & 1) != 0; }
};

/// Describes a callout. The head is copied, so it may go.
struct CalloutRequest {
  std::shared_ptr<const CalloutTarget> target;
  /// An empty authority means that of the target. Unless the body is kNone, it comes by send() and end(). A kLength
  /// body must have exactly the stated length, or the request is broken off.
  const http::RequestHead& head;
  /// The time from now to the end of the answer. Zero means the time that the step may wait for an answer.
  base::Duration timeout{};
  CalloutRetry retry = {};
  /// The address of the client for which it is made; empty if there is none.
  std::string_view client = {};
  /// The caller for which it is made; null if nothing is known of it.
  std::shared_ptr<const base::Caller> caller = nullptr;
};

class Callout {
 public:
  enum class Moment : std::uint8_t {
    kChange,  // the answer's head, more of its body, room for more of the request's, or the end
    kEnd      // the whole answer, or a failure; nothing in between
  };

  virtual ~Callout() = default;

  /// Adds to the body. Does nothing after end(), or if the head has no body. The callout fails if the server leaves
  /// more than limits.exchangeBuffer of the bytes sent untaken.
  virtual void send(std::string_view bytes) = 0;
  virtual void end() = 0;
  /// Returns how many of the bytes sent the server has not taken.
  virtual std::size_t unsent() const = 0;

  /// Resumes the step at that moment, or at once if it has passed; a change that came after the step was last resumed
  /// is a kChange. Several steps may await one callout, at the same moment; one that awaits it already does so once.
  /// While kEnd is awaited, an answer larger than limits.processorBuffer fails the callout.
  virtual void await(Resumer resumer, Moment moment) = 0;
  /// Resumes all that await it, as if something had come.
  virtual void wake() = 0;
  /// Called when nothing is sent or awaited for now. The callout then takes no place among limits.backendRequests until
  /// the next send(), which takes one even beyond the limit.
  virtual void releasePlace() = 0;
  /// Breaks the request off, unless it is over; the callout then fails, and all steps that await it are resumed.
  virtual void cancel() = 0;

  /// Returns the head of the answer; nullptr until it has come.
  virtual const http::ResponseHead* head() const = 0;
  /// Returns the bytes of the answer's body that have come and were not taken. Once there are limits.processorBuffer of
  /// them, no more come until some are taken, so the step cannot get a larger part of the body as a whole.
  virtual const base::ByteQueue& received() const = 0;
  virtual void take(std::size_t count) = 0;
  /// Returns true if nothing more comes: the answer is complete, or there is an error().
  virtual bool over() const = 0;
  /// Returns the trailers of the answer; nullptr if there are none, or none yet.
  virtual const http::Headers* trailers() const = 0;
  virtual const std::optional<base::Error>& error() const = 0;
};

}  // namespace sluice::processing
