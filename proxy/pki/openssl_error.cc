#include "proxy/pki/openssl_error.h"

#include <openssl/err.h>

namespace sluice::pki {

std::string takeOpensslError() {
  const unsigned long code = ERR_peek_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "unknown error" : reason;
}

}  // namespace sluice::pki
