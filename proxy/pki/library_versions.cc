#include "proxy/pki/library_versions.h"

#include <crypt.h>
#include <openssl/crypto.h>

namespace sluice::pki {

base::LibraryVersions libraryVersions() {
  return {{"OpenSSL", OpenSSL_version(OPENSSL_VERSION_STRING)}, {"libxcrypt", XCRYPT_VERSION_STR}};
}

}  // namespace sluice::pki
