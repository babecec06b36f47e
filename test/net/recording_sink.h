// A TransportSink that records its events: the owner's side of a connection, in tests.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/net/transport.h"

namespace sluice::test {

class RecordingSink final : public net::TransportSink {
 public:
  void onOpen() override { ++opened; }
  void onBytes(std::string_view bytes) override {
    ++reads;
    largestRead = std::max(largestRead, bytes.size());
    received += bytes;
  }
  void onEnd(bool clean) override {
    ++ended;
    endedCleanly = clean;
  }
  void onEndAhead(std::size_t count) override {
    ++endsAhead;
    unread = count;
  }
  void onFailed(const base::Error& failure) override {
    ++failed;
    error = failure;
  }
  void onWritable() override { ++writable; }

  int opened = 0;
  int reads = 0;
  int ended = 0;
  int endsAhead = 0;
  std::size_t unread = 0;
  int failed = 0;
  int writable = 0;
  bool endedCleanly = false;
  std::size_t largestRead = 0;
  std::string received;
  std::optional<base::Error> error;
};

}  // namespace sluice::test
