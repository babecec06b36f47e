// A request that a processor makes of its own while its step waits: to a guard, a token endpoint, an external
// processor.
//
// Made by Call::callout(). It belongs to the step, and is cancelled when that has decided or failed, its deadline
// included, of which the processor does not hear. It moves by itself between the times that the processor is asked, and
// wakes the step by a Resumer alone. It speaks whatever version of HTTP its target speaks, and counts against the
// bounds of the target as any request does. One thread, that of the exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/base/byte_queue.h"
#include "proxy/base/clock.h"
#include "proxy/base/error.h"
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

/// Describes a callout. The head is copied, so it may go.
struct CalloutRequest {
  std::shared_ptr<const CalloutTarget> target;
  /// An empty authority is that of the target. Unless the body is kNone, send() and end() bring it: of a kLength
  /// exactly so many bytes, or the request is broken off.
  const http::RequestHead& head;
  /// From now to the end of the answer; zero: as long as the step may wait for an answer.
  base::Duration timeout{};
};

class Callout {
 public:
  enum class Moment : std::uint8_t {
    kChange,  // the answer's head, more of its body, room for more of the request's, or the end
    kEnd      // the whole answer, or a failure; nothing in between
  };

  virtual ~Callout() = default;

  /// Adds to the body. Behind end(), and of a head without a body, it does nothing. The callout fails if more than
  /// limits.exchangeBuffer has been sent that the server has not taken.
  virtual void send(std::string_view bytes) = 0;
  virtual void end() = 0;
  /// Bytes that were sent and that the server has not taken.
  virtual std::size_t unsent() const = 0;

  /// Resumes at that moment, and at once if it has passed: a kChange since the last call counts. The Resumer of an
  /// earlier call means nothing any more. While kEnd is awaited, an answer larger than limits.processorBuffer fails the
  /// callout.
  virtual void await(Resumer resumer, Moment moment) = 0;

  /// The answer's; nullptr until it is there.
  virtual const http::ResponseHead* head() const = 0;
  /// Bytes of its body that have come and were not taken. Beyond limits.processorBuffer no more come until some are
  /// taken, so no part of the body that is wanted whole can be larger.
  virtual const base::ByteQueue& received() const = 0;
  virtual void take(std::size_t count) = 0;
  /// Nothing more comes: the answer is whole, or there is an error().
  virtual bool over() const = 0;
  /// nullptr if there are none, or not yet.
  virtual const http::Headers* trailers() const = 0;
  virtual const std::optional<base::Error>& error() const = 0;
};

}  // namespace sluice::processing
