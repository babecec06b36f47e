// The message that an expression reads.
//
// Plain references, for one evaluation.
#pragma once

#include "filters/expression/body_reads.h"
#include "proxy/http/message.h"

namespace sluice::filters {

struct ExpressionInput {
  const http::RequestHead& request;
  /// Null while the request is edited.
  const http::ResponseHead* response = nullptr;
  /// Null if no expression of the processor reads the body.
  BodyDocument* body = nullptr;
};

}  // namespace sluice::filters
