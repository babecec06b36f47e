#include "proxy/pki/random_bytes.h"

#include <openssl/rand.h>

namespace sluice::pki {

bool fillRandom(std::span<std::byte> bytes) {
  return RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size())) == 1;
}

}  // namespace sluice::pki
