#include "proxy/exchange/authentication/authenticator.h"

#include <utility>

namespace sluice::exchange {

Authenticator::Verdict Authenticator::judge(const pki::PasswordClaim& claim, net::ClientNetwork client,
                                            http::Token exchange) {
  if (claim.isProven()) return Verdict::kRight;
  const pki::Sha256Digest& digest = claim.digest();
  if (wrong_.contain(digest, worker_.now())) return Verdict::kWrong;
  const auto others = waiting_.find(digest);
  if (others != waiting_.end()) {
    others->second.push_back(exchange);
    return Verdict::kPending;
  }
  const auto answer = [this, digest](bool right) { onAnswer(digest, right); };
  if (!checks_.ask(client, {claim, &worker_, answer})) return Verdict::kNoRoom;
  waiting_.emplace(digest, std::vector<http::Token>{exchange});
  return Verdict::kPending;
}

void Authenticator::onAnswer(const pki::Sha256Digest& claim, bool right) {
  if (!right) wrong_.add(claim, worker_.now());
  const auto waiting = waiting_.extract(claim);
  if (waiting.empty()) return;
  for (const http::Token each : waiting.mapped()) sink_.onPasswordChecked(each, right);
}

}  // namespace sluice::exchange
