#include "proxy/control/state/revision_key.h"

#include <random>
#include <string>
#include <utility>

namespace sluice::control {

base::Secret newRevisionKey() {
  constexpr std::size_t kBytes = 32;
  std::random_device random;
  std::string bytes;
  while (bytes.size() < kBytes) bytes += static_cast<char>(random() & 0xff);
  return base::Secret(std::move(bytes));
}

}  // namespace sluice::control
