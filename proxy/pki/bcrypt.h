// Passwords that are stored as bcrypt hashes ("$2y$10$..."), checked by libxcrypt.
//
// A check takes milliseconds to a quarter of a second, by the cost in the hash. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace sluice::pki {

/// The dearest hash that is served. Each step more doubles the time of a check.
inline constexpr unsigned kMostBcryptCost = 12;
/// No more bytes of a password than these count.
inline constexpr std::size_t kBcryptBytes = 72;

/// Returns nullptr if the text is a hash that isBcryptOf() can check: $2a$, $2b$ or $2y$, and a cost from 4 to
/// kMostBcryptCost. Else returns what is wrong with it, without any of its text.
const char* bcryptFault(std::string_view hash);

/// Returns true if the hash is that of the password, whose bytes beyond kBcryptBytes are ignored.
bool isBcryptOf(std::string_view hash, std::string_view password);

}  // namespace sluice::pki
