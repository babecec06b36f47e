// Compiles RequestHeaderModifier and ResponseHeaderModifier into the form that exchanges apply.
#pragma once

#include <cstdint>
#include <optional>

#include "config/model/model.h"
#include "proxy/base/box.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/routing/policy/header_edit.h"

namespace sluice::compile {

enum class HeaderSection : std::uint8_t { kRequest, kResponse };

/// Returns a fault (Invalid) for fields that frame a message or belong to one connection, because only the gateway may
/// set them. Host is refused too, except for a `set` in requests, which becomes HeaderEdit::authority. If a name occurs
/// more than once, the first entry is used.
Resolved<base::Box<routing::HeaderEdit>> compileHeaders(const base::Box<config::HeaderModifierFilter>& modifier,
                                                        HeaderSection section);

}  // namespace sluice::compile
