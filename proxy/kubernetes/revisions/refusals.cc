#include "proxy/kubernetes/revisions/refusals.h"

#include <algorithm>

#include "proxy/control/attempt_pauses.h"

namespace sluice::kubernetes {

void Refusals::note(const std::string& revision, const std::string& digest, std::uint32_t most) {
  if (revision != revision_) clear();
  revision_ = revision;
  digest_ = digest;
  count_ = std::min(count_ + 1, std::max(count_, most));
  isFinal_ = isFinal_ || count_ >= most;
  if (isFinal_) return cancel();
  main_.timers().set(*this, main_.now() + control::spread(control::pauseAfter(count_ - 1), random_));
}

void Refusals::clear() {
  cancel();
  revision_.clear();
  count_ = 0;
  isFinal_ = false;
}

}  // namespace sluice::kubernetes
