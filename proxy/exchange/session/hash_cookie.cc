#include "proxy/exchange/session/hash_cookie.h"

#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "proxy/base/hashing/stable_hash.h"
#include "proxy/exchange/session/session_carrier.h"

namespace sluice::exchange {
namespace {

constexpr std::size_t kSealedHashSize = pki::ValueSealer::sealedSize(sizeof(std::uint64_t));

routing::SessionPolicy policyOf(const base::LoadBalancing& terms) {
  routing::SessionPolicy policy;
  policy.name = terms.names.front();
  policy.scope = "loadBalancing " + policy.name;
  policy.permanent = terms.cookieTtl > base::Duration::zero();
  if (policy.permanent) policy.absoluteTimeout = terms.cookieTtl;
  std::string path = terms.cookiePath;
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path.size() > 1) policy.paths.push_back(std::move(path));
  return policy;
}

std::string_view bytesOf(const std::uint64_t& value) { return {reinterpret_cast<const char*>(&value), sizeof(value)}; }

}  // namespace

HashCookie::HashCookie(const base::LoadBalancing& terms, const pki::ValueSealer& sealer, std::uint64_t random,
                       http::RequestMessage& request)
    : policy_(policyOf(terms)), value_(random) {
  for (const std::string_view sealed : takeSessions(policy_, kSealedHashSize, request)) {
    const auto opened = sealer.open(sealed, policy_.scope);
    if (!opened || opened->value.size() != sizeof(value_)) continue;
    std::memcpy(&value_, opened->value.data(), sizeof(value_));
    isSent_ = !opened->byPrevious;
    return;
  }
}

void HashCookie::removeFrom(base::Arena& arena, http::Headers& headers) const {
  removeSessions(policy_, arena, headers);
}

std::uint64_t HashCookie::hash() const { return base::stableHash(bytesOf(value_)); }

void HashCookie::tell(const pki::ValueSealer& sealer, std::string_view requestPath, bool secure,
                      http::ResponseMessage& response) const {
  const std::string_view path = policy_.paths.empty() ? std::string_view("/") : std::string_view(policy_.paths[0]);
  if (isSent_ || policy_.cookiePath(requestPath) != path) return;
  const std::optional<std::string> sealed = sealer.seal(bytesOf(value_), policy_.scope);
  if (!sealed) return;
  addSession(policy_, *sealed, {requestPath, secure, base::Duration::zero()}, response);
}

}  // namespace sluice::exchange
