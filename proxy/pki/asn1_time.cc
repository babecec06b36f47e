#include "proxy/pki/asn1_time.h"

#include <openssl/asn1.h>
#include <openssl/err.h>

#include <ctime>

namespace sluice::pki {

base::WallTime toWallTime(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    ERR_clear_error();
    return base::WallTime{};
  }
  // Nanoseconds in 64 bits end in 2262; "no expiry" is written as 9999 (RFC 5280 4.1.2.5).
  const auto since = std::chrono::seconds(timegm(&parts));
  constexpr auto kLast = std::chrono::duration_cast<std::chrono::seconds>(base::WallTime::duration::max());
  return since >= kLast ? base::WallTime::max() : base::WallTime(since);
}

}  // namespace sluice::pki
