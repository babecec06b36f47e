// The answers of an external processor (envoy.service.ext_proc.v3): it lets each part of a request and response go on,
// and may add a field to heads and change bodies.
#pragma once

#include <string>

#include "test/support/external/grpc_dialogue.h"

namespace sluice::external {

inline constexpr const char* kExtProcPath = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";

struct ServerEdits {
  std::string name = {};    // of the field that is set in each head; empty for none
  std::string value = {};   // of that field
  bool raisesCase = false;  // whether each body is replaced by the same in upper case
};

/// Makes the answers of one call.
CallAnswers makeExtProcAnswers(const ServerEdits& edits);

}  // namespace sluice::external
