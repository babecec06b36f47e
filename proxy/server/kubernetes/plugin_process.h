// Runs a credential plugin of a kubeconfig, for a command that a person runs: without a shell, and bounded.
//
// It blocks. The plugin has no terminal to read from. What it writes to standard error is shown to the person, and what
// it writes to standard output is a secret.
#pragma once

#include <chrono>
#include <cstddef>

#include "proxy/base/clock.h"
#include "proxy/base/result.h"
#include "proxy/base/secret.h"
#include "proxy/kubernetes/access/credential_plugin.h"

namespace sluice::server {

struct PluginBounds {
  base::Duration patience = std::chrono::seconds(30);  // from its start to its end
  std::size_t bytes = kubernetes::kMaxPluginBytes;
};

/// Returns the output of a plugin that ends with 0. Beyond a bound it is killed. Errors have config's origin, name the
/// program and the reason, and contain nothing of the output.
base::Result<base::Secret> runPlugin(const kubernetes::CredentialPlugin& plugin, const PluginBounds& bounds = {});

}  // namespace sluice::server
