// Many clients of one port, which send requests again and again over persistent connections. One thread with an event
// loop moves all of them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace sluice::test {

class ClientCrowd {
 public:
  /// Names the outcome of a request by its answer. Runs on the crowd's thread.
  using Judge = std::function<std::string(int status, std::string_view body)>;
  using Outcomes = std::map<std::string, std::size_t>;
  /// The outcome of a request whose connection ended before its answer was there; its client connects again.
  static constexpr const char* kCut = "cut";

  /// Names an outcome by the body of a 200, or else by the status.
  static std::string byBody(int status, std::string_view body);

  /// Each client sends `request` as soon as it has the answer to the one before.
  ClientCrowd(std::uint16_t port, std::size_t clients, std::string request, Judge judge = byBody);
  ~ClientCrowd();
  ClientCrowd(const ClientCrowd&) = delete;
  ClientCrowd& operator=(const ClientCrowd&) = delete;

  /// Waits until so many more answers have come; returns false if they do not come.
  bool hasAnswers(std::size_t more);
  /// Waits until so many more requests had this outcome.
  bool hasAnswers(std::size_t more, const std::string& outcome);
  /// Has each client stop when it has its answer, and returns the outcomes of all requests.
  Outcomes finish();

 private:
  /// One client, with what has come of its answer.
  struct CrowdClient {
    std::string received;
  };

  void loop();
  void connect();
  void read(int fd);
  void note(const std::string& outcome);

  const std::uint16_t port_;
  const std::string request_;
  const Judge judge_;
  const int poll_;
  const int stop_;
  std::map<int, CrowdClient> clients_;  // of the thread
  bool isStopping_ = false;             // of the thread

  std::mutex mutex_;  // guards the outcomes
  std::condition_variable changed_;
  Outcomes outcomes_;
  std::size_t answered_ = 0;
  std::thread thread_;
};

}  // namespace sluice::test
