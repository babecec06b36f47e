// Makes the changes that a server asks for in the head of a request or a response.
#pragma once

#include "filters/ext_proc/answers.h"
#include "proxy/processing/call.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters::ext_proc {

/// Changes the head of the step's message. Returns false, and changes nothing, if the gateway does not accept the path
/// that the server sets.
bool change(processing::Call& call, const HeaderChanges& changes);
/// Changes trailers, without fields that only a head may have.
void change(http::Trailers& trailers, const HeaderChanges& changes);
/// Returns the reply that the server gives in the place of the Backend.
processing::Reply replyFrom(const ImmediateAnswer& answer);

}  // namespace sluice::filters::ext_proc
