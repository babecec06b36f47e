// sluice.dev/InProcess:v1: sets and removes header fields, and fields of JSON bodies, by expressions of CEL. It
// implements GEP-5091's type InProcess.
//
// config: {request, response}, each {setHeaders: [{name, value}], removeHeaders: [name or {name}], setBodyFields:
// [{name, value}], removeBodyFields: [name or {name}]}. Names of body fields are JSONPaths that lead to one value, with
// or without "$."; values are expressions (filters/expression). A side whose edits neither read nor change the body
// runs with the head; another one waits for the whole body, up to limits.processorBuffer.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType inProcess();

}  // namespace sluice::filters
