#include "proxy/pki/bcrypt.h"

#include <crypt.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <memory>

#include "proxy/base/secret.h"

namespace sluice::pki {
namespace {

constexpr std::size_t kPrefixBytes = 7;  // "$2y$10$"
constexpr std::size_t kHashBytes = 60;
constexpr std::string_view kBcryptAlphabet = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

bool isDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

const char* bcryptFault(std::string_view hash) {
  const bool isKnown = hash.starts_with("$2a$") || hash.starts_with("$2b$") || hash.starts_with("$2y$");
  if (!isKnown) return "its hash is none of bcrypt ($2y$, $2b$ or $2a$)";
  const bool isWhole = hash.size() == kHashBytes && isDigit(hash[4]) && isDigit(hash[5]) && hash[6] == '$' &&
                       hash.find_first_not_of(kBcryptAlphabet, kPrefixBytes) == std::string_view::npos;
  if (!isWhole) return "its bcrypt hash is malformed";
  const auto cost = static_cast<unsigned>((hash[4] - '0') * 10 + (hash[5] - '0'));
  if (cost < 4) return "the cost of its bcrypt hash is lower than 4";
  if (cost > kMostBcryptCost) return "the cost of its bcrypt hash is higher than 12";
  return nullptr;
}

bool isBcryptOf(std::string_view hash, std::string_view password) {
  if (password.find('\0') != std::string_view::npos) return false;  // no more than the part before it would count
  const base::Secret phrase(std::string(password.substr(0, kBcryptBytes)));
  const base::Secret setting{std::string(hash)};
  const auto data = std::make_unique<crypt_data>();
  const char* const made =
      crypt_rn(phrase.reveal().data(), setting.reveal().data(), data.get(), static_cast<int>(sizeof(crypt_data)));
  const bool same = made != nullptr && std::string_view(made).size() == hash.size() &&
                    CRYPTO_memcmp(made, hash.data(), hash.size()) == 0;
  OPENSSL_cleanse(data.get(), sizeof(crypt_data));
  return same;
}

}  // namespace sluice::pki
