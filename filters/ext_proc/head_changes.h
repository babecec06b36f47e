// Makes the changes that a server asks for in the head of a request or a response.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "filters/ext_proc/answers.h"
#include "proxy/processing/call.h"

namespace sluice::filters::ext_proc {

/// Changes the head of the message that the step is about. Returns false if the path that the server sets is none that
/// the gateway passes on; nothing is changed then.
bool change(processing::Call& call, const HeaderChanges& changes);
/// Changes trailers, which keep out of what belongs into a head.
void change(http::Trailers& trailers, const HeaderChanges& changes);
/// Returns the fields for an answer to the client: those that are set.
std::vector<std::pair<std::string, std::string>> fieldsOf(const HeaderChanges& changes);

}  // namespace sluice::filters::ext_proc
