// The reports of replicas that an observer has seen and trusts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/kubernetes/lease/fleet_verdict.h"
#include "proxy/kubernetes/lease/reporters.h"

namespace sluice::kubernetes {

/// Keeps only trusted reports. Each namespace has a bound, and if all together have too many, the namespace with most
/// reports loses some, so that no namespace displaces the reports of others. Belongs to one thread.
class ReplicaReports {
 public:
  /// Reports beyond these bounds are dropped and counted.
  static constexpr std::size_t kMost = 6000;         // of one namespace
  static constexpr std::size_t kMostInAll = 20'000;  // of all namespaces together
  static constexpr std::size_t kMostBytesInAll = std::size_t{64} << 20;

  /// Sets whose reports are trusted; before the first call, none is. A report that is trusted from now on is taken with
  /// the next change of its Lease.
  void trust(Reporters reporters);
  /// Returns true if reports of that namespace may be trusted.
  bool mayTrust(std::string_view nameSpace) const { return reporters_.mayTrust(nameSpace); }

  /// Takes a Lease, listed or watched. After an error of readReplicaReport(), the last good report stays until it is
  /// too old. Leases of namespaces that are not trusted are not read.
  base::Status see(const content::Value& lease, base::MonotonicTime now);
  /// Removes the report of a Lease that was deleted. Returns true if the report was trusted, and its replica not
  /// forgotten.
  bool remove(std::string_view nameSpace, std::string_view lease);
  /// Forgets all replicas that are gone, and returns their names. Each comes back with the next change of its Lease.
  std::vector<std::string> forget(base::MonotonicTime now);

  FleetVerdict verdict(const FleetQuestion& question, base::MonotonicTime now) const;
  /// Returns the report of a Lease; null if there is none, if it is not trusted, or if its replica is forgotten.
  const ReplicaReport* find(std::string_view nameSpace, std::string_view lease) const;
  /// Returns true if a Lease was seen, and its report is trusted.
  bool counts(std::string_view nameSpace, std::string_view lease) const;
  /// Returns namespace and name of each Lease whose report is trusted and was not removed.
  std::vector<std::pair<std::string, std::string>> leases() const;
  /// Returns when the next replica is gone if nothing changes; the end of time if there is none.
  base::MonotonicTime nextEnd() const;
  /// Returns the reports that are trusted for that Gateway ("namespace/name"); if it is empty, for any.
  std::vector<const SeenReport*> of(const std::string& gateway) const;
  /// Returns how many trusted reports were dropped because there was no room: new ones, and those that gave way to
  /// others.
  std::size_t dropped() const { return dropped_; }
  /// Returns a number that grows whenever a verdict may have changed.
  std::uint64_t version() const { return version_; }

 private:
  using Seen = std::map<std::string, SeenReport, std::less<>>;  // by the name of the Lease
  struct SeenOfNamespace {
    Seen reports;
    std::size_t bytes = 0;
  };
  using SeenByNamespace = std::map<std::string, SeenOfNamespace, std::less<>>;

  const SeenReport* at(std::string_view nameSpace, std::string_view lease) const;
  /// Keeps a trusted report, if there is room.
  void put(const std::string& lease, SeenReport&& seen);
  bool makeRoom(const SeenOfNamespace& own, std::size_t bytes);
  void evict(SeenOfNamespace& from);
  void take(SeenOfNamespace& from, Seen::iterator report);

  Reporters reporters_;
  SeenByNamespace counted_;
  std::size_t countedInAll_ = 0;
  std::size_t bytesInAll_ = 0;
  std::size_t dropped_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace sluice::kubernetes
