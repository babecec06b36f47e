// The users of an htpasswd file, with the bcrypt hashes of their passwords.
//
// The file itself never changes. Each user has a mark of the password that was found to be right, which any thread may
// set once: that password needs no further check, as long as this file is served. The mark is a digest under a random
// key of the file, so it tells nothing of the password.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "proxy/base/result.h"
#include "proxy/base/secret.h"
#include "proxy/pki/digest.h"

namespace sluice::pki {

class PasswordFile {
 public:
  struct ParsedOnly {
    explicit ParsedOnly() = default;
  };
  explicit PasswordFile(ParsedOnly) {}
  PasswordFile(const PasswordFile&) = delete;
  PasswordFile& operator=(const PasswordFile&) = delete;

  static constexpr std::size_t kMostUsers = 1000;
  static constexpr std::size_t kLongestUser = 255;

  /// Reads lines of the form "user:hash". Empty lines and those that begin with "#" are skipped. Any other line is
  /// refused by its number, and so is one that repeats a user. Errors contain no text of the file.
  static base::Result<std::shared_ptr<const PasswordFile>> parse(std::string_view text);

  std::size_t size() const { return users_.size(); }

 private:
  friend class PasswordClaim;

  /// A right password, set once by any thread.
  class ProvenMark {
   public:
    bool is(const Sha256Digest& digest) const;
    void set(const Sha256Digest& digest);

   private:
    enum class Stage : std::uint8_t { kEmpty, kWriting, kSet };
    std::atomic<Stage> stage_ = Stage::kEmpty;
    Sha256Digest digest_ = {};  // written before the stage is kSet, and constant from then on
  };
  struct PasswordUser {
    PasswordUser(std::string_view ofUser, std::string_view stored) : name(ofUser), hash(std::string(stored)) {}

    const std::string name;
    const base::Secret hash;
    mutable ProvenMark proven;
  };

  const PasswordUser& standInFor(std::string_view user) const;

  std::deque<PasswordUser> users_;  // by line
  std::unordered_map<std::string_view, const PasswordUser*> byName_;
  base::Secret key_;
};

/// A user and a password that a client claims to be right. A plain value; any thread.
class PasswordClaim {
 public:
  PasswordClaim(std::shared_ptr<const PasswordFile> file, std::string_view user, std::string_view password);

  /// Identifies the user, the password and the hash, and tells none of them.
  const Sha256Digest& digest() const { return digest_; }
  /// Returns true if the claim was found to be right before.
  bool isProven() const;
  /// Checks the password, which takes as long for a user who does not exist. Notes that it is right if it is.
  bool check() const;

 private:
  std::shared_ptr<const PasswordFile> file_;
  const PasswordFile::PasswordUser* user_;
  bool exists_;
  base::Secret password_;
  Sha256Digest digest_;
};

}  // namespace sluice::pki
