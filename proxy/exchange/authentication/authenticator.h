// The Authenticator judges the passwords of one worker's clients: at once where the answer is known, else by a check on
// another thread. Requests with the same claim wait for one check.
//
// Owned by Exchanges; one thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "proxy/exchange/authentication/password_checks.h"
#include "proxy/exchange/authentication/wrong_passwords.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/net/worker.h"
#include "proxy/pki/password_file.h"

namespace sluice::exchange {

/// Takes the results of checks.
class PasswordSink {
 public:
  virtual ~PasswordSink() = default;
  /// Called inside a Turn. The exchange may be gone.
  virtual void onPasswordChecked(http::Token exchange, bool right) = 0;
};

class Authenticator {
 public:
  /// All of them outlive it.
  Authenticator(net::Worker& worker, PasswordChecks& checks, PasswordSink& sink)
      : worker_(worker), checks_(checks), sink_(sink) {}
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  enum class Verdict : std::uint8_t {
    kRight,
    kWrong,
    kPending,  // the sink gets the result
    kNoRoom    // too many checks wait
  };
  Verdict judge(const pki::PasswordClaim& claim, net::ClientNetwork client, http::Token exchange);

 private:
  void onAnswer(const pki::Sha256Digest& claim, bool right);

  net::Worker& worker_;
  PasswordChecks& checks_;
  PasswordSink& sink_;
  WrongPasswords wrong_;
  std::unordered_map<pki::Sha256Digest, std::vector<http::Token>, DigestHash> waiting_;  // exchanges by their claim
};

}  // namespace sluice::exchange
