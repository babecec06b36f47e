#include "proxy/pki/password_file.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/pki/bcrypt.h"

namespace sluice::pki {
namespace {

constexpr std::size_t kDigestKeyBytes = 32;

std::optional<base::Secret> randomKey() {
  std::string bytes(kDigestKeyBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) != 1) return {};
  return base::Secret(std::move(bytes));
}

bool isControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

base::Error refusedLine(std::size_t number, std::string_view why) {
  return base::Error::config("line " + std::to_string(number) + ": " + std::string(why));
}

/// Returns what is wrong with the name of a user; nullptr if nothing is.
const char* nameFault(std::string_view user) {
  if (user.empty()) return "it has no user before the colon";
  if (user.size() > PasswordFile::kLongestUser) return "its user is longer than 255 bytes";
  if (std::any_of(user.begin(), user.end(), isControl)) return "its user has a control character";
  return nullptr;
}

/// The text that makes claims differ. No user has a NUL, and no hash either.
base::Secret claimText(std::string_view user, bool exists, std::string_view hash, std::string_view password) {
  std::string text;
  text.reserve(user.size() + hash.size() + password.size() + 3);
  text.append(user).append(1, '\0').append(1, exists ? '1' : '0').append(hash).append(1, '\0').append(password);
  return base::Secret(std::move(text));
}

}  // namespace

bool PasswordFile::ProvenMark::is(const Sha256Digest& digest) const {
  return stage_.load(std::memory_order_acquire) == Stage::kSet &&
         CRYPTO_memcmp(digest_.data(), digest.data(), digest.size()) == 0;
}

void PasswordFile::ProvenMark::set(const Sha256Digest& digest) {
  Stage expected = Stage::kEmpty;
  if (!stage_.compare_exchange_strong(expected, Stage::kWriting, std::memory_order_acquire)) return;
  digest_ = digest;
  stage_.store(Stage::kSet, std::memory_order_release);
}

base::Result<std::shared_ptr<const PasswordFile>> PasswordFile::parse(std::string_view text) {
  auto file = std::make_shared<PasswordFile>(ParsedOnly());
  auto key = randomKey();
  if (!key) return base::Error::internal("the system has no random bytes");
  file->key_ = *std::move(key);
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return refusedLine(number, "it is not of the form user:hash");
    const std::string_view user = line.substr(0, colon);
    if (const char* why = nameFault(user)) return refusedLine(number, why);
    if (const char* why = bcryptFault(line.substr(colon + 1))) return refusedLine(number, why);
    if (file->users_.size() == kMostUsers) return refusedLine(number, "there are more than 1000 users");
    const PasswordUser& added = file->users_.emplace_back(user, line.substr(colon + 1));
    if (!file->byName_.emplace(added.name, &added).second) {
      return refusedLine(number, "it repeats the user of a line before it");
    }
  }
  if (file->users_.empty()) return base::Error::config("it has no users");
  return std::shared_ptr<const PasswordFile>(std::move(file));
}

/// Returns a user whose hash is checked in the place of that of a user who does not exist: always the same one, and one
/// of the file, so that the cost of the check does not tell which users exist.
const PasswordFile::PasswordUser& PasswordFile::standInFor(std::string_view user) const {
  const Sha256Digest digest = hmacSha256(key_, user);
  const std::size_t number = std::size_t{digest[0]} << 16 | std::size_t{digest[1]} << 8 | digest[2];
  return users_[number % users_.size()];
}

PasswordClaim::PasswordClaim(std::shared_ptr<const PasswordFile> file, std::string_view user, std::string_view password)
    : file_(std::move(file)), password_(std::string(password.substr(0, kBcryptBytes))) {
  const auto found = file_->byName_.find(user);
  exists_ = found != file_->byName_.end();
  user_ = exists_ ? found->second : &file_->standInFor(user);
  digest_ = hmacSha256(file_->key_, claimText(user, exists_, user_->hash.reveal(), password_.reveal()).reveal());
}

bool PasswordClaim::isProven() const { return exists_ && user_->proven.is(digest_); }

bool PasswordClaim::check() const {
  const bool matches = isBcryptOf(user_->hash.reveal(), password_.reveal());
  if (!matches || !exists_) return false;
  user_->proven.set(digest_);
  return true;
}

}  // namespace sluice::pki
