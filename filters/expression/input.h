// The message that an expression reads, and its client.
//
// Plain references, for one evaluation.
#pragma once

#include "filters/expression/body_reads.h"
#include "proxy/http/message.h"
#include "proxy/processing/call.h"

namespace sluice::filters {

struct ExpressionInput {
  const http::RequestHead& request;
  const processing::Peer& peer;
  /// Null while the request is edited.
  const http::ResponseHead* response = nullptr;
  /// Null if no expression of the processor reads the body.
  BodyDocument* body = nullptr;
};

}  // namespace sluice::filters
