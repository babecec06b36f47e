// sluice.dev/HeaderModifier:v1: sets, adds and removes header fields of requests and responses.
//
// config: {set: [{name, value}], add: [{name, value}], remove: [name]}, names in any case.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType headerModifier();

}  // namespace sluice::filters
