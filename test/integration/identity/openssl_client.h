// A request by openssl s_client, which keeps TLS sessions and offers them again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "test/integration/support/child_process.h"

namespace sluice::test {

/// Returns what openssl s_client prints about the connection, with the answer to a request; `options` are its own.
inline std::string askByOpenssl(std::uint16_t port, const std::vector<std::string>& options) {
  std::vector<std::string> argv = {"sh",
                                   "-c",
                                   "printf 'GET / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' | "
                                   "openssl s_client -ign_eof \"$@\"",
                                   "sh",
                                   "-connect",
                                   "127.0.0.1:" + std::to_string(port)};
  argv.insert(argv.end(), options.begin(), options.end());
  return run(argv).output;
}

}  // namespace sluice::test
