// The workload under which metrics count a request: the namespace and the service account of its caller.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/base/terms/caller.h"

namespace sluice::exchange {

/// The names of a workload; both are empty if it is not known.
struct Workload {
  std::string_view nameSpace;
  std::string_view serviceAccount;

  bool isKnown() const { return !nameSpace.empty() || !serviceAccount.empty(); }
  friend bool operator==(const Workload&, const Workload&) = default;
};

/// `caller` may be null, and outlives the result.
inline Workload workloadOf(const base::Caller* caller) {
  return caller != nullptr ? Workload{caller->nameSpace, caller->serviceAccount} : Workload{};
}

struct WorkloadHash {
  std::size_t operator()(const Workload& workload) const {
    const std::hash<std::string_view> hash;
    return workload.isKnown() ? hash(workload.nameSpace) * 31 + hash(workload.serviceAccount) : 0;
  }
};

/// Owns the names of a workload, because callers go with their connections. The names stay in their place when this is
/// moved.
class KeptWorkload {
 public:
  explicit KeptWorkload(const Workload& from) {
    if (!from.isKnown()) return;
    text_ = std::make_unique<const std::string>(std::string(from.nameSpace).append(from.serviceAccount));
    const std::string_view both = *text_;
    workload_ = {both.substr(0, from.nameSpace.size()), both.substr(from.nameSpace.size())};
  }

  const Workload& get() const { return workload_; }

 private:
  std::unique_ptr<const std::string> text_;  // null if the workload is not known
  Workload workload_;
};

}  // namespace sluice::exchange
