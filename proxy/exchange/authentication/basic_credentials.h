// Reads the credentials of HTTP Basic authentication (RFC 7617).
//
// Pure functions; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/base/secret.h"

namespace sluice::exchange {

/// Returns true if the field of credentials is of the scheme Basic.
bool isOfBasic(std::string_view field);

struct BasicCredentials {
  base::Secret user;
  base::Secret password;
};

/// Returns nullopt if the field is malformed: its token is no base64 of a user, a colon and a password, or contains a
/// control character. A user has no colon, so the first one ends it.
std::optional<BasicCredentials> readBasic(std::string_view field);

}  // namespace sluice::exchange
