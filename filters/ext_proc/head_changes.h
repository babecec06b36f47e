// Makes the changes that a server asks for in the head of a request or a response.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "filters/ext_proc/answers.h"
#include "proxy/processing/call.h"

namespace sluice::filters::ext_proc {

/// Changes the head of the step's message. Returns false, and changes nothing, if the gateway does not accept the path
/// that the server sets.
bool change(processing::Call& call, const HeaderChanges& changes);
/// Changes trailers, without fields that only a head may have.
void change(http::Trailers& trailers, const HeaderChanges& changes);
/// Returns the fields that are set, for an answer to the client.
std::vector<std::pair<std::string, std::string>> fieldsOf(const HeaderChanges& changes);

}  // namespace sluice::filters::ext_proc
