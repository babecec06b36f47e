// The faults that a FaultProxy makes, and the requests that it has seen. Shared by the test and the threads of the
// connections.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/integration/support/child_process.h"

namespace sluice::test {

enum class CutEnding {
  kClosed,     // the end of TCP without that of TLS, as a process that dies leaves it
  kTlsClosed,  // the end of TLS, and then that of TCP: only HTTP can tell that something is missing
  kReset,      // a reset of TCP; bytes before it may be lost
};

/// Ends one connection in the middle of the server's bytes.
struct Cut {
  /// The text after which bytes are counted, wherever the server writes it; empty: they are counted from now on.
  std::string after = {};
  /// bytes that are still forwarded
  std::size_t bytes = 0;
  /// Only a connection whose last request has this in its head is cut; empty: the first connection that gets bytes.
  std::string request = {};
  CutEnding ending = CutEnding::kClosed;
};

/// Answers requests in the server's place.
struct CannedAnswer {
  std::string request;   // a part of the head
  std::string response;  // in whole, with its head
  std::size_t times = 1;
};

/// One request, and the bytes of the server until the next one of the same connection.
struct ProxiedExchange {
  std::string head;    // of the request
  std::string answer;  // its first ProxyFaults::kKeptOfAnswer bytes at most, as they were sent
};

class ProxyFaults {
 public:
  static constexpr std::size_t kKeptOfAnswer = 4096;

  void add(const Cut& cut);
  void add(const CannedAnswer& answer);
  /// Stalls connections whose last request has this in its head, or all of them; nothing ends that.
  void stall(const std::optional<std::string>& request);

  /// Called by connections, with the head of their last request. A cut is made on one connection.
  std::optional<Cut> takeCut(std::string_view head);
  std::optional<std::string> takeAnswer(std::string_view head);
  bool stalls(std::string_view head) const;
  void noteCut();
  void noteConnection();
  /// Returns the number of the request, for noteAnswer().
  std::size_t noteRequest(const std::string& head);
  void noteAnswer(std::size_t request, std::string_view bytes);

  std::size_t connections() const;
  std::vector<std::string> heads() const;
  std::vector<ProxiedExchange> exchanges() const;
  /// Waits until `cuts` connections were cut, until a head with `text` came this often, or until the server has
  /// answered a request with `request` in its head with `answer`.
  bool waitForCuts(std::size_t cuts, std::chrono::milliseconds patience);
  bool waitForRequests(std::string_view text, std::size_t times, std::chrono::milliseconds patience);
  bool waitForAnswer(std::string_view request, std::string_view answer, std::chrono::milliseconds patience);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Cut> cuts_;
  std::list<CannedAnswer> answers_;
  std::optional<std::string> stalled_;
  std::vector<ProxiedExchange> exchanges_;
  std::size_t connections_ = 0;
  std::size_t done_ = 0;  // cuts
};

/// Counts down one Cut.
class CutPoint {
 public:
  explicit CutPoint(Cut cut) : cut_(std::move(cut)), found_(cut_.after.empty()) {}

  /// Returns how many of the next bytes are still forwarded. If reached(), the connection ends after them.
  std::size_t allow(std::string_view bytes);
  bool reached() const { return reached_; }
  CutEnding ending() const { return cut_.ending; }

 private:
  Cut cut_;
  bool found_;
  bool reached_ = false;
  std::string tail_;  // of the forwarded bytes, which may hold the beginning of the text
};

}  // namespace sluice::test
