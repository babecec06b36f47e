// Options of rigs whose Backend uses one version of HTTP.
#pragma once

#include "test/support/exchange_rig.h"

namespace sluice::exchange {

inline test::RigOptions speaking(http::Version backend) {
  test::RigOptions options;
  options.protocol =
      backend == http::Version::kHttp2 ? routing::UpstreamProtocol::kHttp2 : routing::UpstreamProtocol::kHttp11;
  return options;
}

}  // namespace sluice::exchange
