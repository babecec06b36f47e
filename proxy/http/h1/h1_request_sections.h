// H1RequestSections reads the sections of a client's requests, and charges what they hold to the account of its
// connection: what is kept of an unfinished one, and what a whole one leaves to its message. Owned by the server's
// codec; one thread.
#pragma once

#include <optional>

#include "proxy/http/h1/h1_parser.h"
#include "proxy/http/head_account.h"

namespace sluice::http {

class H1RequestSections : public H1SectionReader {
 public:
  /// `account` is null if sections are free.
  H1RequestSections(base::ChunkPool& pool, const MessageBounds& limits, HeadAccount* account)
      : H1SectionReader(pool, limits), charge(account) {}

  /// Charges what is kept. Returns the bound that leaves no room for it; then it is to be dropped.
  std::optional<Limit> chargeKept() { return charge.reach(keptBytes()); }
  /// Forgets everything, and waits for a head.
  void drop() {
    begin(H1Section::kRequest);
    charge.release();
  }

  HeadCharge charge;  // of the section that is kept, or was collected last
};

}  // namespace sluice::http
