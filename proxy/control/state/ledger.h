// The revisions that a process has served or refused, the newest first.
//
// A refused revision is tainted: it is not served while it is here, even if it is read again, until the user clears it.
// Belongs to the loading thread; copies are handed out.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"

namespace sluice::control {

struct LedgerRevision {
  std::string digest;        // of the objects as they are written
  std::string servedDigest;  // empty if it was refused
  base::WallTime time;       // when it was served, or refused, for the last time
  std::string reason;        // the reason of the taint; empty if it is not tainted

  bool tainted() const { return !reason.empty(); }
  friend bool operator==(const LedgerRevision&, const LedgerRevision&) = default;
};

class RevisionLedger {
 public:
  /// Keeps at most that many revisions that were served, at least one, and as many that were refused.
  void setMost(std::size_t most);

  void addServed(const std::string& digest, const std::string& servedDigest, base::WallTime time);
  /// `reason` is not empty.
  void addTainted(const std::string& digest, std::string reason, base::WallTime time);
  /// Forgets the tainted revision whose digest begins with `prefix`, which is not empty. Returns false unless there is
  /// exactly one.
  bool clear(std::string_view prefix);
  /// Returns the revision if it is tainted, else nullptr.
  const LedgerRevision* findTainted(std::string_view digest) const;

  const std::vector<LedgerRevision>& revisions() const { return revisions_; }

  /// The content as fields of a state file, and back. load() leaves the ledger as it is, and returns false, if the
  /// fields are not those of a ledger.
  std::vector<std::string> save() const;
  bool load(const std::vector<std::string_view>& fields);

 private:
  void add(LedgerRevision&& revision);
  void trim();

  std::size_t most_ = 10;
  std::vector<LedgerRevision> revisions_;
};

/// Returns [{"revision", "served", "time", "tainted", "reason"}]: the admin document /revisions.
std::string ledgerDocument(const RevisionLedger& ledger);

}  // namespace sluice::control
