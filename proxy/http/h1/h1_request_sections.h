// H1RequestSections reads the sections of a client's requests, and charges their memory to the account of the
// connection: the bytes that are kept of an unfinished section, and the memory that a complete section leaves to its
// message. Owned by the server's codec; one thread.
#pragma once

#include <optional>

#include "proxy/http/h1/h1_parser.h"
#include "proxy/http/head_account.h"

namespace sluice::http {

class H1RequestSections : public H1SectionReader {
 public:
  /// `account` is null if sections are free.
  H1RequestSections(base::ChunkPool& pool, const MessageBounds& limits, HeadAccount* account)
      : H1SectionReader(pool, limits, H1Messages::kRequests), charge(account) {}

  /// Charges the bytes that are kept. Returns the bound that they would exceed, if any; the caller must then drop them.
  std::optional<Limit> chargeKept() { return charge.reach(keptBytes()); }
  /// Forgets everything, and waits for a head.
  void drop() {
    begin(H1Section::kRequest);
    charge.release();
  }

  HeadCharge charge;  // of the section that is kept, or was collected last
};

}  // namespace sluice::http
