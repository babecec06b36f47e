// RequestHeaderModifier and ResponseHeaderModifier, checked and brought into the form that exchanges apply.
#pragma once

#include <cstdint>
#include <optional>

#include "config/model/model.h"
#include "proxy/base/box.h"
#include "proxy/control/compile/fault.h"
#include "proxy/routing/policy/header_edit.h"

namespace sluice::control {

enum class HeaderSection : std::uint8_t { kRequest, kResponse };

/// Fields that frame a message or belong to one connection are the gateway's own: naming one is a fault (Invalid), and
/// so is Host, but for a `set` in requests, which becomes HeaderEdit::authority. Of several entries with one name the
/// first counts.
Resolved<base::Box<routing::HeaderEdit>> compileHeaders(const base::Box<config::HeaderModifier>& modifier,
                                                        HeaderSection section);

}  // namespace sluice::control
