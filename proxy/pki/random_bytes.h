// Bytes that nobody can guess, from the random generator of OpenSSL, which the system seeds. Any thread.
#pragma once

#include <cstddef>
#include <span>

namespace sluice::pki {

/// Returns false if there are none.
bool fillRandom(std::span<std::byte> bytes);

}  // namespace sluice::pki
