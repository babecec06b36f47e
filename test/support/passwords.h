// Users with the cheapest hashes that there are, for tests of authentication.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/base64.h"
#include "proxy/pki/password_file.h"

namespace sluice::test {

/// The line of the user "ann" with the password "secret", and that of "bob" with "other". Both were made by crypt(3).
inline constexpr const char* kAnn = "ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
inline constexpr const char* kBob = "bob:$2b$05$abcdefghijklmnopqrstuuVQd15VhR/oN1H3pzUR5lME0fZO6.qRW";

/// Returns a file of both.
inline std::shared_ptr<const pki::PasswordFile> annAndBob() {
  return pki::PasswordFile::parse(std::string(kAnn) + "\n" + kBob + "\n").value();
}

/// Returns the value of a field of credentials.
inline std::string basic(std::string_view user, std::string_view password) {
  return "Basic " + base::encodeBase64(std::string(user) + ":" + std::string(password));
}

}  // namespace sluice::test
