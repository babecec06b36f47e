// The trace that a request belongs to by its traceparent (W3C Trace Context, section 3.2).
#pragma once

#include <string_view>

#include "proxy/http/headers.h"

namespace sluice::http {

struct TraceContext {
  std::string_view traceId;  // 32 hexadecimal digits in lower case; empty: none
  std::string_view spanId;   // 16 of them: the caller's span
};

/// Returns an empty context if there is no traceparent, more than one, or a malformed one. Views are into `headers`.
TraceContext traceContextOf(const Headers& headers);

}  // namespace sluice::http
