#include "test/integration/support/kubernetes/proxy_faults.h"

#include <algorithm>

namespace sluice::test {
namespace {

bool isIn(std::string_view head, std::string_view text) { return head.find(text) != std::string_view::npos; }

std::size_t headsWith(const std::vector<ProxiedExchange>& exchanges, std::string_view text) {
  return static_cast<std::size_t>(std::count_if(exchanges.begin(), exchanges.end(),
                                                [text](const ProxiedExchange& each) { return isIn(each.head, text); }));
}

}  // namespace

void ProxyFaults::add(const Cut& cut) {
  const std::lock_guard lock(mutex_);
  cuts_.push_back(cut);
}

void ProxyFaults::add(const CannedAnswer& answer) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(answer);
}

void ProxyFaults::stall(const std::optional<std::string>& request) {
  const std::lock_guard lock(mutex_);
  stalled_ = request;
}

std::optional<Cut> ProxyFaults::takeCut(std::string_view head) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(cuts_.begin(), cuts_.end(), [head](const Cut& cut) { return isIn(head, cut.request); });
  if (at == cuts_.end()) return std::nullopt;
  Cut cut = std::move(*at);
  cuts_.erase(at);
  return cut;
}

std::optional<std::string> ProxyFaults::takeAnswer(std::string_view head) {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(answers_.begin(), answers_.end(),
                               [head](const CannedAnswer& answer) { return isIn(head, answer.request); });
  if (at == answers_.end()) return std::nullopt;
  std::string response = at->response;
  if (--at->times == 0) answers_.erase(at);
  return response;
}

bool ProxyFaults::stalls(std::string_view head) const {
  const std::lock_guard lock(mutex_);
  return stalled_ && isIn(head, *stalled_);
}

void ProxyFaults::noteCut() {
  const std::lock_guard lock(mutex_);
  ++done_;
  changed_.notify_all();
}

void ProxyFaults::noteConnection() {
  const std::lock_guard lock(mutex_);
  ++connections_;
}

std::size_t ProxyFaults::noteRequest(const std::string& head) {
  const std::lock_guard lock(mutex_);
  exchanges_.push_back({head, {}});
  changed_.notify_all();
  return exchanges_.size() - 1;
}

void ProxyFaults::noteAnswer(std::size_t request, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  std::string& answer = exchanges_.at(request).answer;
  if (answer.size() == kKeptOfAnswer) return;
  answer += bytes.substr(0, kKeptOfAnswer - answer.size());
  changed_.notify_all();
}

std::size_t ProxyFaults::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

std::vector<std::string> ProxyFaults::heads() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> heads;
  for (const ProxiedExchange& each : exchanges_) heads.push_back(each.head);
  return heads;
}

std::vector<ProxiedExchange> ProxyFaults::exchanges() const {
  const std::lock_guard lock(mutex_);
  return exchanges_;
}

bool ProxyFaults::waitForCuts(std::size_t cuts, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return done_ >= cuts; });
}

bool ProxyFaults::waitForRequests(std::string_view text, std::size_t times, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return headsWith(exchanges_, text) >= times; });
}

bool ProxyFaults::waitForAnswer(std::string_view request, std::string_view answer, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] {
    return std::any_of(exchanges_.begin(), exchanges_.end(), [&](const ProxiedExchange& each) {
      return isIn(each.head, request) && isIn(each.answer, answer);
    });
  });
}

std::size_t CutPoint::allow(std::string_view bytes) {
  std::size_t before = 0;  // of the bytes, up to and including the text
  if (!found_) {
    const std::string seen = tail_ + std::string(bytes);
    const std::size_t at = seen.find(cut_.after);
    if (at == std::string::npos) {
      tail_ = seen.substr(seen.size() - std::min(seen.size(), cut_.after.size() - 1));
      return bytes.size();
    }
    found_ = true;
    before = at + cut_.after.size() - tail_.size();
  }
  const std::size_t left = bytes.size() - before;
  const std::size_t taken = std::min(left, cut_.bytes);
  cut_.bytes -= taken;
  reached_ = cut_.bytes == 0;
  return before + taken;
}

}  // namespace sluice::test
