#include "proxy/exchange/authentication/password_queue.h"

#include <iterator>

namespace sluice::exchange {

bool PasswordQueue::add(net::ClientNetwork client, PasswordCheck&& check) {
  if (size_ >= most_) return false;
  auto own = std::find_if(clients_.begin(), clients_.end(), [&](const auto& each) { return each.client == client; });
  if (own != clients_.end() && own->waiting.size() >= shareOfClient()) return false;
  if (own == clients_.end()) own = clients_.insert(clients_.end(), ClientChecks{client, {}});
  own->waiting.push_back(std::move(check));
  ++size_;
  return true;
}

PasswordCheck PasswordQueue::take() {
  ClientChecks first = std::move(clients_.front());
  clients_.pop_front();
  PasswordCheck check = std::move(first.waiting.front());
  first.waiting.pop_front();
  if (!first.waiting.empty()) clients_.push_back(std::move(first));
  --size_;
  return check;
}

std::vector<PasswordCheck> PasswordQueue::takeSame(const pki::Sha256Digest& digest) {
  std::vector<PasswordCheck> same;
  for (ClientChecks& each : clients_) {
    const auto others =
        std::stable_partition(each.waiting.begin(), each.waiting.end(),
                              [&](const PasswordCheck& check) { return check.claim.digest() != digest; });
    std::move(others, each.waiting.end(), std::back_inserter(same));
    each.waiting.erase(others, each.waiting.end());
  }
  std::erase_if(clients_, [](const ClientChecks& each) { return each.waiting.empty(); });
  size_ -= same.size();
  return same;
}

void PasswordQueue::clear() {
  clients_.clear();
  size_ = 0;
}

}  // namespace sluice::exchange
