// The parts of a request that a listener leaves out when it looks for a route, as users write them. A value.
#pragma once

namespace sluice::base {

struct RequestMatching {
  /// The port is taken out of Host or :authority before anything else looks at the request.
  bool stripAuthorityPort = false;
  /// Paths are compared without the parameters of their segments, such as ";v=1". The Backend gets them all the same.
  bool ignorePathParameters = false;

  bool any() const { return stripAuthorityPort || ignorePathParameters; }
  friend bool operator==(const RequestMatching&, const RequestMatching&) = default;
};

}  // namespace sluice::base
